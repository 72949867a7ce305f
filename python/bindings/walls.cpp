// Walls, planes of the flow and mean forces, for python/sluice/walls.py and forcing.py.
#include "python/bindings/walls.hpp"

#include <fmt/format.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/decomp/field_copy.hpp"
#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "model/parameters.hpp"
#include "python/bindings/session.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace sluice::python {
namespace {

/// A plane (ny, nx) of the rank in device memory, which a next read of the same quantity overwrites.
struct DevicePlane {
  Field* field = nullptr;
  std::shared_ptr<void> holder;
  std::int64_t k = 0;  ///< of planes of the flow
  double z = 0;
  int device_index = 0;
  std::pair<std::int64_t, std::int64_t> begin;
  Box3 box;
  Location location = Location::center;
  double dx = 0, dy = 0;

  std::pair<std::size_t, std::size_t> shape() const {
    return {static_cast<std::size_t>(box.extent(1)), static_cast<std::size_t>(box.extent(0))};
  }
  std::vector<double> y() const { return uniform_line(box.lo[1], box.hi[1], location == Location::y_face, dy); }
  std::vector<double> x() const { return uniform_line(box.lo[0], box.hi[0], location == Location::x_face, dx); }
};

DevicePlane device_plane(Session& session, Field& field) {
  DevicePlane plane;
  plane.field = &field;
  plane.holder = device::hold(field.buffer().data());
  plane.device_index = session.device_index();
  plane.begin = {field.box().lo[1], field.box().lo[0]};
  plane.box = field.box();
  plane.location = field.location();
  plane.dx = session.simulation().grid.dx();
  plane.dy = session.simulation().grid.dy();
  return plane;
}

DevicePlane wall_velocity(Session& session, const std::string& side, const std::string& component) {
  DevicePlane plane = device_plane(session, session.walls().velocity(side_of(side), component_of(component)));
  plane.z = side == "bottom" ? 0 : session.simulation().grid.length_z();
  return plane;
}

DevicePlane plane_of_flow(Session& session, const std::string& name, double z) {
  const auto [field, k] = session.walls().plane(name, z);
  DevicePlane plane = device_plane(session, *field);
  const Grid& grid = session.simulation().grid;
  plane.k = k;
  plane.z = field->location() == Location::z_face ? grid.z_nodes()[static_cast<std::size_t>(k) + 1] : grid.z_center(k);
  return plane;
}

nb::capsule holder_of(const DevicePlane& plane) {
  return {new std::shared_ptr<void>(plane.holder),
          [](void* held) noexcept { delete static_cast<std::shared_ptr<void>*>(held); }};
}

/// A copy in host memory.
nb::object values(const DevicePlane& plane) {
  auto kept = std::make_unique<std::vector<real>>(download(*plane.field));
  real* const data = kept->data();
  const nb::capsule owner(kept.release(), [](void* held) noexcept { delete static_cast<std::vector<real>*>(held); });
  return nb::cast(
      nb::ndarray<nb::numpy, const real, nb::ndim<2>>(data, {plane.shape().first, plane.shape().second}, owner));
}

nb::object in_device_memory(const DevicePlane& plane) {
  using Array = nb::ndarray<nb::array_api, const real, nb::ndim<2>>;
  const int type = device::is_gpu() ? nb::device::cuda::value : nb::device::cpu::value;
  const View3<const real> view = std::as_const(*plane.field).view();
  return nb::cast(Array(view.origin, {plane.shape().first, plane.shape().second}, holder_of(plane), {view.stride_y, 1},
                        nb::dtype<real>(), type, device::is_gpu() ? plane.device_index : 0));
}

nb::tuple device_address(const DevicePlane& plane) {
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(plane.field->view().origin), holder_of(plane));
}

/// Of an array in the memory of a GPU that has DLPack alone: its address, shape, whether it is float (of the build) and
/// without gaps, and the number of its GPU.
nb::tuple from_dlpack(const nb::ndarray<nb::ro, nb::device::cuda>& array) {
  nb::list shape;
  bool dense = true;
  std::int64_t stride = 1;
  for (std::size_t n = array.ndim(); n-- > 0;) {
    shape.insert(0, array.shape(n));
    dense = dense && (array.shape(n) == 1 || array.stride(n) == stride);
    stride *= static_cast<std::int64_t>(array.shape(n));
  }
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(array.data()), nb::tuple(shape),
                        array.dtype() == nb::dtype<real>(), dense, array.device_id());
}

