// The modules sluice._double and _single: what python/sluice is built on. _core.py chooses one; _core.pyi lists what it
// holds, with its types.
#include <mpi.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/decomp/field_copy.hpp"
#include "core/device/memory.hpp"
#include "core/device/together.hpp"
#include "io/case/case_file.hpp"
#include "io/case/yaml_tree.hpp"
#include "io/files/posix_file.hpp"
#include "model/mean_flow.hpp"
#include "python/bindings/case_text.hpp"
#include "python/bindings/ensemble.hpp"
#include "python/bindings/forces.hpp"
#include "python/bindings/initial.hpp"
#include "python/bindings/session.hpp"
#include "python/bindings/together.hpp"
#include "python/bindings/walls.hpp"
#include "solver/physics/terms.hpp"
#include "src/run/mpi_session.hpp"
#include "src/run/provenance.hpp"
#include "src/run/version.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace sluice::python {

void add_statistics(nb::module_& module);  // statistics.cpp

namespace {

using HostArray = nb::ndarray<nb::numpy, real, nb::ndim<3>>;
using ConstHostArray = nb::ndarray<nb::numpy, const real, nb::ndim<3>>;

/// MPI, if this module has started it.
std::optional<MpiSession>& own_mpi() {
  static auto* session = new std::optional<MpiSession>;
  return *session;
}

bool mpi_runs() {
  int started = 0;
  int ended = 0;
  check_mpi(MPI_Initialized(&started), "MPI_Initialized");
  check_mpi(MPI_Finalized(&ended), "MPI_Finalized");
  if (ended != 0) throw Error(ExitCode::usage, "MPI has ended already: no further simulation can start");
  return started != 0;
}

/// `address`: of the handle of an mpi4py communicator; without one all processes, for which MPI is started if need be.
MPI_Comm communicator_at(std::optional<std::uintptr_t> address) {
  const bool runs = mpi_runs();
  if (address && !runs) {
    throw Error(ExitCode::usage, "mpi4py uses another MPI library than Sluice, which was built with " + mpi_library() +
                                     "; install mpi4py for that library: pip install --no-binary mpi4py mpi4py");
  }
  if (!runs) own_mpi().emplace().start();
  return address ? *reinterpret_cast<const MPI_Comm*>(*address) : MPI_COMM_WORLD;  // NOLINT(performance-no-int-to-ptr)
}

/// Keeps the storage of a field for as long as the capsule lives.
nb::capsule holder_of(Field& field) {
  auto holder = std::make_unique<std::shared_ptr<void>>(device::hold(field.buffer().data()));
  return {holder.release(), [](void* held) noexcept { delete static_cast<std::shared_ptr<void>*>(held); }};
}

/// The field's own cells without halo, (nz, ny, nx), in place: an array of the given kind.
template <class Array, class Value>
Array in_place(Field& field, int device_type, int device_index) {
  const View3<real> view = field.view();
  const Box3& box = field.box();
  const auto size = [&](int axis) { return static_cast<std::size_t>(box.extent(axis)); };
  return Array(view.origin, {size(2), size(1), size(0)}, holder_of(field), {view.stride_z, view.stride_y, 1},
               nb::dtype<Value>(), device_type, device_index);
}

/// Values in host memory as an array, which owns them.
template <class Array = HostArray>
Array owned(std::vector<real> values, std::size_t nz, std::size_t ny, std::size_t nx) {
  auto kept = std::make_unique<std::vector<real>>(std::move(values));
  real* const data = kept->data();
  const nb::capsule owner(kept.release(), [](void* held) noexcept { delete static_cast<std::vector<real>*>(held); });
  return {data, {nz, ny, nx}, owner};
}

template <class Array = HostArray>
Array downloaded(const Field& field) {
  const Box3& box = field.box();
  return owned<Array>(download(field), static_cast<std::size_t>(box.extent(2)), static_cast<std::size_t>(box.extent(1)),
                      static_cast<std::size_t>(box.extent(0)));
}

nb::object values(Session& session, const std::string& name) {
  Field& field = session.field(name).field;
  if (device::is_gpu()) return nb::cast(downloaded<ConstHostArray>(field));
  return nb::cast(in_place<ConstHostArray, const real>(field, nb::device::cpu::value, 0));
}

HostArray values_to_change(Session& session, const std::string& name) {
  session.require_between_steps();
  Field& field = session.field(name).field;
  if (device::is_gpu()) return downloaded(field);
  return in_place<HostArray, real>(field, nb::device::cpu::value, 0);
}

/// Takes over an array of values_to_change() after changes to it.
void accept_changes(Session& session, const std::string& name, const nb::ndarray<const real, nb::ndim<3>>& changed) {
  Field& field = session.field(name).field;
  if (device::is_gpu()) {
    const real* const data = changed.data();
    upload(std::vector<real>(data, data + changed.size()), field);
  }
  session.note_change(field);
}

/// After changes to the memory of a field itself.
void note_change(Session& session, const std::string& name) {
  session.note_change(session.field(name).field);
}

nb::object in_device_memory(Session& session, const std::string& name) {
  Field& field = session.field(name).field;
  using Array = nb::ndarray<nb::array_api, const real, nb::ndim<3>>;
  const int type = device::is_gpu() ? nb::device::cuda::value : nb::device::cpu::value;
  return nb::cast(in_place<Array, const real>(field, type, device::is_gpu() ? session.device_index() : 0));
}

/// Address of the first value, strides in bytes along z and y, and what keeps the memory.
nb::tuple device_address(Session& session, const std::string& name) {
  Field& field = session.field(name).field;
  device::synchronize();
  const View3<real> view = field.view();
  constexpr auto bytes = static_cast<std::ptrdiff_t>(sizeof(real));
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(view.origin), view.stride_z * bytes, view.stride_y * bytes,
                        holder_of(field));
}

