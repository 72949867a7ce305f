#pragma once
#include <string>
#include <vector>

#include "model/field_descriptor.hpp"

namespace sluice {

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
