#include "model/center_quantities.hpp"

#include <algorithm>

#include "core/support/error.hpp"

namespace sluice {

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
