#include "core/device/parallel_for.hpp"
#include "core/support/error.hpp"
#include "poisson/divergence/divergence_fourier.hpp"

namespace sluice {

namespace {

/// Forms div u* / (gamma dt) row by row, and sums u*.
template <Order order>
class DivergenceSource final : public RowSource {
 public:
  DivergenceSource(const DivergenceRows& rows, int nx) : rows_(rows), nx_(nx), sum_of_u_(nx) {}

  void form(int j, int k, real* row) override {
    sum_of_u_.add(WriteDivergence<order>{rows_, row, 0, 0}, j, k);
    const VectorView<const real>& star = rows_.star;
    const std::ptrdiff_t next = (j + 1) * star.stride_y + k * star.stride_z;
    for (const real* component : {star.u, star.v, star.w}) prefetch(component + next);
  }

  const ExactSum& sum_of_u() const { return sum_of_u_.value(); }

 private:
  /// Prefetches a row that is read soon.
  void prefetch(const real* row) const {
    constexpr int in_line = 64 / sizeof(real);
    for (int i = 0; i < nx_; i += in_line) __builtin_prefetch(row + i);
  }

  DivergenceRows rows_;
  int nx_;
  RowByRowSum sum_of_u_;
};

}  // namespace

struct DivergenceFourier::Parts {
  FourierX& fourier_x;
  int nx;
  ExactSum sum_of_u;  ///< over the planes so far
};

bool DivergenceFourier::supports(std::int64_t /*nx*/, Order /*order*/) {
  return true;
}

DivergenceFourier::DivergenceFourier(FourierX& fourier_x, int nx)
    : parts_(std::make_unique<Parts>(Parts{fourier_x, nx, {}})) {}

DivergenceFourier::~DivergenceFourier() = default;

void DivergenceFourier::forward(VelocityDivergence& divergence, Field& to, const PlaneRange& planes) {
  if (planes.first == 0) parts_->sum_of_u = {};
  op::with_order(divergence.rows.order, [&](auto order) {
    DivergenceSource<order> source(divergence.rows, parts_->nx);
    parts_->fourier_x.forward(source, to, planes);
    parts_->sum_of_u += source.sum_of_u();
  });
  if (planes.last < to.box().nz()) return;
  *divergence.sum_of_u.data() = parts_->sum_of_u;
  divergence.sum_of_u.written();
  if (divergence.when_summed) divergence.when_summed();
}

}  // namespace sluice
