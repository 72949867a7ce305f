#include "src/run/program_settings.hpp"

#include <memory>
#include <utility>

#include "core/decomp/field_copy.hpp"

namespace sluice {

Field plane_for_wall(const Simulation& simulation, Location component) {
  Box3 box = simulation.box();
  box.lo[2] = 0;
  box.hi[2] = 1;
  return Field(box, component, 0, HaloWidth{reach_of(simulation.flow.order), 0});
}

ProgramSettings program_settings(const Simulation& simulation) {
  ProgramSettings settings;
  for (const Walls::Side side : Walls::sides) {
    for (const Location component : Walls::components) {
      const Field* const plane = simulation.stepper.walls().prescribed(side, component);
      if (plane == nullptr) continue;
      settings.walls.push_back({side, component, plane_for_wall(simulation, component)});
      copy_with_halo(*plane, settings.walls.back().plane);
    }
  }
  const ForcingParameters& x = simulation.stepper.forcing().parameters();
  const ForcingParameters& y = simulation.stepper.spanwise_forcing().parameters();
  if (x != simulation.flow.forcing) settings.forcing[0] = x;
  if (y != simulation.flow.spanwise_forcing) settings.forcing[1] = y;
  return settings;
}

bool can_drive(const Simulation& simulation, std::size_t axis, ForcingKind kind) {
  const FlowParameters& flow = simulation.flow;
  const ForcingKind of_case = axis == 0 ? flow.forcing.kind : flow.spanwise_forcing.kind;
  return kind == (of_case == ForcingKind::none ? ForcingKind::pressure_gradient : of_case);
}

void take_next_walls(Simulation& simulation) {
  if (!simulation.next_walls) return;
  for (const PrescribedWall& wall : simulation.next_walls()) {
    copy_cells(wall.plane,
               simulation.stepper.walls().prescribe(wall.side, wall.component, reach_of(simulation.flow.order)));
  }
  simulation.next_walls = nullptr;
  simulation.stepper.accept_prescribed_walls();
}

void keep_next_walls(Simulation& simulation, std::vector<PrescribedWall> walls) {
  const auto kept = std::make_shared<std::vector<PrescribedWall>>(std::move(walls));
  simulation.next_walls = [&simulation, kept] {
    std::vector<PrescribedWall> copies;
    for (const PrescribedWall& wall : *kept) {
      copies.push_back({wall.side, wall.component, plane_for_wall(simulation, wall.component)});
      copy_cells(wall.plane, copies.back().plane);
    }
    return copies;
  };
}

void restore(Simulation& simulation, const ProgramSettings& settings) {
  TimeStepper& stepper = simulation.stepper;
  Walls& walls = stepper.walls();
  const int halo_rows = reach_of(simulation.flow.order);
  for (const Walls::Side side : Walls::sides) {
    for (const Location component : Walls::components) walls.release(side, component);
    if (stepper.has_response(side)) walls.prescribe(side, Location::z_face, halo_rows);
  }
  for (const PrescribedWall& wall : settings.walls)
    copy_with_halo(wall.plane, walls.prescribe(wall.side, wall.component, halo_rows));
  stepper.forcing().restore(settings.forcing[0].value_or(simulation.flow.forcing));
  stepper.spanwise_forcing().restore(settings.forcing[1].value_or(simulation.flow.spanwise_forcing));
}

}  // namespace sluice
