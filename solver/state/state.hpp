#pragma once
#include <cstdint>

#include "core/decomp/field.hpp"

namespace sluice {

/// Three components on their faces.
struct VectorField {
  explicit VectorField(const Box3& box)
      : u(box, Location::x_face), v(box, Location::y_face), w(box, Location::z_face) {}

  Field u, v, w;
};

/// The flow at one time. Between steps every halo of velocity and p is valid, walls included. p belongs to the middle
/// of the last substep, not to `time`.
struct State {
  /// `p_row_length`: what the time stepper asks for; TimeStepper::pressure_row_length.
  explicit State(const Box3& box, std::int64_t p_row_length) : velocity(box), p(box, Location::center, p_row_length) {}

  VectorField velocity;
  Field p;
  double time = 0;
  std::int64_t step = 0;
};

}  // namespace sluice
