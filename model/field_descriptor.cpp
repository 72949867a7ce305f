#include "model/field_descriptor.hpp"

#include <algorithm>
#include <utility>

#include "core/support/error.hpp"

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

namespace {

FieldDescriptor at_center(const std::string& name, const std::string& long_name) {
  return {name, long_name, "1"};
}

std::vector<CenterQuantity> list_quantities() {
  std::vector<CenterQuantity> list{
      {"velocity",
       {at_center("u", "streamwise velocity"), at_center("v", "spanwise velocity"),
        at_center("w", "wall-normal velocity")}},
      {"fluctuation",
       {at_center("u_fluctuation", "streamwise velocity less its mean over the plane"),
        at_center("v_fluctuation", "spanwise velocity less its mean over the plane"),
        at_center("w_fluctuation", "wall-normal velocity less its mean over the plane")}},
      {"vorticity",
       {at_center("omega_x", "streamwise vorticity dw/dy - dv/dz"),
        at_center("omega_y", "spanwise vorticity du/dz - dw/dx"),
        at_center("omega_z", "wall-normal vorticity dv/dx - du/dy")}},
      {"q", {at_center("q", "second invariant of the velocity gradient")}},
      {"lambda2", {at_center("lambda2", "second eigenvalue of strain squared plus rotation squared")}}};
  list.push_back({base_fields()[pressure_field].name, {base_fields()[pressure_field]}});
  return list;
}

}  // namespace

const std::vector<CenterQuantity>& center_quantities() {
  static const std::vector<CenterQuantity> list = list_quantities();
  return list;
}

CenterQuantity center_quantity(const std::string& name, const FlowParameters& flow) {
  for (const FieldDescriptor& scalar : scalar_fields(flow)) {
    if (scalar.name == name) return {name, {scalar}};
  }
  const auto found = std::ranges::find(center_quantities(), name, &CenterQuantity::name);
  SLUICE_REQUIRE(found != center_quantities().end(), "there is no quantity " + name + " at cell centres");
  return *found;
}

}  // namespace sluice
