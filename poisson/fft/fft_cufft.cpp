// Fourier transforms on a GPU, in place: by our own kernels; along y for other lengths by VkFFT, if the build has it;
// else by cuFFT, the plain implementation. cuFFT may choose its kernels by batch size, so the last bits of a transform
// can depend on the number of rows on a rank, hence on the process grid.
#include <algorithm>
#include <string>

#include "core/support/error.hpp"
#include "poisson/fft/cufft_plan.hpp"
#include "poisson/fft/fft.hpp"
#include "poisson/fft/fft_columns.hpp"
#include "poisson/fft/fft_rows.hpp"
#ifdef SLUICE_VKFFT
#include "poisson/fft/fft_vkfft.hpp"
#endif

namespace sluice {

namespace {

using Complex = std::complex<real>;

/// Whether cuFFT has a kernel that reaches memory bandwidth: for powers of two in rows without gaps. There it moves 2.1
/// words of 8 bytes per point (minimum 2), but 4.9 at nx = 384, 5.0 at 576 and 640, 5.4 at 768, 7.1 at 1536 (H200,
/// double).
bool cufft_is_fast(std::int64_t nx, std::int64_t row_length) {
  return nx >= 256 && (nx & (nx - 1)) == 0 && row_length == nx + 2;
}

}  // namespace

/// Transforms all rows at once, y halo included; cuFFT transforms as many planes at a time as work memory allows.
struct FourierX::Plans {
  Plans(const Box3& owned, std::int64_t length, FourierMethod method)
      : box(owned), row_length(length), planes(owned.nz()) {
    if (method == FourierMethod::fastest && !cufft_is_fast(box.extent(0), row_length)) {
      rows = RowFourier::make(box.nx(), rows_of(planes), row_length);
      if (rows) return;
    }
    while (planes > 1 &&
           std::max(CufftPlan::work_size(Cufft::real_to_complex, batch(planes, true)),
                    CufftPlan::work_size(Cufft::complex_to_real, batch(planes, false))) > cufft_work_limit) {
      planes = (planes + 1) / 2;
    }
    forward = CufftPlan(Cufft::real_to_complex, batch(planes, true));
    backward = CufftPlan(Cufft::complex_to_real, batch(planes, false));
    if (const int rest = box.nz() % planes; rest > 0) {
      forward_rest = CufftPlan(Cufft::real_to_complex, batch(rest, true));
      backward_rest = CufftPlan(Cufft::complex_to_real, batch(rest, false));
    }
  }

  /// Rows of `depth` planes, with the y halo between them.
  std::int64_t rows_of(int depth) const { return (box.extent(1) + 2) * depth - 2; }

  CufftBatch batch(int depth, bool to_complex) const {
    const long long in_real = row_length;
    const long long in_complex = row_length / 2;
    return {box.extent(0), 1, 1, to_complex ? in_real : in_complex, to_complex ? in_complex : in_real, rows_of(depth)};
  }

  real* first_row(Field& field) const {
    SLUICE_REQUIRE(field.box() == box && field.row_length() == row_length,
                   "the field is not the one this transform was made for");
    return field.view().origin;
  }

  template <class Execute>
  void run(Field& field, const CufftPlan& whole, const CufftPlan& rest, const Execute& execute) const {
    real* const first = first_row(field);
    int k = 0;
    for (; k + planes <= box.nz(); k += planes) execute(whole, first + k * field.plane_length());
    if (k < box.nz()) execute(rest, first + k * field.plane_length());
  }

