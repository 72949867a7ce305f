#include "src/outputs/directory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <tuple>
#include <vector>

#include "core/support/error.hpp"
#include "io/case/case_file.hpp"
#include "io/files/checkpoint_directory.hpp"
#include "io/files/hdf5.hpp"
#include "io/files/posix_file.hpp"
#include "io/files/stored_blocks.hpp"
#include "io/files/time_series.hpp"
#include "model/schedule.hpp"
#include "src/outputs/companions.hpp"
#include "src/outputs/run_files.hpp"
#include "src/outputs/sampled_file.hpp"
#include "src/run/output_lock.hpp"
#include "src/run/stop_control.hpp"

namespace sluice {

namespace {

namespace fs = std::filesystem;

class Status {
 public:
  explicit Status(const std::string& directory) : directory_(directory), holder_(lock_holder(directory)) {}

  std::string text() {
    add("directory", directory_);
    guarded([&] { settings_ = io::parse_stored_case(io::read_text(path("resolved.yaml")), path("resolved.yaml")); });
    if (settings_) add("case", settings_->title);
    guarded([&] { add("state", state()); });
    guarded([&] { describe_time_series(); });
    for (const SampledOutput& output : sampled_outputs) {
      guarded([&] { describe_blocks(output); });
      if (output.sampling == statistics_output.sampling) guarded([&] { describe_averages(); });
    }
    std::string checkpoint;
    guarded([&] { checkpoint = describe_checkpoints(); });
    add("to go on", how_to_go_on(checkpoint));
    return text_;
  }

 private:
  void add(const std::string& name, const std::string& what) { text_ += fmt::format("{:<16}{}\n", name, what); }

  /// Reports what cannot be read, and goes on.
  template <class Part>
  void guarded(const Part& part) {
    try {
      part();
    } catch (const std::exception& error) {
      add("warning", error.what());
    }
  }

  std::string path(const std::string& name) const { return (fs::path(directory_) / name).string(); }
  bool exists(const std::string& name) const {
    std::error_code ignored;
    return fs::exists(path(name), ignored);
  }

  std::string state() {
    if (!holder_.empty()) return "in use by " + holder_;
    if (!exists("run.json")) return "not running; killed before its first end, since there is no run.json";
    const auto record = nlohmann::json::parse(io::read_text(path("run.json")), nullptr, false);
    const auto runs = record.is_object() ? record.value("runs", nlohmann::json()) : nlohmann::json();
    const bool has_runs = runs.is_array() && !runs.empty() && runs.back().is_object();
    const std::string why = has_runs ? runs.back().value("why_stopped", "") : "";
    is_accurate_ = why == text_of(StopReason::accuracy);
    return why.empty() ? "not running; run.json is damaged" : "not running; its last recorded end: " + why;
  }

  void describe_time_series() {
    if (!exists("timeseries.csv")) return;
    const io::StoredTimeSeries stored = io::read_time_series(path("timeseries.csv"));
    const io::StoredRow* last = stored.last(std::numeric_limits<std::int64_t>::max());
    if (last == nullptr) return;
    std::vector<double> values;
    std::istringstream row(last->text);
    for (std::string value; std::getline(row, value, ',');) values.push_back(std::strtod(value.c_str(), nullptr));
    constexpr std::size_t time = 1;
    constexpr std::size_t re_tau_bottom = 6;
    if (values.size() <= re_tau_bottom + 1) return;
    time_ = values[time];
    std::string progress = fmt::format("{}, time {:g}", last->step, values[time]);
    if (settings_) {
      const io::TimeSpec& end = settings_->time;
      has_ended_ = (end.end && is_reached(*end.end, values[time])) || (end.steps && last->step >= *end.steps);
    }
    if (settings_ && settings_->time.end && *settings_->time.end > 0) {
      progress += fmt::format(" of {:g} ({:.0f} %)", *settings_->time.end,
                              std::min(100.0, 100 * values[time] / *settings_->time.end));
    } else if (settings_ && settings_->time.steps && *settings_->time.steps > 0) {
      progress += fmt::format("; {:.0f} % of {} steps",
                              100 * static_cast<double>(last->step) / static_cast<double>(*settings_->time.steps),
                              *settings_->time.steps);
    }
    add("step", progress);
    std::vector<std::string> walls;
    for (const auto& [name, wall, column] : {std::tuple("bottom", &FlowParameters::bottom, re_tau_bottom),
                                             std::tuple("top", &FlowParameters::top, re_tau_bottom + 1)})
      if (!settings_ || (settings_->flow.*wall).drags())
        walls.push_back(fmt::format("{:.2f} at the {} wall", values[column], name));
    if (!walls.empty()) add("Re_tau", fmt::format("{}", fmt::join(walls, ", ")));
  }

