// The part of the key table that defines the rotation of the frame.
#include "io/case/key_table.hpp"

namespace sluice::io::key_table {

using enum ValueType;
using namespace binding;

std::vector<Key> rotation_keys() {
  return {
      {.path = "flow.rotation",
       .value = section_or_none(&Case::rotation),
       .words = {"none"},
       .fallback = "none",
       .meaning = "A frame that rotates at a constant rate about any axis. Velocities are relative to the frame.",
       .commented = true},
      {.path = "flow.rotation.number",
       .value = member(real, &Case::rotation, &RotationSpec::number),
       .required = true,
       .unit = "1",
       .meaning = "The rotation number Ro = 2 Omega h / U; Omega > 0 is a right-handed rotation about the axis. About "
                  "a spanwise axis (y), Ro > 0 pushes a flow along +x towards the top wall, which is then the "
                  "pressure side; Ro < 0 makes the bottom wall the pressure side.",
       .example = "0.5",
       .commented = true},
      {.path = "flow.rotation.axis",
       .value = rotation_axis(),
       .words = {"streamwise", "spanwise", "wall_normal"},
       .fallback = "spanwise",
       .unit = "1",
       .meaning = "Direction of the axis: streamwise (x), spanwise (y), wall_normal (z), or a vector of any length.",
       .commented = true},
      {.path = "flow.rotation.geostrophic",
       .value = member(real, &Case::flow, &FlowParameters::rotation, &RotationParameters::geostrophic),
       .fallback = "[0, 0]",
       .unit = "U",
       .meaning = "Velocity along x and y whose Coriolis force the mean pressure gradient balances: that far above an "
                  "Ekman layer. Needs an axis with a wall-normal component, and drives the flow in place of "
                  "flow.forcing.",
       .commented = true},
  };
}

}  // namespace sluice::io::key_table
