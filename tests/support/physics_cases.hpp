#pragma once
// Small flows with each physics, which no symmetry simplifies.
#include <array>
#include <cmath>
#include <cstdint>
#include <string>

#include "solver/grid/stretching.hpp"
#include "solver/physics/hartmann.hpp"
#include "solver/physics/number_sources.hpp"
#include "solver/physics/terms.hpp"
#include "solver/walls/opposition_control.hpp"
#include "tests/support/buoyancy.hpp"
#include "tests/support/flow_case.hpp"
#include "tests/support/rotation.hpp"

namespace sluice::test {

/// What a flow has beside the momentum equation.
enum class Physics { scalars, buoyancy, rotation, magnetic_field, opposition_control, all };
inline constexpr std::array all_physics{Physics::scalars,        Physics::buoyancy,           Physics::rotation,
                                        Physics::magnetic_field, Physics::opposition_control, Physics::all};

inline std::string name_of(Physics physics) {
  switch (physics) {
    case Physics::scalars:
      return "scalars";
    case Physics::buoyancy:
      return "buoyancy";
    case Physics::rotation:
      return "rotation";
    case Physics::magnetic_field:
      return "magnetic field";
    case Physics::opposition_control:
      return "opposition control";
    default:
      return "all";
  }
}

inline FlowCase settings_for(const Discretisation& form, Physics physics, std::array<std::int64_t, 3> cells) {
  FlowCase settings;
  settings.cells = cells;
  settings.z_nodes = tanh_nodes(cells[2], 2, 1.9, true);
  settings.grid_velocity = 0.35;
  FlowParameters& flow = settings.flow;
  flow.viscosity = 0.013;
  flow.bottom.velocity[0] = Formula(-0.4);
  flow.top.velocity[1] = Formula(0.3);
  flow.diffusion = form.diffusion;
  flow.order = form.order;
  flow.forcing = {ForcingKind::bulk_velocity, 0.4};
  flow.spanwise_forcing = {ForcingKind::bulk_velocity, 0.2};
  const auto has = [&](Physics one) { return physics == one || physics == Physics::all; };
  if (has(Physics::scalars) || has(Physics::buoyancy)) {
    const ScalarWall cold{ScalarWallKind::value, Formula(-1)};
    const ScalarWall heated{ScalarWallKind::flux, Formula(0.2)};
    flow.scalars.push_back(
        {"a", 0.7, cold, {ScalarWallKind::value, Formula(1)}, TermParameters::with(UniformSource{0.3})});
    flow.scalars.push_back({"b", 1.4, cold, heated, TermParameters::with(StreamwiseSource{0.8})});
  }
  if (has(Physics::buoyancy))
    buoyancy_of(flow) = {.scalar = "b", .coefficient = 0.6, .reference = 0.1, .direction = {0.36, 0.48, -0.8}};
  if (has(Physics::rotation)) rotation_of(flow) = {.rate = {0.3, -0.2, 0.5}, .geostrophic = {0.4, 0.1}};
  if (has(Physics::magnetic_field)) flow.terms.edit<MagneticFieldParameters>().hartmann = 4;
  if (has(Physics::opposition_control))
    flow.bottom.actuation = make_actuation(opposition_control(), 0.7, OppositionParameters{0.4});
  return settings;
}

inline void begin(Flow& flow) {
  flow.set_random(5);
  for (TransportedField& scalar : flow.state.transported)
    flow.set(scalar.field, [](double x, double y, double z) { return std::sin(1e4 * (x + 2 * y + 3 * z)); });
  flow.stepper.fill_halos(flow.state);
}

}  // namespace sluice::test
