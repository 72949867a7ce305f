// Initial fields that a script gives: python/sluice/initial.py.
#include "python/bindings/initial.hpp"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "core/support/collective.hpp"
#include "python/bindings/session.hpp"
#include "solver/initial.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace sluice::python {
namespace {

/// Cells of the whole grid along z, y and x.
std::array<std::int64_t, 3> cells(Session& session) {
  const auto& [x, y, z] = session.simulation().grid.cells();
  return {z, y, x};
}

std::vector<double> z_centers(Session& session) {
  const Grid& grid = session.simulation().grid;
  std::vector<double> z;
  for (std::int64_t n = 0; n < grid.cells()[2]; ++n) z.push_back(grid.z_center(n));
  return z;
}

/// Throws Error(usage) on all ranks if there is a problem on one. Collective.
void require_on_all(Session& session, const std::string& problem) {
  run_collectively(session.simulation().comm.world(), [&] {
    if (!problem.empty()) throw Error(ExitCode::usage, problem);
  });
}

/// Replaces the initial velocity by that of type turbulent with the mean profile of rank 0, at all cell centres; v may
/// be empty. Seed and amplitude are those of the case. The scalars are those of the case. Collective.
void start_from_profile(Session& session, std::vector<double> u, std::vector<double> v) {
  Simulation& now = session.simulation();
  const MPI_Comm comm = now.comm.world();
  std::vector<std::int64_t> size_of_v{std::ssize(v)};
  broadcast(size_of_v, comm);
  v.resize(static_cast<std::size_t>(size_of_v.front()));
  for (std::vector<double>* profile : {&u, &v})
    check_mpi(MPI_Bcast(profile->data(), static_cast<int>(profile->size()), MPI_DOUBLE, 0, comm),
              "MPI_Bcast of a profile");
  std::vector<Field> scalars;
  for (const TransportedField& scalar : now.state().transported) scalars.push_back(copy_of(scalar.field));
  const io::InitialSpec& initial = now.settings.initial;
  set_turbulent(now.state(), now.stepper, now.grid, now.flow,
                given_profile(now.grid, now.flow, std::move(u), std::move(v)), initial.amplitude, initial.seed, comm);
  for (std::size_t n = 0; n < scalars.size(); ++n) set(now.state().transported[n].field, scalars[n]);
  now.state_replaced();
}

}  // namespace

void add_initial(nb::module_& module) {
  module.def("cells", cells, "session"_a);
  module.def("z_centers", z_centers, "session"_a);
  module.def("require_on_all", require_on_all, "session"_a, "problem"_a);
  module.def("start_from_profile", start_from_profile, "session"_a, "u"_a, "v"_a);
}

}  // namespace sluice::python
