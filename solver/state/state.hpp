#pragma once
#include <cstdint>
#include <vector>

#include "model/field_descriptor.hpp"
#include "solver/state/equal_steps.hpp"

namespace sluice {

/// A field of zeros over an x pencil, as its descriptor specifies, in a flow of this order.
inline Field make_field(const FieldDescriptor& descriptor, const Box3& box, Order order) {
  return Field(box, descriptor.location, 0, halo_of(descriptor, order));
}

/// Bytes of such a field.
inline double field_memory(const FieldDescriptor& descriptor, const Box3& box, Order order) {
  return Field::memory(box, 0, halo_of(descriptor, order));
}

/// Three components on their faces.
struct VectorField {
  VectorField(const Box3& box, Order order)
      : u(make_field(base_fields()[0], box, order)),
        v(make_field(base_fields()[1], box, order)),
        w(make_field(base_fields()[2], box, order)) {}

  static double memory(const Box3& box, Order order) { return 3 * field_memory(base_fields()[0], box, order); }

  Field u, v, w;
};

/// A field and its descriptor; F is Field or const Field.
template <class F>
struct Described {
  const FieldDescriptor& descriptor;
  F& field;
};

/// A field that the flow transports.
struct TransportedField {
  FieldDescriptor descriptor;
  Field field;
};

/// The flow at one time, corrected (3) in every cell. Every halo of every field is valid, walls included; of p, only
/// the layer next to the rank's cells is. p is at the middle of the last substep, not at `time`. Made by
/// TimeStepper::make_state. A flow whose last correction may be deferred to the next step is an AdvancingState.
struct State {
  /// A flow at rest. `pressure` provides the pencil; its rows may be padded.
  State(Field pressure, const std::vector<FieldDescriptor>& transported_fields, Order order)
      : velocity(pressure.box(), order), p(std::move(pressure)) {
    for (const FieldDescriptor& descriptor : transported_fields)
      transported.push_back({descriptor, make_field(descriptor, p.box(), order)});
  }

  /// All fields: u, v, w, p, then the transported ones.
  std::vector<Described<Field>> fields() { return fields_of<Field>(*this, true); }
  std::vector<Described<const Field>> fields() const { return fields_of<const Field>(*this, true); }
  /// The fields that a step advances in time: all but p.
  std::vector<Described<Field>> prognostic_fields() { return fields_of<Field>(*this, false); }

  VectorField velocity;
  Field p;
  std::vector<TransportedField> transported;
  double time = 0;
  std::int64_t step = 0;
  EqualSteps equal_steps;  ///< by which TimeStepper::advance sets the time

 private:
  template <class F, class ThisState>
  static std::vector<Described<F>> fields_of(ThisState& state, bool with_pressure) {
    const auto& descriptors = base_fields();
    std::vector<Described<F>> list{
        {descriptors[0], state.velocity.u}, {descriptors[1], state.velocity.v}, {descriptors[2], state.velocity.w}};
    if (with_pressure) list.push_back({descriptors[pressure_field], state.p});
    for (auto& [descriptor, field] : state.transported) list.push_back({descriptor, field});
    return list;
  }
};

}  // namespace sluice
