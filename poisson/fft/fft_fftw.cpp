// Fourier transforms along x by FFTW. Each row is transformed separately, by the same plan between the same aligned
// buffers, so that its bits depend neither on its neighbours nor on the process grid.
#include <algorithm>

#include "core/device/buffer.hpp"
#include "core/support/error.hpp"
#include "poisson/fft/fft.hpp"
#include "poisson/fft/fft_columns.hpp"
#include "poisson/fft/fftw_plan.hpp"

namespace sluice {

namespace {

using Complex = std::complex<real>;

constexpr std::int64_t alignment = 64;

/// Prefetches a row that is written soon.
void prefetch(const real* row, std::int64_t length) {
  constexpr auto in_line = static_cast<std::int64_t>(alignment / sizeof(real));
  for (std::int64_t i = 0; i < length; i += in_line) __builtin_prefetch(row + i, 1);
}

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
        forward({owned.nx(), 1, 1}, {}, row.data(), as_complex(target.data())),
        backward({owned.nx(), 1, 1}, {}, as_complex(row.data()), target.data()) {}

  static Complex* as_complex(real* data) { return reinterpret_cast<Complex*>(data); }

  View3<real> rows_of(Field& field) const {
    SLUICE_REQUIRE(field.box() == box && field.row_length() == row_length,
                   "the field is not the one this transform was made for");
    const View3<real> view = field.view();
    SLUICE_REQUIRE(aligned(view.origin), "rows of a field must be aligned to 64 bytes");
    return view;
  }

  /// Calls body(j, k, first value) for each row.
  template <class Body>
  void for_each_row(Field& field, const PlaneRange& planes, const Body& body) const {
    const View3<real> view = rows_of(field);
    for (int k = static_cast<int>(planes.first); k < planes.last; ++k) {
      for (int j = 0; j < box.ny(); ++j) body(j, k, view.origin + j * view.stride_y + k * view.stride_z);
    }
  }

  Box3 box;
  std::int64_t row_length;
  Buffer<real> row, target;
  FftwPlan forward, backward;
};

FourierX::FourierX(const Box3& box, std::int64_t row_length, FourierMethod /*method*/, const FftWork& /*work*/,
                   int /*halo_y*/) {
  SLUICE_REQUIRE(row_length >= 2 * (box.extent(0) / 2 + 1) &&
                     row_length * static_cast<std::int64_t>(sizeof(real)) % alignment == 0,
                 "rows are too short for a transform in place, or not a multiple of 64 bytes");
  plans_ = std::make_unique<Plans>(box, row_length);
}

FourierX::~FourierX() = default;

bool FourierX::allows_gaps(std::int64_t /*nx*/) {
  return true;
}

std::size_t FourierX::work_bytes(const Box3& /*box*/, std::int64_t /*row_length*/, int /*halo_y*/) {
  return 0;
}

void FourierX::forward(Field& field, const PlaneRange& planes) {
  Plans& plans = *plans_;
  plans.for_each_row(field, planes, [&](int /*j*/, int /*k*/, real* data) {
    std::copy_n(data, plans.box.nx(), plans.row.data());
    plans.forward.run(plans.row.data(), Plans::as_complex(data));
  });
}

void FourierX::forward(RowSource& source, Field& to, const PlaneRange& planes) {
  Plans& plans = *plans_;
  plans.for_each_row(to, planes, [&](int j, int k, real* data) {
    source.form(j, k, plans.row.data());
    prefetch(data + plans.row_length, plans.row_length);
    plans.forward.run(plans.row.data(), Plans::as_complex(data));
  });
}

void FourierX::backward(Field& field, const PlaneRange& planes) {
  Plans& plans = *plans_;
  plans.for_each_row(field, planes, [&](int /*j*/, int /*k*/, real* data) {
    std::copy_n(data, 2 * (plans.box.nx() / 2 + 1), plans.row.data());
    plans.backward.run(Plans::as_complex(plans.row.data()), data);
  });
}

std::unique_ptr<ColumnFourier> ColumnFourier::of_any_length(int nx, int ny, int nz, std::int64_t stride_y,
                                                            std::int64_t stride_z, FourierMethod /*method*/,
                                                            const FftWork& /*work*/) {
  return SplitColumnFourier::make(nx, ny, nz, stride_y, stride_z);
}

std::size_t ColumnFourier::work_bytes(int /*nx*/, int /*ny*/, std::int64_t /*stride_y*/) {
  return 0;
}

std::string fft_library() {
  const std::string full = Fftw::version;  // "fftw-3.3.10-sse2-avx"
  const std::size_t start = full.find('-') + 1;
  return "FFTW " + full.substr(start, full.find('-', start) - start);
}

}  // namespace sluice
