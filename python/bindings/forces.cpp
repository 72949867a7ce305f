// Forces and sources of scalars that a script gives: python/sluice/forces.py.
#include "python/bindings/forces.hpp"

#include <fmt/format.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/decomp/field_copy.hpp"
#include "core/device/memory.hpp"
#include "python/bindings/session.hpp"
#include "solver/physics/given_force.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace sluice::python {
namespace {

using AnyArray = nb::ndarray<nb::ro, nb::ndim<3>>;

/// A force or a source in a session, which outlives it. `values` of its components: three, or one.
class Given {
 public:
  Given(Session& session, std::shared_ptr<GivenForce> force) : session_(&session), force_(std::move(force)) {
    session.require_between_steps();
    for (std::size_t axis = 0; axis < 3; ++axis) components_.push_back(&force_->component(axis));
    session.simulation().state();  // the last correction may be pending
    session.simulation().stepper.add(force_);
  }
  Given(Session& session, std::size_t scalar, std::shared_ptr<GivenSource> source)
      : session_(&session), source_(std::move(source)), components_{&source_->values()} {
    session.require_between_steps();
    session.simulation().state();
    session.simulation().stepper.add_source(scalar, source_);
  }

  void remove() {
    if (!acts()) return;
    session_->require_between_steps();
    acts_ = false;
    Simulation& simulation = session_->simulation();
    simulation.state();
    if (force_)
      simulation.stepper.remove(*force_);
    else
      simulation.stepper.remove_source(*source_);
  }
  bool acts() const { return acts_ && !session_->closed(); }

  /// Throws Error(usage) while a response of a wall runs, and on other threads.
  GivenValues& component(std::size_t n) const {
    if (!session_->closed()) session_->require_between_steps();
    return *components_.at(n);
  }
  Session& session() const { return *session_; }

 private:
  Session* session_;
  std::shared_ptr<GivenForce> force_;
  std::shared_ptr<GivenSource> source_;
  std::vector<GivenValues*> components_;
  bool acts_ = true;
};

Given make_force(Session& session) {
  Simulation& simulation = session.simulation();
  return {session, std::make_shared<GivenForce>(simulation.grid, simulation.box())};
}

Given make_source(Session& session, const std::string& name) {
  Simulation& simulation = session.simulation();
  const auto& scalars = simulation.flow.scalars;
  const auto found = std::ranges::find(scalars, name, &ScalarParameters::name);
  if (found == scalars.end()) throw Error(ExitCode::usage, fmt::format("there is no scalar '{}'", name));
  return {session, static_cast<std::size_t>(found - scalars.begin()),
          std::make_shared<GivenSource>(simulation.grid, simulation.box())};
}

/// Functions that set values return why they cannot be used; empty if they can.
std::string set_formula(const Given& given, std::size_t component, const std::string& text) {
  Formula formula;
  try {
    formula = Formula::parse(text, "xyzt");
  } catch (const FormulaError& error) {
    throw Error(ExitCode::usage,
                fmt::format("\"{}\" is not a formula: at character {}, {}", text, error.position + 1, error.what()));
  }
  const double time = given.session().simulation().time();
  if (given.component(component).set(formula, time)) return {};
  return fmt::format("\"{}\" is not finite everywhere at time {:g}", text, time);
}

std::string set_number(const Given& given, std::size_t component, double value) {
  return given.component(component).set(Formula(value), 0) ? "" : "the number is not finite";
}

template <class T>
std::string set_strided(const Given& given, std::size_t component, const StridedArray<T>& array) {
  return given.component(component).set(array) ? "" : "a value is not finite";
}

/// Contiguous values in host memory, for a GPU build.
template <class T>
std::string set_from_host(const Given& given, std::size_t component, const AnyArray& array) {
  const T* const data = static_cast<const T*>(array.data());
  const Buffer<T> copy(std::vector<T>(data, data + array.size()));
  const Box3& box = given.component(component).box();
  return set_strided<T>(given, component, {copy.data(), {1, box.extent(0), box.extent(0) * box.extent(1)}});
}

template <class T>
std::string set_typed(const Given& given, std::size_t component, const AnyArray& array) {
  const bool on_host = array.device_type() == nb::device::cpu::value;
  if (device::is_gpu() && on_host) return set_from_host<T>(given, component, array);
  if (!device::is_gpu() && !on_host) return "the array is on a GPU, but this build of Sluice runs on CPUs";
  if (array.device_type() == nb::device::cuda::value && array.device_id() != given.session().device_index())
    return fmt::format("the array is on GPU {}, the simulation on GPU {}", array.device_id(),
                       given.session().device_index());
  device::synchronize();  // whichever stream fills the array
  return set_strided<T>(given, component,
                        {static_cast<const T*>(array.data()), {array.stride(2), array.stride(1), array.stride(0)}});
}

/// An array (nz, ny, nx) of the shape of the part: in the memory of the device with any strides, or contiguous.
std::string set_array(const Given& given, std::size_t component, const AnyArray& array) {
  if (array.dtype() == nb::dtype<double>()) return set_typed<double>(given, component, array);
  if (array.dtype() == nb::dtype<float>()) return set_typed<float>(given, component, array);
  return "the array must have numbers of type float32 or float64";
}

/// The same for memory of the GPU at an address. strides: along z, y and x, in bytes.
std::string set_memory(const Given& given, std::size_t component, std::uintptr_t address,
                       std::array<std::ptrdiff_t, 3> strides, bool is_double) {
  device::synchronize();  // whichever stream fills the array
  const auto set_as = [&]<class T>(const T* data) {
    constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(T));
    return set_strided<T>(given, component, {data, {strides[2] / size, strides[1] / size, strides[0] / size}});
  };
  if (is_double) return set_as(reinterpret_cast<const double*>(address));  // NOLINT(performance-no-int-to-ptr)
  return set_as(reinterpret_cast<const float*>(address));                  // NOLINT(performance-no-int-to-ptr)
}