  Box3 box;
  std::int64_t row_length;
  int planes;  ///< in one launch
  std::unique_ptr<RowFourier> rows;
  CufftPlan forward, backward, forward_rest, backward_rest;
};

FourierX::FourierX(const Box3& box, std::int64_t row_length, FourierMethod method) {
  SLUICE_REQUIRE(row_length >= 2 * (box.extent(0) / 2 + 1) && row_length % 2 == 0,
                 "rows are too short for a transform in place, or of odd length");
  plans_ = std::make_unique<Plans>(box, row_length, method);
}

FourierX::~FourierX() = default;

void FourierX::forward(Field& field) {
  if (plans_->rows) {
    plans_->rows->forward(plans_->first_row(field));
    return;
  }
  plans_->run(field, plans_->forward, plans_->forward_rest, [](const CufftPlan& plan, real* rows) {
    check_cufft(Cufft::execute(plan.handle(), rows, cufft(rows)), "cuFFT along x, forward");
  });
}

void FourierX::backward(Field& field) {
  if (plans_->rows) {
    plans_->rows->backward(plans_->first_row(field));
    return;
  }
  plans_->run(field, plans_->backward, plans_->backward_rest, [](const CufftPlan& plan, real* rows) {
    check_cufft(Cufft::execute(plan.handle(), cufft(rows), rows), "cuFFT along x, backward");
  });
}

#ifdef SLUICE_VKFFT
/// Whether VkFFT has radices for this length.
bool suits_vkfft(int length) {
  if (length < 4) return false;
  for (const int radix : {2, 3, 5, 7}) {
    while (length % radix == 0) length /= radix;
  }
  return length == 1;
}
#endif

/// Transforms all planes at once, but with cuFFT one plane at a time: strided transforms of all planes would need as
/// much work memory as data.
struct FourierY::Plans {
  Plans(int nx, int ny, int planes, std::int64_t row_stride, std::int64_t plane_stride, FourierMethod method)
      : nz(planes), stride_y(row_stride), stride_z(plane_stride) {
    if (nx == 0 || planes == 0) return;
    if (method == FourierMethod::fastest) columns = ColumnFourier::make(nx, ny, planes, stride_y, stride_z);
    if (columns) return;
#ifdef SLUICE_VKFFT
    if (method == FourierMethod::fastest && suits_vkfft(ny)) {
      vkfft = VkFourierY::make(nx, ny, planes, stride_y, stride_z);
      if (vkfft) return;
    }
#endif
    plan = CufftPlan(Cufft::complex_to_complex, {ny, stride_y, stride_y, 1, 1, nx});
  }

  void run(View3<Complex> coefficients, int direction) {
    SLUICE_REQUIRE(coefficients.stride_y == stride_y && coefficients.stride_z == stride_z,
                   "the coefficients are not laid out as this transform was made for");
    if (columns) {
      columns->run(coefficients.origin, coefficients.origin, direction == CUFFT_FORWARD);
      return;
    }
#ifdef SLUICE_VKFFT
    if (vkfft) {
      vkfft->run(coefficients.origin, direction == CUFFT_FORWARD);
      return;
    }
#endif
    for (int k = 0; k < nz; ++k) {
      Cufft::Complex* const data = cufft(coefficients.origin + k * stride_z);
      check_cufft(Cufft::execute(plan.handle(), data, data, direction), "cuFFT along y");
    }
  }

  int nz;
  std::int64_t stride_y, stride_z;
  std::unique_ptr<ColumnFourier> columns;
  CufftPlan plan;
#ifdef SLUICE_VKFFT
  std::unique_ptr<VkFourierY> vkfft;
#endif
};

FourierY::FourierY(int nx, int ny, int nz, std::int64_t stride_y, std::int64_t stride_z, FourierMethod method)
    : plans_(std::make_unique<Plans>(nx, ny, nz, stride_y, stride_z, method)) {}

FourierY::~FourierY() = default;

void FourierY::forward(View3<std::complex<real>> coefficients) {
  plans_->run(coefficients, CUFFT_FORWARD);
}

void FourierY::backward(View3<std::complex<real>> coefficients) {
  plans_->run(coefficients, CUFFT_INVERSE);
}

std::string fft_library() {
  int version = 0;
  check_cufft(cufftGetVersion(&version), "cufftGetVersion");
  std::string text = "cuFFT " + std::to_string(version / 1000) + "." + std::to_string(version / 100 % 10);
#ifdef SLUICE_VKFFT
  text += std::string(", ") + vkfft_version();
#endif
  return text;
}

}  // namespace sluice