/// `function` returns the address of w and whether it is in device memory, or None on processes without the wall.
void set_response(Session& session, const std::string& name, nb::object function, bool remove_mean) {
  session.require_between_steps();
  TimeStepper& stepper = session.simulation().stepper;
  const Walls::Side side = side_of(name);
  if (function.is_none()) return stepper.respond(side, {});
  const auto respond = [&session, function = std::move(function)](const VelocityToCorrect& /*velocity*/,
                                                                  const Metrics& /*metrics*/, Field& w) {
    session.walls().run_response([&] {
      try {
        const auto given = nb::cast<std::optional<std::pair<std::uintptr_t, bool>>>(function());
        if (given) copy_to(w, {given->first, given->second});
      } catch (const nb::python_error& error) {
        throw Error(ExitCode::usage, nb::str(error.value()).c_str());
      }
    });
  };
  stepper.respond(side, respond, remove_mean);
}

std::size_t number_of(const std::string& direction) {
  return direction == "streamwise" ? 0 : 1;
}

nb::tuple forcing(Session& session, const std::string& direction) {
  Simulation& now = session.simulation();
  const ForcingParameters& present = session.forcing(number_of(direction)).parameters();
  const bool none = present.kind == ForcingKind::none;
  return nb::make_tuple(std::string(forcing_words[static_cast<std::size_t>(present.kind)]),
                        none ? 0 : present.value.at_time(now.time()),
                        direction == "streamwise" ? now.forcing.x : now.forcing.y);
}

void set_forcing(Session& session, const std::string& direction, double value) {
  session.set_forcing(number_of(direction), value);
}

}  // namespace

Walls::Side side_of(const std::string& name) {
  if (name == "bottom") return Walls::Side::bottom;
  if (name == "top") return Walls::Side::top;
  throw Error(ExitCode::usage, fmt::format("there is no wall '{}'; there are: bottom, top", name));
}

Location component_of(const std::string& name) {
  if (name == "u") return Location::x_face;
  if (name == "v") return Location::y_face;
  if (name == "w") return Location::z_face;
  throw Error(ExitCode::usage, fmt::format("a wall has the velocities u, v and w, and not '{}'", name));
}

void add_walls(nb::module_& module) {
  nb::class_<DevicePlane>(module, "DevicePlane")
      .def_ro("k", &DevicePlane::k)
      .def_ro("z", &DevicePlane::z)
      .def_prop_ro("y", &DevicePlane::y)
      .def_prop_ro("x", &DevicePlane::x)
      .def_prop_ro("shape", &DevicePlane::shape)
      .def_ro("begin", &DevicePlane::begin)
      .def("values", values)
      .def("in_device_memory", in_device_memory)
      .def("device_address", device_address);
  module.def("wall_names", [](Session& session) {
    return session.simulation().flow.periodic_z ? std::vector<std::string>{}
                                                : std::vector<std::string>{"bottom", "top"};
  });
  module.def("wall_is_here", [](Session& session, const std::string& side) {
    return session.simulation().stepper.walls().owns(side_of(side));
  });
  module.def("plane_shape", [](Session& session) {
    const Box3& box = session.simulation().box();
    return std::pair(box.ny(), box.nx());
  });
  module.def("wall_velocity", wall_velocity);
  module.def("set_wall_velocity", [](Session& session, const std::string& side, const std::string& component,
                                     std::uintptr_t address, bool on_device) {
    return session.walls().set(side_of(side), component_of(component), {address, on_device});
  });
  module.def("require_wall_can_be_set", [](Session& session, const std::string& side, const std::string& component) {
    session.require_between_steps();
    session.simulation().stepper.walls().require_prescribable(side_of(side), component_of(component));
  });
  module.def("wall_mean", [](Session& session, const std::string& side, std::uintptr_t address, bool on_device) {
    return session.walls().mean(side_of(side), {address, on_device});
  });
  module.def("synchronize", device::synchronize);
  module.def("plane_of_flow", plane_of_flow);
  module.def("from_dlpack", from_dlpack);
  module.def("set_response", set_response, nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
  module.def("failed_elsewhere", [](Session& session) { return session.walls().failed_elsewhere(); });
  module.def("device_index", &Session::device_index);
  module.def("forcing", forcing);
  module.def("set_forcing", set_forcing);
}

}  // namespace sluice::python
