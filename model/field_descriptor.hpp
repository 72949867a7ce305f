#pragma once
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "core/decomp/field.hpp"
#include "core/stencil/order.hpp"
#include "model/parameters.hpp"

namespace sluice {

/// The condition on a field at the walls.
enum class AtWall {
  tangential_velocity,  ///< the wall's velocity where it is no-slip; no gradient where it is free-slip
  normal_velocity,      ///< the wall's velocity
  no_gradient,          ///< no gradient through the wall
  given                 ///< FieldDescriptor::given_at_wall
};

/// A field's value at a wall, or its derivative along z there: formula / divisor.
struct GivenAtWall {
  bool is_value = false;
  Formula formula;     ///< of x, y and t
  double divisor = 1;  ///< makes a flux a derivative

  bool varies() const { return !formula.is_constant(); }
  double constant() const { return formula.constant() / divisor; }  ///< of a formula that does not vary
};

/// All that loops over fields know of one field: in the stepper, halos, walls, files and memory estimate.
struct FieldDescriptor {
  std::string name;       ///< in case files; also the name of the dataset in files
  std::string long_name;  ///< in words, with the reference scale: "streamwise velocity / U_b"
  std::string units;      ///< as written to files: "1" for dimensionless quantities
  Location location = Location::center;
  AtWall at_wall = AtWall::no_gradient;
  std::array<GivenAtWall, 2> given_at_wall = {};  ///< at the bottom and at the top, with AtWall::given
  HaloWidth halo = {};                            ///< minimum; halo_of widens it along y for order 4

  /// Which outputs carry the field.
  struct Outputs {
    bool checkpoint = true;
    bool slices = true;
    bool statistics = true;
  };
  Outputs outputs = {};
};

/// The halo of a field in a flow of this order.
inline HaloWidth halo_of(const FieldDescriptor& field, Order order) {
  return {std::max(field.halo.y, reach_of(order)), field.halo.z};
}

/// The fields that every flow has: u, v, w and p.
const std::vector<FieldDescriptor>& base_fields();
inline constexpr std::size_t pressure_field = 3;  ///< position in base_fields()

/// The field of a scalar of this name, at cell centres.
FieldDescriptor scalar_field(const std::string& name);

/// The field of each scalar, in the order of FlowParameters::scalars.
std::vector<FieldDescriptor> scalar_fields(const FlowParameters& flow);

/// All fields of a flow, in the order in which files list them: base_fields(), then scalar_fields().
std::vector<FieldDescriptor> fields_of(const FlowParameters& flow);

/// A quantity at cell centres, for pictures: the velocity interpolated to them, what is derived from its gradient, or a
/// field that is there anyway. docs/equations.md, Fields at cell centres.
struct CenterQuantity {
  std::string name;                         ///< in case files: "velocity"
  std::vector<FieldDescriptor> components;  ///< one, or three of a vector
};

/// velocity, fluctuation, vorticity, q, lambda2 and p. Each scalar is a quantity, too.
const std::vector<CenterQuantity>& center_quantities();

/// The quantity of that name, which must exist in this flow.
CenterQuantity center_quantity(const std::string& name, const FlowParameters& flow);

}  // namespace sluice
