// timeseries.csv: scalars of the flow over time.
#include "io/files/time_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "core/support/collective.hpp"
#include "model/mean_flow.hpp"
#include "src/outputs/observer.hpp"

namespace sluice {

namespace {

/// Names of the columns that not every case has.
std::vector<std::string> further_columns(const FlowParameters& flow) {
  std::vector<std::string> names;
  for (const NamedValue& value : further_forcing(flow, {})) names.push_back(value.name);
  std::ranges::copy(further_diagnostics(flow), std::back_inserter(names));
  return names;
}

class TimeSeriesObserver : public Observer {
 public:
  explicit TimeSeriesObserver(const RunContext& run) : run_(run), further_(further_columns(run.simulation.flow)) {}

  std::vector<std::string> check_files(const Start& start) override {
    std::vector<std::string> losses;
    run_on_root(run_.simulation.comm.world(), [&] {
      if (start.step > 0 && start.in_directory) losses = check(start);
    });
    return losses;
  }

  void go_back(const Start& start) override {
    // A run that ended off the schedule wrote a final row. A continued run must drop it, because it was never due. The
    // checkpoint knows whether the row of its step was due: the schedule may have changed since.
    const bool was_due = start.in_directory && last_.step == start.step;
    const std::int64_t last_row = was_due || on_schedule(start.step) ? start.step : start.step - 1;
    run_on_root(run_.simulation.comm.world(), [&] {
      file_ = std::make_unique<io::TimeSeries>(run_.path, start.step > 0 ? std::optional(last_row) : std::nullopt,
                                               further_);
      const io::StoredTimeSeries stored = io::read_time_series(run_.path);
      const io::StoredRow* row = stored.last(last_row);
      last_ = row != nullptr ? LastEntry{row->step, row->hash} : LastEntry{};
    });
  }

  /// The last step always writes a row, on schedule or not.
  bool due(const Moment& now) const override {
    if (now.occasion == Occasion::step) return on_schedule(now.step);
    return now.occasion == Occasion::end && now.step > 0 && !on_schedule(now.step);
  }

  void observe(const Moment& now) override {
    const Diagnostics& d = run_.flow.diagnostics();
    const Simulation& s = run_.simulation;
    const double nu = s.flow.viscosity;
    io::TimeSeriesRow row{now.step,
                          now.time,
                          s.dt,
                          s.dt / s.dt_limit,
                          d.bulk_velocity,
                          s.forcing.x,
                          re_tau(d.stress_bottom, nu),
                          re_tau(d.stress_top, nu),
                          d.kinetic_energy,
                          d.max_divergence,
                          {}};
    std::vector<NamedValue> further = further_forcing(s.flow, s.forcing);
    std::ranges::copy(d.further, std::back_inserter(further));
    for (std::size_t n = 0; n < further.size(); ++n) {
      SLUICE_REQUIRE(further[n].name == further_.at(n), "diagnose() and further_diagnostics() must agree");
      row.further.push_back(further[n].value);
    }
    run_on_root(run_.simulation.comm.world(), [&] {
      if (row.step == last_.step)
        return;  // a run that ends where it starts, with a row that an earlier schedule asked for
      const std::int64_t hash = file_->append(row);
      if (on_schedule(row.step)) last_ = {row.step, hash};
    });
  }

  void sync() override {
    run_on_root(run_.simulation.comm.world(), [&] { file_->sync(); });
  }

  void save(io::ValueGroups& checkpoint) const override {
    io::Values values;
    last_.save(values, companion_names::last_row, companion_names::last_row_hash);
    checkpoint.emplace_back(companion_names::time_series_group, std::move(values));
  }

  void restore(const io::CheckpointReader& checkpoint) override {
    last_ = last_row_of(checkpoint).value_or(LastEntry{});
  }

 private:
  /// On rank 0.
  std::vector<std::string> check(const Start& start) const {
    FoundEntry found;
    found.exists = std::filesystem::exists(run_.path);
    std::vector<std::string> losses;
    if (found.exists) {
      const io::StoredTimeSeries stored = io::read_time_series(run_.path);
      io::require_columns(stored, further_, run_.path);
      losses = damaged_rows(stored, start);
      if (const io::StoredRow* last = stored.last(start.step)) found.last = last->step;
      if (const io::StoredRow* row = stored.find(last_.step)) {
        found.has_expected = true;
        found.hash = row->hash;
      }
    }
    std::ranges::move(require_agreement(compare(run_.path, found, last_, start.checkpoint), start),
                      std::back_inserter(losses));
    return losses;
  }

  /// Damaged rows between those that the run keeps. Others are removed anyway.
  std::vector<std::string> damaged_rows(const io::StoredTimeSeries& stored, const Start& start) const {
    std::vector<std::string> losses;
    const io::StoredRow* last = stored.last(start.step);
    for (const io::StoredRow& row : stored.rows) {
      const bool expected = last == nullptr || last->step < last_.step || row.line < last->line;
      if (row.problem.empty() || !expected) continue;
      const std::string sentence =
          fmt::format("{}: the row in line {} is damaged: {}", run_.path, row.line, row.problem);
      const Mismatch loss{Mismatch::Kind::lost, sentence};
      std::ranges::move(require_agreement(loss, start), std::back_inserter(losses));
    }
    return losses;
  }

  bool on_schedule(std::int64_t step) const {
    return step % run_.simulation.settings.output.timeseries_every == 0 || step == 1;
  }

  RunContext run_;
  std::vector<std::string> further_;      ///< names of the further columns
  LastEntry last_;                        ///< last row on schedule, which a restart keeps; valid on rank 0
  std::unique_ptr<io::TimeSeries> file_;  ///< on rank 0
};

}  // namespace

std::unique_ptr<Observer> make_time_series(const RunContext& run) {
  return std::make_unique<TimeSeriesObserver>(run);
}

}  // namespace sluice