nb::object gather(Session& session, const std::string& name) {
  std::vector<real> whole = session.gather(name);
  if (whole.empty()) return nb::none();
  const auto& cells = session.simulation().grid.cells();
  return nb::cast(owned(std::move(whole), static_cast<std::size_t>(cells[2]), static_cast<std::size_t>(cells[1]),
                        static_cast<std::size_t>(cells[0])));
}

const char* word_for(Location location) {
  switch (location) {
    case Location::x_face:
      return "x face";
    case Location::y_face:
      return "y face";
    case Location::z_face:
      return "z face";
    default:
      return "centre";
  }
}

/// What does not change during the simulation: long name, units, location, half-open global indices and coordinates
/// along z, y and x.
nb::dict describe(Session& session, const std::string& name) {
  const auto& [descriptor, field] = session.field(name);
  const Box3& box = field.box();
  const auto [z, y, x] = coordinates(session.simulation().grid, descriptor.location, box);
  nb::dict found;
  found["long_name"] = descriptor.long_name;
  found["units"] = descriptor.units;
  found["location"] = word_for(descriptor.location);
  found["begin"] = nb::make_tuple(box.lo[2], box.lo[1], box.lo[0]);
  found["end"] = nb::make_tuple(box.hi[2], box.hi[1], box.hi[0]);
  found["coords"] = nb::make_tuple(z, y, x);
  return found;
}

nb::dict diagnostics(Session& session) {
  const Diagnostics now = session.diagnostics();
  const FlowParameters& flow = session.simulation().flow;
  nb::dict found;
  found["bulk_velocity"] = now.bulk_velocity;
  found["kinetic_energy"] = now.kinetic_energy;
  found["max_divergence"] = now.max_divergence;
  for (const auto& [side, stress] : {std::pair{"bottom", now.stress_bottom}, std::pair{"top", now.stress_top}}) {
    found[("friction_velocity_" + std::string(side)).c_str()] = std::sqrt(std::abs(stress));
    found[("re_tau_" + std::string(side)).c_str()] = re_tau(stress, flow.viscosity);
  }
  nb::dict further;
  for (const auto& [name, value] : now.further) further[name.c_str()] = value;
  nb::dict scalars;
  for (std::size_t n = 0; n < now.scalars.size(); ++n) {
    const Diagnostics::Scalar& scalar = now.scalars[n];
    nb::dict of_scalar;
    of_scalar["mean"] = scalar.mean;
    of_scalar["largest"] = scalar.largest;
    of_scalar["flux_bottom"] = scalar.flux_bottom;
    of_scalar["flux_top"] = scalar.flux_top;
    scalars[flow.scalars.at(n).name.c_str()] = of_scalar;
  }
  found["further"] = further;
  found["scalars"] = scalars;
  return found;
}

std::vector<std::string> field_names(Session& session) {
  std::vector<std::string> names;
  for (const auto& described : session.simulation().state().fields()) names.push_back(described.descriptor.name);
  return names;
}

std::string read_case_text(const std::string& path) {
  return io::read_input(path, "case file", io::max_yaml_bytes);
}

std::string resolved_case(const CaseText& source) {
  return io::resolved_yaml(parse_case(source.text, source.options, MPI_COMM_SELF).settings);
}

/// `output`: a directory instead of that of the case.
CaseText case_text(std::string text, std::string file, std::vector<std::string> settings,
                   const std::optional<std::string>& output = std::nullopt) {
  if (output) settings.push_back("output.directory=" + io::quoted_yaml(*output));
  return {std::move(text), {std::move(file), std::move(settings)}};
}

nb::object class_of(const Error& error) {
  return nb::module_::import_("sluice.errors").attr("class_of_code")(static_cast<int>(error.code()));
}

