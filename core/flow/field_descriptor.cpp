#include "core/flow/field_descriptor.hpp"

namespace sluice {

const std::vector<FieldDescriptor>& flow_fields() {
  static const std::string scale = " / U, the velocity unit of flow.reynolds";
  static const std::vector<FieldDescriptor> fields{
      {"u", "streamwise velocity" + scale, "1", Location::x_face, AtWall::tangential_velocity},
      {"v", "spanwise velocity" + scale, "1", Location::y_face, AtWall::tangential_velocity},
      {"w", "wall-normal velocity" + scale, "1", Location::z_face, AtWall::normal_velocity},
      {"p", "pressure / (density U^2), in the middle of the last substep", "1", Location::center, AtWall::no_gradient},
  };
  return fields;
}

}  // namespace sluice
