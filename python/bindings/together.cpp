// Planes and walls of several sessions, for python/sluice/together.py. The loops of all sessions are issued together,
// and one copy brings all values from the device or to it.
#include "python/bindings/together.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/decomp/field_copy.hpp"
#include "core/device/memory.hpp"
#include "core/device/together.hpp"
#include "python/bindings/session.hpp"
#include "python/bindings/walls.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace sluice::python {
namespace {

using Sessions = std::vector<Session*>;
/// A field and a height, or a velocity and the wall that has it.
using Wanted = std::pair<std::string, std::variant<double, std::string>>;
using GivenPlanes = nb::ndarray<const real, nb::ndim<4>, nb::c_contig, nb::device::cpu>;

/// Planes of sessions, those of the first session first, in device memory.
struct Planes {
  std::size_t each = 0;  ///< planes of a session
  std::size_t ny = 0, nx = 0;
  real* data = nullptr;

  /// Throws Error(usage) unless the planes of all sessions have one shape.
  Planes(const Sessions& sessions, std::size_t planes) : each(planes) {
    const Box3& box = sessions.at(0)->simulation().box();
    const auto differs = [&](Session* session) {
      const Box3& other = session->simulation().box();
      return other.extent(0) != box.extent(0) || other.extent(1) != box.extent(1);
    };
    if (std::ranges::any_of(sessions, differs))
      throw Error(ExitCode::usage, "the simulations have planes of different shapes: read and set them one by one");
    ny = static_cast<std::size_t>(box.extent(1));
    nx = static_cast<std::size_t>(box.extent(0));
    data = sessions.front()->walls().packed(sessions.size() * of_session());
  }

  std::size_t of_session() const { return each * ny * nx; }
  real* at(std::size_t session, std::size_t plane) const { return data + session * of_session() + plane * ny * nx; }
  /// Copies values of the host there.
  void take(const Sessions& sessions, const GivenPlanes& values) const {
    SLUICE_REQUIRE(
        values.shape(0) == sessions.size() && values.shape(1) == each && values.shape(2) == ny && values.shape(3) == nx,
        "a plane for each session and wall");
    device::copy(data, values.data(), sessions.size() * of_session() * sizeof(real));
  }
};

void run_for_each(const Sessions& sessions, const std::function<void(Session& session, std::size_t number)>& action) {
  std::vector<std::function<void()>> tasks;
  for (std::size_t n = 0; n < sessions.size(); ++n) tasks.emplace_back([&, n] { action(*sessions[n], n); });
  device::run_together(tasks);
}

const Field& plane_of(Session& session, const Wanted& wanted) {
  if (const auto* const z = std::get_if<double>(&wanted.second)) return *session.walls().plane(wanted.first, *z).first;
  return session.walls().velocity(side_of(std::get<std::string>(wanted.second)), component_of(wanted.first));
}

/// (sessions, planes, ny, nx) in host memory.
nb::object read_together(const Sessions& sessions, const std::vector<Wanted>& wanted) {
  const Planes planes(sessions, wanted.size());
  run_for_each(sessions, [&](Session& session, std::size_t number) {
    std::vector<const Field*> found;
    for (const Wanted& one : wanted) found.push_back(&plane_of(session, one));
    const device::Independent copies;
    for (std::size_t n = 0; n < found.size(); ++n) pack(*found[n], planes.at(number, n));
  });
  const std::size_t size = sessions.size() * planes.of_session();
  auto kept = std::make_unique_for_overwrite<real[]>(size);
  real* const data = kept.get();
  device::copy(data, planes.data, size * sizeof(real));
  const nb::capsule owner(kept.release(), [](void* held) noexcept { delete[] static_cast<real*>(held); });
  using Array = nb::ndarray<nb::numpy, real, nb::ndim<4>>;
  return nb::cast(Array(data, {sessions.size(), planes.each, planes.ny, planes.nx}, owner));
}

/// Sets the next velocity of walls, each a component and the name of a wall, to finite values.
void set_walls_together(const Sessions& sessions, const std::vector<std::pair<std::string, std::string>>& walls,
                        const GivenPlanes& values) {
  for (Session* session : sessions)
    for (const auto& [component, side] : walls)
      session->walls().require_settable(side_of(side), component_of(component));
  const Planes planes(sessions, walls.size());
  planes.take(sessions, values);
  run_for_each(sessions, [&](Session& session, std::size_t number) {
    for (std::size_t n = 0; n < walls.size(); ++n)
      unpack(planes.at(number, n),
             session.walls().next_velocity(side_of(walls[n].second), component_of(walls[n].first)));
  });
}

/// Means over walls of a plane for each, (sessions, walls): those of WallAccess::mean.
std::vector<std::vector<double>> wall_means(const Sessions& sessions, const std::vector<std::string>& sides,
                                            const GivenPlanes& values) {
  const Planes planes(sessions, sides.size());
  planes.take(sessions, values);
  std::vector means(sessions.size(), std::vector<double>(sides.size()));
  run_for_each(sessions, [&](Session& session, std::size_t number) {
    for (std::size_t n = 0; n < sides.size(); ++n) {
      unpack(planes.at(number, n), session.walls().scratch());
      means[number][n] = session.walls().mean_of_scratch(side_of(sides[n]));
    }
  });
  return means;
}

}  // namespace

void add_together(nb::module_& module) {
  module.def("read_together", read_together, "sessions"_a, "planes"_a);
  module.def("set_walls_together", set_walls_together, "sessions"_a, "walls"_a, "values"_a);
  module.def("wall_means", wall_means, "sessions"_a, "sides"_a, "values"_a);
}

}  // namespace sluice::python
