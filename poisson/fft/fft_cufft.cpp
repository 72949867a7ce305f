// Fourier transforms on a GPU, in place: by our own kernels where they support the length; other lengths along y by
// VkFFT, if the build has it; all else by cuFFT, the plain implementation. cuFFT may choose its kernels by batch size,
// so the last bits of a transform can depend on the number of rows on a rank, hence on the process grid.
#include <algorithm>
#include <string>

#include "core/support/error.hpp"
#include "poisson/fft/batched_fft.hpp"
#include "poisson/fft/cufft_plan.hpp"
#include "poisson/fft/fft.hpp"
#include "poisson/fft/fft_columns.hpp"
#include "poisson/fft/fft_rows.hpp"
#include "poisson/fft/fft_vkfft.hpp"

namespace sluice {

namespace {

using Complex = std::complex<real>;

/// Whether cuFFT has a kernel that reaches memory bandwidth: for powers of two in rows without gaps. There it moves 2.1
/// words of 8 bytes per point (minimum 2), but 4.9 at nx = 384, 5.0 at 576 and 640, 5.4 at 768, 7.1 at 1536 (H200,
/// double).
bool cufft_is_fast(std::int64_t nx, std::int64_t row_length) {
  return nx >= 256 && (nx & (nx - 1)) == 0 && row_length == nx + 2;
}

/// One plane at a time: strided transforms of all planes would need as much work memory as data.
class CufftColumns : public ColumnFourier {
 public:
  CufftColumns(int nx, int ny, int nz, std::int64_t stride_y, std::int64_t stride_z, const FftWork& work)
      : plan_(FftKind::forward, plane(nx, ny, stride_y), work), nz_(nz), stride_z_(stride_z) {}

  static FftBatch plane(int nx, int ny, std::int64_t stride_y) { return {ny, stride_y, stride_y, {FftLoop{nx, 1, 1}}}; }

  void run(const Complex* from, Complex* to, bool forward) override {
    SLUICE_REQUIRE(from == to, "cuFFT transforms columns in place");
    const FftKind kind = forward ? FftKind::forward : FftKind::backward;
    for (int k = 0; k < nz_; ++k) plan_.run(kind, to + k * stride_z_, to + k * stride_z_);
  }

 private:
  CufftPlan plan_;
  int nz_;
  std::int64_t stride_z_;
};

/// All rows of a field, y halos included.
struct Rows {
  std::int64_t nx, length, count;

  Rows(const Box3& box, std::int64_t row_length, std::int64_t halo_y)
      : nx(box.extent(0)), length(row_length), count((box.extent(1) + 2 * halo_y) * box.nz() - 2 * halo_y) {}

  /// Whether our own kernel is the fastest.
  bool have_kernel() const { return !cufft_is_fast(nx, length) && RowFourier::has_kernel(nx); }
  FftBatch forward() const { return {nx, 1, 1, {FftLoop{count, length, length / 2}}}; }
  FftBatch backward() const { return {nx, 1, 1, {FftLoop{count, length / 2, length}}}; }
};

}  // namespace

/// Transforms all rows at once.
struct FourierX::Plans {
  Plans(const Box3& owned, std::int64_t length, FourierMethod method, const FftWork& work, std::int64_t halo_y)
      : box(owned), row_length(length) {
    const Rows all(box, row_length, halo_y);
    if (method == FourierMethod::fastest && all.have_kernel()) {
      rows = RowFourier::make(box.nx(), all.count, row_length);
    } else {
      forward = FftPlan::make(FftKind::real_to_complex, all.forward(), work);
      backward = FftPlan::make(FftKind::complex_to_real, all.backward(), work);
    }
  }

  real* first_row(Field& field, const PlaneRange& planes) const {
    SLUICE_REQUIRE(field.box() == box && field.row_length() == row_length,
                   "the field is not the one this transform was made for");
    SLUICE_REQUIRE(planes == all_planes(field), "a GPU transforms all planes at once");
    return field.view().origin;
  }

  Box3 box;
  std::int64_t row_length;
  std::unique_ptr<RowFourier> rows;
  std::unique_ptr<FftPlan> forward, backward;  ///< without our own kernels
};

FourierX::FourierX(const Box3& box, std::int64_t row_length, FourierMethod method, const FftWork& work, int halo_y) {
  SLUICE_REQUIRE(row_length >= 2 * (box.extent(0) / 2 + 1) && row_length % 2 == 0,
                 "rows are too short for a transform in place, or of odd length");
  plans_ = std::make_unique<Plans>(box, row_length, method, work, halo_y);
}

FourierX::~FourierX() = default;

bool FourierX::allows_gaps(std::int64_t nx) {
  return RowFourier::has_kernel(nx);
}

std::size_t FourierX::work_bytes(const Box3& box, std::int64_t row_length, int halo_y) {
  const Rows all(box, row_length, halo_y);
  if (all.have_kernel()) return 0;
  return std::max(cufft_work_bytes(FftKind::real_to_complex, all.forward()),
                  cufft_work_bytes(FftKind::complex_to_real, all.backward()));
}

void FourierX::forward(Field& field, const PlaneRange& planes) {
  real* const data = plans_->first_row(field, planes);
  if (plans_->rows) {
    plans_->rows->forward(data);
  } else {
    plans_->forward->run(data, data);
  }
}

void FourierX::backward(Field& field, const PlaneRange& planes) {
  real* const data = plans_->first_row(field, planes);
  if (plans_->rows) {
    plans_->rows->backward(data);
  } else {
    plans_->backward->run(data, data);
  }
}

std::unique_ptr<ColumnFourier> ColumnFourier::of_any_length(int nx, int ny, int nz, std::int64_t stride_y,
                                                            std::int64_t stride_z, FourierMethod method,
                                                            const FftWork& work) {
  if (method == FourierMethod::fastest) {
    if (auto columns = SplitColumnFourier::make(nx, ny, nz, stride_y, stride_z)) return columns;
    if (auto columns = make_vkfft_columns(nx, ny, nz, stride_y, stride_z)) return columns;
  }
  return std::make_unique<CufftColumns>(nx, ny, nz, stride_y, stride_z, work);
}

std::size_t ColumnFourier::work_bytes(int nx, int ny, std::int64_t stride_y) {
  if (SplitColumnFourier::has_kernel(ny) || fits_vkfft(ny)) return 0;
  return CufftPlan::work_size(FftKind::forward, CufftColumns::plane(nx, ny, stride_y));
}

std::string fft_library() {
  int version = 0;
  check_cufft(cufftGetVersion(&version), "cufftGetVersion");
  return SLUICE_CUFFT_NAME " " + std::to_string(version / 1000) + "." + std::to_string(version / 100 % 10) +
         and_vkfft();
}

}  // namespace sluice
