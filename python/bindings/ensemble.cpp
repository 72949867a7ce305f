// The cases and the directory of an ensemble: python/sluice/ensemble.py.
#include "python/bindings/ensemble.hpp"

#include <mpi.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/support/error.hpp"
#include "io/case/ensemble.hpp"
#include "io/case/yaml_tree.hpp"
#include "src/commands/commands.hpp"
#include "src/outputs/ensemble_directory.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace sluice::python {
namespace {

/// What `sluice run` makes of the case of an ensemble, on this process alone. The members themselves are Sessions.
class EnsembleCase {
 public:
  /// Reads the case and those of its members. Throws Error(usage).
  EnsembleCase(const std::string& text, const CaseOptions& options)
      : common_(parse_case(text, options, MPI_COMM_SELF)) {
    if (settings().ensemble.members == 0)
      throw Error(ExitCode::usage,
                  "the case has no ensemble: give its section `ensemble`, or the argument members=...");
    members_ = parse_members(text, options, common_, {}, MPI_COMM_SELF);
  }

  const io::Case& settings() const { return common_.settings; }

  /// Locks and checks the output directory and those of the members, without changes to an earlier ensemble. Returns
  /// warnings. Throws Error(usage) or Error(io).
  std::vector<std::string> claim(const DirectoryOptions& options) {
    std::vector<std::string> warnings = claim_ensemble_directory(options, settings(), lock_);
    const std::vector<std::string> names = io::member_names(settings());
    for (std::size_t n = 0; n < members_.size(); ++n) {
      OutputLock of_member;  // until the member starts
      claim_member_directory(names[n], options, members_[n].settings, of_member);
    }
    return warnings;
  }

  /// Call it before the members begin.
  void take_over() {
    take_over_ensemble_directory(settings());
    requests_.emplace(settings());
  }
  /// Passes the files STOP and CHECKPOINT on to the members.
  void pass_on_requests() {
    if (requests_) requests_->pass_on();
  }
  /// Call it when all members have ended.
  void release() {
    if (requests_) requests_->clear();
    requests_.reset();
    lock_.release();
  }

 private:
  CaseInput common_;
  std::vector<CaseInput> members_;
  OutputLock lock_;
  std::optional<EnsembleRequests> requests_;
};

}  // namespace

void add_ensemble(nb::module_& module) {
  nb::class_<EnsembleCase>(module, "EnsembleCase")
      .def(
          "__init__",
          [](EnsembleCase* self, const std::string& text, std::string file, std::vector<std::string> settings,
             const std::optional<std::string>& output) {
            if (output) settings.push_back("output.directory=" + io::quoted_yaml(*output));
            new (self) EnsembleCase(text, {std::move(file), std::move(settings)});
          },
          "text"_a, "file"_a, "settings"_a, "output"_a.none())
      .def_prop_ro("directory", [](const EnsembleCase& self) { return self.settings().output.directory; })
      .def_prop_ro("names", [](const EnsembleCase& self) { return io::member_names(self.settings()); })
      .def_prop_ro("member_settings", [](const EnsembleCase& self) { return io::member_settings(self.settings()); })
      .def_prop_ro("record", [](const EnsembleCase& self) { return io::ensemble_record(self.settings()); })
      .def(
          "claim",
          [](EnsembleCase& self, std::string restart, bool allow_change, bool overwrite) {
            return self.claim({std::move(restart), allow_change, overwrite, {}});
          },
          "restart"_a, "allow_change"_a, "overwrite"_a)
      .def("take_over", &EnsembleCase::take_over)
      .def("pass_on_requests", &EnsembleCase::pass_on_requests)
      .def("release", &EnsembleCase::release);
}

}  // namespace sluice::python
