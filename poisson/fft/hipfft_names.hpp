#pragma once
// cuFFT's names for the functions of hipFFT that Sluice calls.
#include <hipfft/hipfft.h>

#define SLUICE_CUFFT_NAME "hipFFT"
#define CUFFT_ALLOC_FAILED HIPFFT_ALLOC_FAILED
#define CUFFT_C2C HIPFFT_C2C
#define CUFFT_C2R HIPFFT_C2R
#define CUFFT_D2Z HIPFFT_D2Z
#define CUFFT_FORWARD HIPFFT_FORWARD
#define CUFFT_INVERSE HIPFFT_BACKWARD
#define CUFFT_R2C HIPFFT_R2C
#define CUFFT_SUCCESS HIPFFT_SUCCESS
#define CUFFT_Z2D HIPFFT_Z2D
#define CUFFT_Z2Z HIPFFT_Z2Z
#define cufftComplex hipfftComplex
#define cufftCreate hipfftCreate
#define cufftDestroy hipfftDestroy
#define cufftDoubleComplex hipfftDoubleComplex
#define cufftExecC2C hipfftExecC2C
#define cufftExecC2R hipfftExecC2R
#define cufftExecD2Z hipfftExecD2Z
#define cufftExecR2C hipfftExecR2C
#define cufftExecZ2D hipfftExecZ2D
#define cufftExecZ2Z hipfftExecZ2Z
#define cufftGetVersion hipfftGetVersion
#define cufftHandle hipfftHandle
#define cufftMakePlan3d hipfftMakePlan3d
#define cufftMakePlanMany64 hipfftMakePlanMany64
#define cufftResult hipfftResult
#define cufftSetAutoAllocation hipfftSetAutoAllocation
#define cufftSetWorkArea hipfftSetWorkArea
#define cufftType hipfftType
