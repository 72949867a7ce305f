#pragma once
// What `sluice verify` does: it verifies the files of an output directory, each kind by itself, and compares them with
// the intact checkpoints. directory_report.cpp calls the parts in order; the parts for slices, probes and fields are in
// verify_series.cpp.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/case/case.hpp"
#include "io/files/grid_lines.hpp"
#include "io/files/hdf5.hpp"
#include "src/outputs/companions.hpp"
#include "src/outputs/directory.hpp"
#include "src/outputs/observer.hpp"

namespace sluice {

/// What the other files are compared with.
struct IntactCheckpoint {
  std::string path;
  std::int64_t step = 0;
  double time = 0;
  bool single = false;
  io::GridLines grid;
  io::Case settings;
  Companions expected;
  bool has_all = true;  ///< the files that it expects are there and can be read
};

class Verifier {
 public:
  explicit Verifier(const std::string& directory) { report_.directory = directory; }

  DirectoryReport run();

 private:
  void require_results() const;
  void verify_checkpoints();
  void compare_checkpoint(FileReport& report, const std::string& file, std::int64_t step);
  void verify_resolved_case();
  /// run.json is written when a run ends.
  void verify_record();
  void verify_time_series();
  void verify_sampled(const SampledOutput& output);
  void compare_statistics(FileReport& report, const io::h5::File& file) const;

  void verify_fields();

  /// Slices or probes, the growing files in a folder.
  using ExpectedSeries = std::map<std::string, LastEntry> Companions::*;
  void verify_all_series(const std::string& folder, const ExpectedSeries& expected);
  void verify_series(const std::string& folder, const std::string& name, const ExpectedSeries& entries);
  /// Verifies the name and the order of a part, and appends the step and the hash of each of its samples.
  static void compare_part(FileReport& report, const std::string& part, const std::string& name, std::int64_t first,
                           std::vector<std::pair<std::int64_t, std::int64_t>>& samples);
  /// Compares the file that joins the parts with their number of samples.
  void compare_index(FileReport& report, const std::string& folder, std::int64_t samples) const;

  /// Compares a file with what each checkpoint expects of it, and reports the newest disagreement.
  void compare_with_checkpoints(FileReport& report,
                                const std::function<std::optional<LastEntry>(const IntactCheckpoint&)>& expected,
                                const std::function<FoundEntry(const IntactCheckpoint&, std::int64_t)>& find,
                                const std::function<std::string(std::int64_t)>& name = {});
  void list_leftovers();

  std::string path(const std::string& name) const { return (std::filesystem::path(report_.directory) / name).string(); }
  bool running() const { return !report_.holder.empty(); }
  bool exists(const std::string& name) const;
  /// Runs a part of the verification. Whatever it throws is a problem of the file.
  static void guarded(FileReport& file, const std::function<void()>& part);
  static void add_problem(FileReport& file, const std::string& problem);
  /// The problems of an HDF5 file itself.
  static bool is_intact(FileReport& report, const std::string& file);
  /// A file cannot be read: no restart goes on from a checkpoint that expects it.
  void rule_out(const std::function<std::optional<LastEntry>(const IntactCheckpoint&)>& expected);
  /// A file that is neither there nor expected is not listed.
  void add(FileReport&& report, bool there);

  DirectoryReport report_;
  std::vector<IntactCheckpoint> checkpoints_;  ///< in order of step
};

}  // namespace sluice
