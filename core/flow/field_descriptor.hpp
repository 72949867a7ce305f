#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "core/decomp/field.hpp"
#include "core/flow/order.hpp"

namespace sluice {

/// The condition on a field at the walls.
enum class AtWall {
  tangential_velocity,  ///< the wall's velocity where it is no-slip; no gradient where it is free-slip
  normal_velocity,      ///< the wall's velocity
  no_gradient           ///< no gradient through the wall
};

/// All that loops over fields know of one field: in the stepper, halos, walls, files and memory estimate.
struct FieldDescriptor {
  std::string name;       ///< in case files; also the name of the dataset in files
  std::string long_name;  ///< in words, with the reference scale: "streamwise velocity / U_b"
  std::string units;      ///< as written to files: "1" for dimensionless quantities
  Location location = Location::center;
  AtWall at_wall = AtWall::no_gradient;
  HaloWidth halo = {};  ///< minimum; halo_of widens it along y for order 4

  /// Which outputs carry the field.
  struct Outputs {
    bool checkpoint = true;
    bool slices = true;
    bool statistics = true;
  };
  Outputs outputs = {};
};

/// Rows along y beyond a rank's own that differences of this order read.
constexpr int reach_of(Order order) {
  return order == Order::fourth ? 3 : 1;
}

/// The halo of a field in a flow of this order.
inline HaloWidth halo_of(const FieldDescriptor& field, Order order) {
  return {std::max(field.halo.y, reach_of(order)), field.halo.z};
}

/// The fields of the flow, in the order in which files list them: u, v, w and p, then those that the flow transports
/// (solver/transport/transport_equations.cpp holds their tendencies).
const std::vector<FieldDescriptor>& flow_fields();

/// Positions in flow_fields().
inline constexpr std::size_t pressure_field = 3;
inline constexpr std::size_t first_transported_field = 4;

}  // namespace sluice
