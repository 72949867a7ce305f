// timeseries.csv: scalars of the flow over time.
#include "io/files/time_series.hpp"

#include <filesystem>

#include "core/support/collective.hpp"
#include "src/outputs/observer.hpp"

namespace sluice {

namespace {

constexpr const char* group = "/timeseries";

class TimeSeriesObserver : public Observer {
 public:
  explicit TimeSeriesObserver(const RunContext& run) : run_(run) {}

  void check_files(const Start& start) override {
    run_on_root(run_.simulation.comm.world(), [&] {
      if (start.step == 0 || !std::filesystem::exists(run_.path)) return;
      require_reached({run_.path, io::TimeSeries::last_step(run_.path, start.step), last_scheduled_}, start);
    });
  }

  void go_back(const Start& start) override {
    // A run that ended off the schedule wrote a final row. A continued run must drop it, because it was never due.
    const std::int64_t last_row = on_schedule(start.step) ? start.step : start.step - 1;
    run_on_root(run_.simulation.comm.world(), [&] {
      file_ = std::make_unique<io::TimeSeries>(run_.path, start.step > 0 ? std::optional(last_row) : std::nullopt);
      last_scheduled_ = io::TimeSeries::last_step(run_.path, last_row);
    });
  }

  /// The last step always writes a row, on schedule or not.
  bool due(const Moment& now) const override {
    if (now.occasion == Occasion::step) return on_schedule(now.step);
    return now.occasion == Occasion::end && now.step > 0 && !on_schedule(now.step);
  }

  std::function<void()> observe(const Moment& now) override {
    if (on_schedule(now.step)) last_scheduled_ = now.step;
    const Diagnostics& d = run_.flow.diagnostics();
    const Simulation& s = run_.simulation;
    const double nu = s.flow.viscosity;
    const io::TimeSeriesRow row{now.step,
                                now.time,
                                s.dt,
                                s.dt / s.dt_limit,
                                d.bulk_velocity,
                                s.forcing,
                                re_tau(d.shear_bottom, nu),
                                re_tau(d.shear_top, nu),
                                d.kinetic_energy,
                                d.max_divergence};
    return [this, row] { file_->append(row); };
  }

  void sync() override { file_->sync(); }

  void save(io::CheckpointWriter& checkpoint) const override {
    io::Values values;
    values.set("last_step", last_scheduled_);
    checkpoint.write_values(group, values);
  }

  void restore(const io::CheckpointReader& checkpoint) override {
    if (checkpoint.has_values(group)) last_scheduled_ = checkpoint.values(group).integer("last_step");
  }

 private:
  bool on_schedule(std::int64_t step) const {
    return step % run_.simulation.settings.output.timeseries_every == 0 || step == 1;
  }

  RunContext run_;
  std::int64_t last_scheduled_ = 0;       ///< last row on schedule, which a restart keeps; valid on rank 0
  std::unique_ptr<io::TimeSeries> file_;  ///< on rank 0
};

}  // namespace

std::unique_ptr<Observer> make_time_series(const RunContext& run) {
  return std::make_unique<TimeSeriesObserver>(run);
}

}  // namespace sluice