  void describe_blocks(const SampledOutput& output) {
    if (!exists(output.file)) return;
    const std::vector<StatisticsBlock> blocks = io::read_stored_blocks(path(output.file), io::Sums::skip).blocks;
    if (blocks.empty()) {
      add(output.name, "no complete block yet" + next_block(output, std::nullopt));
      return;
    }
    const double begin = blocks.back().time_begin;
    add(output.name, fmt::format("{} block{} from time {:g} to {:g}, the last closed at step {}{}", blocks.size(),
                                 blocks.size() == 1 ? "" : "s", blocks.front().time_begin, blocks.back().time_end,
                                 blocks.back().step_end, next_block(output, begin)));
  }

  /// When the open block of a run that goes on will be closed. `last`: where the last closed one begins.
  std::string next_block(const SampledOutput& output, std::optional<double> last) const {
    if (!settings_ || holder_.empty()) return "";
    const io::SamplingSpec& sampling = settings_->output.*output.sampling;
    if (!sampling.enabled) return "";
    const Schedule blocks{sampling.block, sampling.start};
    const double number = std::max(last ? blocks.index(*last) + 1 : 0, blocks.index(time_));
    const double next = blocks.due(number + 1);
    const char* which = last ? "next" : "first";
    if (settings_->time.end && !is_reached(next, *settings_->time.end))
      return fmt::format("; the {} would close after the end", which);
    return fmt::format(", the {} closes at time {:g}", which, next);
  }

  void describe_averages() {
    if (!settings_ || !exists(statistics_output.file)) return;
    const Accuracy accuracy = stored_accuracy(path(statistics_output.file), *settings_);
    const KeyFigureValues& values = accuracy.figures.values;
    const auto is_defined = [](double value) { return std::isfinite(value); };
    if (accuracy.blocks == 0 || std::ranges::none_of(values, is_defined)) return;
    const char* intervals = accuracy.figures.laminar ? "without intervals, because the flow is laminar"
                            : accuracy.blocks == 1   ? "without intervals"
                                                     : "with 95 % intervals";
    add("averages", fmt::format("of {}, {}",
                                accuracy.blocks == 1 ? "one block" : fmt::format("the last {} blocks", accuracy.blocks),
                                intervals));
    for (std::size_t n = 0; n < values.size(); ++n)
      if (is_defined(values[n])) add("", figure_text(accuracy, n));
    if (accuracy.limits != AccuracyLimits{}) add("", outlook(accuracy));
  }

  /// Returns the newest intact one.
  std::string describe_checkpoints() {
    std::error_code ignored;
    const std::size_t count = io::numbered_files(path("checkpoints"), "step", ignored).size();
    if (count == 0) {
      add("checkpoints", "none");
      return "";
    }
    const io::NewestIntact newest = io::newest_intact(MPI_COMM_SELF, path("checkpoints"));
    for (const std::string& warning : newest.warnings) add("warning", warning);
    add("checkpoints", newest.path.empty() ? fmt::format("{}, none of them intact", count)
                                           : fmt::format("{}, the newest intact one {}", count, newest.path));
    return newest.path;
  }

  std::string how_to_go_on(const std::string& checkpoint) const {
    if (!holder_.empty()) return fmt::format("it runs; to stop it with a checkpoint: touch {}", path(stop_file_name));
    if (checkpoint.empty()) return "start anew with --overwrite: there is no checkpoint to restart from";
    const std::string command = fmt::format("sluice run CASE.yaml --output {} --restart auto", directory_);
    if (has_ended_) return command + " --set time.end=...: it has reached its end";
    return is_accurate_ ? command + " with a smaller time.until, which it has reached" : command;
  }

  std::string directory_;
  std::string holder_;  ///< empty if no run uses the directory
  std::optional<io::Case> settings_;
  double time_ = 0;           ///< in the last row of the time series
  bool has_ended_ = false;    ///< it has reached time.end or time.steps
  bool is_accurate_ = false;  ///< it has reached time.until
  std::string text_;
};

}  // namespace

std::string directory_status(const std::string& directory) {
  require_results(directory);
  return Status(directory).text();
}

}  // namespace sluice