/// The text of a formula, a number, a copy of an array, or None.
nb::object value_of(const Given& given, std::size_t component) {
  const GivenValues& values = given.component(component);
  if (values.formula())
    return values.formula()->is_constant() ? nb::cast(values.formula()->constant())
                                           : nb::cast(values.formula()->text());
  if (!values.array()) return nb::none();
  const Box3& box = values.box();
  auto kept = std::make_unique<std::vector<real>>(download(*values.array()));
  real* const data = kept->data();
  const nb::capsule owner(kept.release(), [](void* held) noexcept { delete static_cast<std::vector<real>*>(held); });
  const auto size = [&](int axis) { return static_cast<std::size_t>(box.extent(axis)); };
  return nb::cast(nb::ndarray<nb::numpy, real, nb::ndim<3>>(data, {size(2), size(1), size(0)}, owner));
}

bool is_array(const Given& given, std::size_t component) {
  return given.component(component).array().has_value();
}

}  // namespace

void add_forces(nb::module_& module) {
  nb::class_<Given>(module, "Given")
      .def("remove", &Given::remove)
      .def_prop_ro("acts", &Given::acts)
      .def("set_formula", set_formula, "component"_a, "text"_a)
      .def("set_number", set_number, "component"_a, "value"_a)
      .def("set_array", set_array, "component"_a, "array"_a)
      .def("set_memory", set_memory, "component"_a, "address"_a, "strides"_a, "is_double"_a)
      .def(
          "set_none", [](const Given& given, std::size_t component) { given.component(component).remove(); },
          "component"_a)
      .def("is_array", is_array, "component"_a)
      .def("value", value_of, "component"_a);
  module.def("add_force", make_force, "session"_a, nb::keep_alive<0, 1>());
  module.def("add_source", make_source, "session"_a, "scalar"_a, nb::keep_alive<0, 1>());
}

}  // namespace sluice::python
