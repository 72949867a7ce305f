// Fourier transforms along x by FFTW. Each row is transformed separately, by the same plan between the same aligned
// buffers, so that its bits depend neither on its neighbours nor on the process grid.
#include <algorithm>

#include "core/device/buffer.hpp"
#include "core/device/parallel_for.hpp"
#include "core/support/error.hpp"
#include "poisson/fft/fft.hpp"
#include "poisson/fft/fft_columns.hpp"
#include "poisson/fft/fftw_plan.hpp"

namespace sluice {

namespace {

using Complex = std::complex<real>;

constexpr std::int64_t alignment = 64;

/// Asks for a row that is read, or with `write` written, soon.
template <bool write>
void prefetch(const real* row, std::int64_t length) {
  constexpr auto in_line = static_cast<std::int64_t>(alignment / sizeof(real));
  for (std::int64_t i = 0; i < length; i += in_line) __builtin_prefetch(row + i, write ? 1 : 0);
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

  template <class Transform>
  void for_each_row(Field& field, std::size_t elements, const Transform& transform) {
    const View3<real> view = rows_of(field);
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

FourierX::FourierX(const Box3& box, std::int64_t row_length, FourierMethod /*method*/, const FftWork& /*work*/,
                   int /*halo_y*/) {
  SLUICE_REQUIRE(row_length >= 2 * (box.extent(0) / 2 + 1) &&
                     row_length * static_cast<std::int64_t>(sizeof(real)) % alignment == 0,
                 "rows are too short for a transform in place, or not a multiple of 64 bytes");
  plans_ = std::make_unique<Plans>(box, row_length);
}

FourierX::~FourierX() = default;

void FourierX::forward(Field& field) {
  plans_->for_each_row(field, static_cast<std::size_t>(plans_->box.nx()),
                       [this](real* row, real* data) { plans_->forward.run(row, Plans::as_complex(data)); });
}

void FourierX::backward(Field& field) {
  plans_->for_each_row(field, 2 * static_cast<std::size_t>(plans_->box.nx() / 2 + 1),
                       [this](real* row, real* data) { plans_->backward.run(Plans::as_complex(row), data); });
}

bool FourierX::takes_divergence(std::int64_t /*nx*/, Order /*order*/) {
  return true;
}

void FourierX::forward(const DivergenceRows& rows, Field& to, Deferred<ExactSum>& sum) {
  const View3<real> view = plans_->rows_of(to);
  real* const row = plans_->row.data();
  const VectorView<const real>& star = rows.star;
  const auto transform = [&](int j, int k) {
    // While FFTW computes, memory can deliver what the next row needs.
    const std::ptrdiff_t next = (j + 1) * star.stride_y + k * star.stride_z;
    for (const real* component : {star.u, star.v, star.w}) prefetch<false>(component + next, plans_->box.nx());
    real* const data = view.origin + j * view.stride_y + k * view.stride_z;
    prefetch<true>(data + view.stride_y, plans_->row_length);
    plans_->forward.run(row, Plans::as_complex(data));
  };
  op::with_order(rows.order, [&](auto order) {
    const WriteDivergence<order> one_row{rows, row, 0, 0};
    reduce_sum_by_rows("divergence", to.local_box(), one_row, sum, transform);
  });
}

std::unique_ptr<ColumnFourier> ColumnFourier::of_any_length(int nx, int ny, int nz, std::int64_t stride_y,
                                                            std::int64_t stride_z, FourierMethod /*method*/,
                                                            const FftWork& /*work*/) {
  return SplitColumnFourier::make(nx, ny, nz, stride_y, stride_z);
}

std::string fft_library() {
  const std::string full = Fftw::version;  // "fftw-3.3.10-sse2-avx"
  const std::size_t start = full.find('-') + 1;
  return "FFTW " + full.substr(start, full.find('-', start) - start);
}

}  // namespace sluice
