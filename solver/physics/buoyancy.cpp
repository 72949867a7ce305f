// Buoyancy: the Boussinesq force of a scalar.
#include "solver/physics/buoyancy.hpp"

#include <algorithm>

#include "core/support/error.hpp"
#include "solver/physics/force_loops.hpp"

namespace sluice {

namespace {

/// The force per unit of c - reference along one axis, eq. (13): g beta (c - reference), interpolated.
template <Order order, Location at>
struct BuoyancyAlongAxis {
  using CellType = op::CellFor<order>;
  View3<const real> c;
  Forced force;
  real factor, reference;
  SLUICE_INLINE void operator()(CellType here) const {
    force.add(here, factor * (op::scalar_at_face<order, at>(c, here) - reference));
  }
};

struct BuoyancyKernels {
  static constexpr bool reads_velocity = false;
  BuoyancyParameters buoyancy;

  template <class V, class Action>
  void for_each(const ForceArrays<V>& a, Order the_order, const Action& action) const {
    const auto reference = static_cast<real>(buoyancy.reference);
    const auto factor = [&](std::size_t axis) {
      return static_cast<real>(-buoyancy.coefficient * buoyancy.direction[axis]);
    };
    op::with_order(the_order, [&](auto constant) {
      constexpr Order order = constant;
      if (factor(0) != 0)
        action("buoyancy", BuoyancyAlongAxis<order, Location::x_face>{a.c, a.force_u, factor(0), reference});
      if (factor(1) != 0)
        action("buoyancy", BuoyancyAlongAxis<order, Location::y_face>{a.c, a.force_v, factor(1), reference});
      if (factor(2) != 0)
        action("buoyancy", BuoyancyAlongAxis<order, Location::z_face>{a.c, a.force_w, factor(2), reference});
    });
  }
};

class Buoyancy final : public Term {
 public:
  std::string name() const override { return "buoyancy"; }
  bool active(const FlowParameters& flow) const override { return flow.buoyancy.active(); }

  bool acts_in_volume(const FlowParameters& flow) const override { return active(flow); }
  std::unique_ptr<BodyForce> force(const Metrics& metrics, const FlowParameters& flow) const override {
    if (!active(flow)) return nullptr;
    return std::make_unique<LoopedForce<BuoyancyKernels>>(BuoyancyKernels{flow.buoyancy}, metrics, flow.order,
                                                          buoyant_scalar(flow));
  }
};

}  // namespace

int buoyant_scalar(const FlowParameters& flow) {
  const auto scalar = std::ranges::find(flow.scalars, flow.buoyancy.scalar, &ScalarParameters::name);
  SLUICE_REQUIRE(scalar != flow.scalars.end(), "buoyancy needs a scalar of the flow");
  return static_cast<int>(scalar - flow.scalars.begin());
}

const Term& buoyancy_term() {
  static const Buoyancy term;
  return term;
}

}  // namespace sluice
