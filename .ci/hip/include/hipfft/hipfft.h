#pragma once
// Declares what Sluice uses of hipFFT, as its documentation has it, so that a build for AMD GPUs compiles where ROCm's
// libraries are not packaged. On an NVIDIA GPU cuFFT does the work.
#include <hip/hip_runtime.h>

#include <cstddef>
#ifdef __HIP_PLATFORM_NVIDIA__
#include <cufft.h>
#endif

using hipfftComplex = float2;
using hipfftDoubleComplex = double2;
enum hipfftResult : int { HIPFFT_SUCCESS = 0, HIPFFT_ALLOC_FAILED = 2 };
enum hipfftType {
  HIPFFT_R2C = 0x2a,
  HIPFFT_C2R = 0x2c,
  HIPFFT_C2C = 0x29,
  HIPFFT_D2Z = 0x6a,
  HIPFFT_Z2D = 0x6c,
  HIPFFT_Z2Z = 0x69
};
#undef CUFFT_FORWARD
#undef CUFFT_INVERSE
#define HIPFFT_FORWARD (-1)
#define HIPFFT_BACKWARD 1

#ifdef __HIP_PLATFORM_NVIDIA__
using hipfftHandle = cufftHandle;

inline hipfftResult hipfftCreate(hipfftHandle* plan) {
  return static_cast<hipfftResult>(cufftCreate(plan));
}
inline hipfftResult hipfftDestroy(hipfftHandle plan) {
  return static_cast<hipfftResult>(cufftDestroy(plan));
}
inline hipfftResult hipfftSetAutoAllocation(hipfftHandle plan, int automatic) {
  return static_cast<hipfftResult>(cufftSetAutoAllocation(plan, automatic));
}
inline hipfftResult hipfftSetWorkArea(hipfftHandle plan, void* area) {
  return static_cast<hipfftResult>(cufftSetWorkArea(plan, area));
}
inline hipfftResult hipfftGetVersion(int* version) {
  return static_cast<hipfftResult>(cufftGetVersion(version));
}
inline hipfftResult hipfftMakePlan3d(hipfftHandle plan, int nx, int ny, int nz, hipfftType type, size_t* work) {
  return static_cast<hipfftResult>(cufftMakePlan3d(plan, nx, ny, nz, static_cast<cufftType>(type), work));
}
inline hipfftResult hipfftMakePlanMany64(hipfftHandle plan, int rank, long long* n, long long* inembed,
                                         long long istride, long long idist, long long* onembed, long long ostride,
                                         long long odist, hipfftType type, long long batch, size_t* work) {
  return static_cast<hipfftResult>(cufftMakePlanMany64(plan, rank, n, inembed, istride, idist, onembed, ostride, odist,
                                                       static_cast<cufftType>(type), batch, work));
}
inline hipfftResult hipfftExecR2C(hipfftHandle plan, float* in, hipfftComplex* out) {
  return static_cast<hipfftResult>(cufftExecR2C(plan, in, out));
}
inline hipfftResult hipfftExecC2R(hipfftHandle plan, hipfftComplex* in, float* out) {
  return static_cast<hipfftResult>(cufftExecC2R(plan, in, out));
}
inline hipfftResult hipfftExecC2C(hipfftHandle plan, hipfftComplex* in, hipfftComplex* out, int direction) {
  return static_cast<hipfftResult>(cufftExecC2C(plan, in, out, direction));
}
inline hipfftResult hipfftExecD2Z(hipfftHandle plan, double* in, hipfftDoubleComplex* out) {
  return static_cast<hipfftResult>(cufftExecD2Z(plan, in, out));
}
inline hipfftResult hipfftExecZ2D(hipfftHandle plan, hipfftDoubleComplex* in, double* out) {
  return static_cast<hipfftResult>(cufftExecZ2D(plan, in, out));
}
inline hipfftResult hipfftExecZ2Z(hipfftHandle plan, hipfftDoubleComplex* in, hipfftDoubleComplex* out, int direction) {
  return static_cast<hipfftResult>(cufftExecZ2Z(plan, in, out, direction));
}
#else
struct hipfftHandle_t;
using hipfftHandle = hipfftHandle_t*;

extern "C" {
hipfftResult hipfftCreate(hipfftHandle* plan);
hipfftResult hipfftDestroy(hipfftHandle plan);
hipfftResult hipfftSetAutoAllocation(hipfftHandle plan, int automatic);
hipfftResult hipfftSetWorkArea(hipfftHandle plan, void* area);
hipfftResult hipfftGetVersion(int* version);
hipfftResult hipfftMakePlan3d(hipfftHandle plan, int nx, int ny, int nz, hipfftType type, size_t* work);
hipfftResult hipfftMakePlanMany64(hipfftHandle plan, int rank, long long* n, long long* inembed, long long istride,
                                  long long idist, long long* onembed, long long ostride, long long odist,
                                  hipfftType type, long long batch, size_t* work);
hipfftResult hipfftExecR2C(hipfftHandle plan, float* in, hipfftComplex* out);
hipfftResult hipfftExecC2R(hipfftHandle plan, hipfftComplex* in, float* out);
hipfftResult hipfftExecC2C(hipfftHandle plan, hipfftComplex* in, hipfftComplex* out, int direction);
hipfftResult hipfftExecD2Z(hipfftHandle plan, double* in, hipfftDoubleComplex* out);
hipfftResult hipfftExecZ2D(hipfftHandle plan, hipfftDoubleComplex* in, double* out);
hipfftResult hipfftExecZ2Z(hipfftHandle plan, hipfftDoubleComplex* in, hipfftDoubleComplex* out, int direction);
}
#endif