/// Errors become the classes of sluice.errors, with the arguments of Python in their messages.
void translate(const std::exception_ptr& thrown, void* /*payload*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    PyErr_SetString(class_of(error).ptr(), for_python(error.what()).c_str());
  }
}

/// `count` steps of each session, together: their launches on a GPU are merged. Returns the error that ended each, or
/// None. Another exception is thrown after all have stepped.
nb::list step_together(const std::vector<Session*>& sessions, int count) {
  std::vector<std::function<void()>> steps;
  for (Session* session : sessions) {
    steps.emplace_back([session, count] {
      for (int step = 0; step < count; ++step) session->step();
    });
  }
  nb::list errors;
  for (const std::exception_ptr& thrown : device::try_together(steps)) {
    if (!thrown) {
      errors.append(nb::none());
      continue;
    }
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      errors.append(class_of(error)(for_python(error.what())));
    }
  }
  return errors;
}

void add_session(nb::module_& module) {
  nb::class_<Snapshot>(module, "Snapshot").def_ro("time", &Snapshot::time).def_ro("step_number", &Snapshot::step);
  nb::class_<Session>(module, "Session")
      .def(
          "__init__",
          [](Session* self, std::string text, std::string file, std::vector<std::string> settings,
             std::optional<std::uintptr_t> comm, const std::optional<std::string>& output, std::string restart,
             bool allow_change, bool overwrite) {
            new (self)
                Session(case_text(std::move(text), std::move(file), std::move(settings), output),
                        {output.has_value(), {std::move(restart), allow_change, overwrite, {}}}, communicator_at(comm));
          },
          "text"_a, "file"_a, "settings"_a, "comm"_a.none(), "output"_a.none(), "restart"_a, "allow_change"_a,
          "overwrite"_a)
      .def("begin", &Session::begin)
      .def("close", &Session::close)
      .def("all_close", &Session::all_close, "seconds"_a)
      .def("abort", &Session::abort, "code"_a)
      .def_prop_ro("closed", &Session::closed)
      .def_prop_ro("from_checkpoint", &Session::from_checkpoint)
      .def("require_between_steps", &Session::require_between_steps)
      .def_prop_ro("generation", &Session::generation)
      .def("take_warnings",
           [](Session& session) {
             std::vector<std::string> warnings = session.take_warnings();
             std::ranges::transform(warnings, warnings.begin(), for_python);
             return warnings;
           })
      .def_prop_ro("time", [](Session& session) { return session.simulation().time(); })
      .def_prop_ro("step_number", [](Session& session) { return session.simulation().step(); })
      .def_prop_ro("dt", [](Session& session) { return session.simulation().dt; })
      .def_prop_ro("rank", [](Session& session) { return session.simulation().comm.rank(); })
      .def_prop_ro("size", [](Session& session) { return session.simulation().comm.processes().size(); })
      .def("step", &Session::step)
      .def("at_end", &Session::at_end, "until"_a.none())
      .def("project", &Session::project)
      .def("snapshot", &Session::snapshot)
      .def("restore", &Session::restore, "snapshot"_a)
      .def("diagnostics", diagnostics)
      .def("field_names", field_names)
      .def("describe", describe, "name"_a)
      .def("values", values, "name"_a)
      .def("values_to_change", values_to_change, "name"_a)
      .def("accept_changes", accept_changes, "name"_a, "changed"_a)
      .def("note_change", note_change, "name"_a)
      .def("in_device_memory", in_device_memory, "name"_a)
      .def("device_address", device_address, "name"_a)
      .def("gather", gather, "name"_a);
  module.def("step_together", step_together, "sessions"_a, "count"_a);
}

}  // namespace
}  // namespace sluice::python

// NOLINTNEXTLINE(performance-unnecessary-value-param): of the macro
#ifdef SLUICE_SINGLE
NB_MODULE(_single, module) {
#else
NB_MODULE(_double, module) {
#endif
  using namespace sluice;
  using namespace sluice::python;
  io::introduce(all_physics());
  nb::set_leak_warnings(false);  // objects that live until Python ends are not leaks
  nb::register_exception_translator(translate);
  module.attr("version") = version();
  module.attr("precision") = precision_name;
  module.attr("is_gpu") = device::is_gpu();
  module.attr("cases_directory") = SLUICE_CASES_DIRECTORY;
  module.def("read_case_text", read_case_text, "path"_a);
  module.def("asked_precision", io::asked_precision, "text"_a, "settings"_a);
  module.def(
      "resolved_case",
      [](std::string text, std::string file, std::vector<std::string> settings) {
        return resolved_case(case_text(std::move(text), std::move(file), std::move(settings)));
      },
      "text"_a, "file"_a, "settings"_a);
  module.def("end_mpi", [] {
    end_if_hdf5_is_stuck();
    own_mpi().reset();
  });
  add_case_text(module);
  add_session(module);
  add_ensemble(module);
  add_statistics(module);
  add_forces(module);
  add_initial(module);
  add_together(module);
  add_walls(module);
}
