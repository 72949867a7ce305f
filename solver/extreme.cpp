// Where a field, div u or the advective rate is largest or not finite. Only for a run whose numerics fail.
#include "solver/extreme.hpp"

#include <cmath>
#include <limits>

#include "core/decomp/field_copy.hpp"
#include "core/stencil/loops.hpp"
#include "core/support/collective.hpp"
#include "solver/momentum/operators.hpp"
#include "solver/time_step_limit.hpp"

namespace sluice {

namespace {

using op::In;

template <Order order>
struct StoreDivergence {
  using CellType = op::CellFor<order>;
  In u, v, w;
  View3<real> out;
  Metrics m;
  SLUICE_INLINE void operator()(CellType c) const { out(c.i, c.j, c.k) = op::divergence<order>(u, v, w, c, m); }
};

template <Order order>
struct StoreRate {
  In u, v, w;
  View3<real> out;
  Metrics m;
  SLUICE_INLINE void operator()(Cell c) const {
    out(c.i, c.j, c.k) =
        static_cast<real>(advective_rate<order>(u(c.i, c.j, c.k), v(c.i, c.j, c.k), w(c.i, c.j, c.k), c.k, m));
  }
};

template <template <Order> class Store>
Extreme extreme_of_stored(const char* name, const VectorField& velocity, const Metrics& metrics, Order order,
                          MPI_Comm comm) {
  Field quantity(velocity.u.box(), Location::center);
  op::parallel_for<Store>(name, quantity.local_box(), order, velocity.u.view(), velocity.v.view(), velocity.w.view(),
                          quantity.view(), metrics);
  return extreme_of(quantity, comm);
}

template <class T>
T reduced(T value, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &value, 1, type, operation, comm), "MPI_Allreduce");
  return value;
}

/// Orders cells as files do: x fastest.
class CellNumbers {
 public:
  explicit CellNumbers(const Box3& box, MPI_Comm comm) {
    for (std::size_t axis = 0; axis < 3; ++axis) cells_[axis] = reduced(box.hi[axis], MPI_INT64_T, MPI_MAX, comm);
  }
  std::int64_t number(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return i + cells_[0] * (j + cells_[1] * k);
  }
  std::array<std::int64_t, 3> cell(std::int64_t number) const {
    return {number % cells_[0], number / cells_[0] % cells_[1], number / cells_[0] / cells_[1]};
  }

 private:
  std::array<std::int64_t, 3> cells_{};
};

/// Of a rank's cells, the first with the largest magnitude and the first with a value that is not finite.
struct Found {
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  double largest = -1;
  std::int64_t at_largest = none, at_not_finite = none, not_finite = 0;

  void add(double magnitude, std::int64_t number) {
    if (!std::isfinite(magnitude)) {
      ++not_finite;
      at_not_finite = std::min(at_not_finite, number);
    } else if (magnitude > largest) {
      largest = magnitude;
      at_largest = number;
    }
  }
};

}  // namespace

Extreme extreme_of(const Field& quantity, MPI_Comm comm) {
  const Box3& box = quantity.box();
  const CellNumbers numbers(box, comm);
  const std::vector<real> values = download(quantity);
  Found found;
  auto value = values.begin();
  for (std::int64_t k = box.lo[2]; k < box.hi[2]; ++k) {
    for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j) {
      for (std::int64_t i = box.lo[0]; i < box.hi[0]; ++i)
        found.add(std::abs(static_cast<double>(*value++)), numbers.number(i, j, k));
    }
  }
  Extreme extreme;
  extreme.not_finite = reduced(found.not_finite, MPI_INT64_T, MPI_SUM, comm);
  const double largest = reduced(found.largest, MPI_DOUBLE, MPI_MAX, comm);
  const std::int64_t candidate = extreme.not_finite > 0     ? found.at_not_finite
                                 : found.largest == largest ? found.at_largest
                                                            : Found::none;
  extreme.cell = numbers.cell(reduced(candidate, MPI_INT64_T, MPI_MIN, comm));
  extreme.value = extreme.not_finite > 0 ? std::numeric_limits<double>::quiet_NaN() : largest;
  return extreme;
}

Extreme extreme_divergence(const VectorField& velocity, const Metrics& metrics, Order order, MPI_Comm comm) {
  return extreme_of_stored<StoreDivergence>("store divergence", velocity, metrics, order, comm);
}

Extreme extreme_rate(const VectorField& velocity, const Metrics& metrics, Order order, MPI_Comm comm) {
  return extreme_of_stored<StoreRate>("store rate", velocity, metrics, order, comm);
}

std::vector<double> values_in(const State& state, const std::array<std::int64_t, 3>& cell, MPI_Comm comm) {
  const Box3& box = state.p.box();
  Box3 one;
  bool owned = true;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    owned = owned && box.lo[axis] <= cell[axis] && cell[axis] < box.hi[axis];
    one.lo[axis] = cell[axis] - box.lo[axis];
    one.hi[axis] = one.lo[axis] + 1;
  }
  std::vector<double> values;
  for (const auto& [descriptor, field] : state.fields())
    values.push_back(owned ? static_cast<double>(download(field, one).at(0)) : 0);
  const int owner = reduced(owned ? rank_of(comm) : 0, MPI_INT, MPI_MAX, comm);
  check_mpi(MPI_Bcast(values.data(), static_cast<int>(values.size()), MPI_DOUBLE, owner, comm), "MPI_Bcast");
  return values;
}

}  // namespace sluice
