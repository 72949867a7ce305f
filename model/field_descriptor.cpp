#include "model/field_descriptor.hpp"

#include <utility>

namespace sluice {

const std::vector<FieldDescriptor>& base_fields() {
  static const std::string scale = " / U, the velocity unit of flow.reynolds";
  static const std::vector<FieldDescriptor> fields{
      {"u", "streamwise velocity" + scale, "1", Location::x_face, AtWall::tangential_velocity},
      {"v", "spanwise velocity" + scale, "1", Location::y_face, AtWall::tangential_velocity},
      {"w", "wall-normal velocity" + scale, "1", Location::z_face, AtWall::normal_velocity},
      {"p", "pressure / (density U^2), in the middle of the last substep", "1", Location::center, AtWall::no_gradient},
  };
  return fields;
}

namespace {

// The flux into the fluid, kappa dc/dn, gives the derivative along z: n is -z at the bottom, z at the top.
GivenAtWall given_at(const ScalarWall& wall, double diffusivity, double normal) {
  if (wall.kind == ScalarWallKind::value) return {true, wall.value};
  return {false, wall.value, normal * diffusivity};
}

}  // namespace

FieldDescriptor scalar_field(const std::string& name) {
  return {.name = name, .long_name = "scalar " + name, .units = "1", .at_wall = AtWall::given};
}

std::vector<FieldDescriptor> scalar_fields(const FlowParameters& flow) {
  std::vector<FieldDescriptor> fields;
  for (const ScalarParameters& scalar : flow.scalars) {
    const double kappa = flow.diffusivity(scalar);
    FieldDescriptor& field = fields.emplace_back(scalar_field(scalar.name));
    field.given_at_wall = {given_at(scalar.bottom, kappa, -1), given_at(scalar.top, kappa, 1)};
  }
  return fields;
}

std::vector<FieldDescriptor> fields_of(const FlowParameters& flow) {
  std::vector<FieldDescriptor> fields = base_fields();
  for (FieldDescriptor& scalar : scalar_fields(flow)) fields.push_back(std::move(scalar));
  return fields;
}

}  // namespace sluice
