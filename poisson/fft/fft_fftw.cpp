// Fourier transforms by FFTW. Every row or column is transformed by itself, by the same plan between the same
// aligned buffers, so that its bits depend neither on its neighbours nor on the process grid; on the
// cache-sized lines of a flow solver this is as fast as transforming several at a time (measured).
#include <algorithm>
#include <type_traits>

#include "core/device/buffer.hpp"
#include "core/support/error.hpp"
#include "poisson/fft/fft.hpp"
#include "poisson/fft/fftw_plan.hpp"

namespace sluice {

namespace {

using Complex = std::complex<real>;

constexpr std::int64_t alignment = 64;

bool aligned(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % alignment == 0;
}

}  // namespace

struct FourierX::Plans {
  Plans(const Box3& owned, std::int64_t length)
      : box(owned),
        row_length(length),
        row(static_cast<std::size_t>(length)),
        target(static_cast<std::size_t>(length)),
        forward(Fftw::r2c(owned.nx(), row.data(), reinterpret_cast<FftwComplex*>(target.data()))),
        backward(Fftw::c2r(owned.nx(), reinterpret_cast<FftwComplex*>(row.data()), target.data())) {}

  template <class Transform>
  void for_each_row(Field& field, std::size_t elements, const Transform& transform) {
    SLUICE_REQUIRE(field.box() == box && field.row_length() == row_length,
                   "the field is not the one this transform was made for");
    const View3<real> view = field.view();
    SLUICE_REQUIRE(aligned(view.origin), "rows of a field must be aligned to 64 bytes");
    for (int k = 0; k < box.nz(); ++k) {
      for (int j = 0; j < box.ny(); ++j) {
        real* data = view.origin + j * view.stride_y + k * view.stride_z;
        std::copy_n(data, elements, row.data());
        transform(row.data(), data);
      }
    }
  }

  Box3 box;
  std::int64_t row_length;
  Buffer<real> row, target;
  FftwPlan forward, backward;
};

FourierX::FourierX(const Box3& box, std::int64_t row_length, FourierMethod /*method*/) {
  SLUICE_REQUIRE(row_length >= 2 * (box.extent(0) / 2 + 1) &&
                     row_length * static_cast<std::int64_t>(sizeof(real)) % alignment == 0,
                 "rows are too short for a transform in place, or not a multiple of 64 bytes");
  plans_ = std::make_unique<Plans>(box, row_length);
}

FourierX::~FourierX() = default;

void FourierX::forward(Field& field) {
  plans_->for_each_row(field, static_cast<std::size_t>(plans_->box.nx()), [this](real* row, real* data) {
    Fftw::execute(plans_->forward, row, reinterpret_cast<FftwComplex*>(data));
  });
}

void FourierX::backward(Field& field) {
  plans_->for_each_row(field, 2 * static_cast<std::size_t>(plans_->box.nx() / 2 + 1), [this](real* row, real* data) {
    Fftw::execute(plans_->backward, reinterpret_cast<FftwComplex*>(row), data);
  });
}

/// Columns are copied `together` at a time into contiguous buffers, so that whole cache lines of the field
/// are read and written.
struct FourierY::Plans {
  static constexpr int together = 8;

  Plans(int columns, int length, int planes)
      : nx(columns),
        ny(length),
        nz(planes),
        pitch((length + 7) / 4 * 4),
        source(buffer_size()),
        target(buffer_size()),
        forward(Fftw::c2c(length, fftw(source.data()), fftw(target.data()), FFTW_FORWARD)),
        backward(Fftw::c2c(length, fftw(source.data()), fftw(target.data()), FFTW_BACKWARD)) {}

  std::size_t buffer_size() const { return static_cast<std::size_t>(together) * static_cast<std::size_t>(pitch); }

  void run(View3<Complex> coefficients, const FftwPlan& plan) {
    for (int k = 0; k < nz; ++k) {
      for (int i = 0; i < nx; i += together) {
        Complex* data = coefficients.origin + i + k * coefficients.stride_z;
        if (nx - i >= together) {
          transform_columns(data, coefficients.stride_y, plan, std::integral_constant<int, together>{});
        } else {
          transform_columns(data, coefficients.stride_y, plan, nx - i);
        }
      }
    }
  }

  template <class Count>
  void transform_columns(Complex* data, std::ptrdiff_t stride, const FftwPlan& plan, Count columns) {
    for (int j = 0; j < ny; ++j) {
      for (int c = 0; c < columns; ++c) source.data()[c * pitch + j] = data[j * stride + c];
    }
    for (int c = 0; c < columns; ++c)
      Fftw::execute(plan, fftw(source.data() + c * pitch), fftw(target.data() + c * pitch));
    for (int j = 0; j < ny; ++j) {
      for (int c = 0; c < columns; ++c) data[j * stride + c] = target.data()[c * pitch + j];
    }
  }

  int nx, ny, nz;
  std::ptrdiff_t pitch;  ///< of the buffers' columns: whole cache lines, and no power of two
  Buffer<Complex> source, target;
  FftwPlan forward, backward;
};

FourierY::FourierY(int nx, int ny, int nz, std::int64_t /*stride_y*/, std::int64_t /*stride_z*/,
                   FourierMethod /*method*/)
    : plans_(std::make_unique<Plans>(nx, ny, nz)) {}

FourierY::~FourierY() = default;

void FourierY::forward(View3<std::complex<real>> coefficients) {
  plans_->run(coefficients, plans_->forward);
}

void FourierY::backward(View3<std::complex<real>> coefficients) {
  plans_->run(coefficients, plans_->backward);
}

std::string fft_library() {
  const std::string full = Fftw::version();  // "fftw-3.3.10-sse2-avx"
  const std::size_t start = full.find('-') + 1;
  return "FFTW " + full.substr(start, full.find('-', start) - start);
}

}  // namespace sluice
