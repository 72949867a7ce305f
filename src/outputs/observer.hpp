#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/files/checkpoint_directory.hpp"
#include "io/files/snapshot.hpp"
#include "model/accuracy.hpp"
#include "src/outputs/companions.hpp"
#include "src/outputs/run_log.hpp"
#include "src/outputs/run_record.hpp"
#include "src/run/simulation.hpp"
#include "src/run/watchdog.hpp"

namespace sluice {

class Observers;

/// The flow for observers. Forms expensive quantities at the first request in a step and keeps them for the others.
class FlowView {
 public:
  explicit FlowView(Simulation& simulation) : simulation_(&simulation) {}

  /// The fields, with valid halos; valid until the next step.
  const State& state() { return simulation_->state(); }

  /// Scalars of the flow. Collective. Throws Error(numerics) if the flow has failed: if it is not finite or not free of
  /// divergence, or if no step of it is stable.
  const Diagnostics& diagnostics();

  /// Those formed last, at this step or an earlier one; null before the first. Local.
  const Diagnostics* latest_diagnostics() const { return diagnosed_step_ < 0 ? nullptr : &diagnostics_; }

  /// Call after a change of the flow between two steps. Local.
  void flow_changed() { diagnosed_step_ = -1; }

  /// Simulation::advective_rate. Collective.
  double advective_rate() { return simulation_->advective_rate(); }

  /// Adds a sample of the flow, in arrays that are free between steps. The state stays as it is. Collective.
  void sample(Spectra& spectra);

 private:
  Simulation* simulation_;
  Diagnostics diagnostics_;
  std::int64_t diagnosed_step_ = -1;
};

/// "  Re_tau bottom  196.20 top  202.71" for the walls that exert a shear stress; empty if none does.
std::string friction_text(const FlowParameters& flow, const Diagnostics& diagnostics, int width, int decimals);

/// The occasions to act: after each step; when the user requests a checkpoint; when the run stops.
enum class Occasion { step, request, end };

/// A moment of the run. It determines what is due, with what checkpoints restore and nothing else. All but lines of the
/// log depend on steps and times alone, so that a restarted run writes the same bytes as an uninterrupted one.
struct Moment {
  Occasion occasion = Occasion::step;
  std::int64_t step = 0;
  double time = 0;
  double previous_time = 0;  ///< before the step
  bool first = false;        ///< the first step of this process
  bool line_due = false;     ///< a line of the log, by the wall clock
  bool changed = false;      ///< the flow was changed since the last step and the last checkpoint of it
};

/// The start of a run.
struct Start {
  std::int64_t step = 0;
  std::string checkpoint;     ///< empty: from the initial field
  bool chosen = false;        ///< the user named the checkpoint, so later ones are abandoned
  bool in_directory = false;  ///< the checkpoint is in the output directory, where its run left its other files
  bool allow_change = false;  ///< the user accepts that entries of these files are lost
};

/// Accepts a file that agrees with the checkpoint. If entries are lost and the user accepts that, returns a sentence
/// about it. Throws Error(restart) otherwise.
[[nodiscard]] std::vector<std::string> require_agreement(const Mismatch& mismatch, const Start& start);

/// The data of the run available to an observer. All that it refers to outlives the observer.
struct RunContext {
  const Simulation& simulation;  ///< settings, grid, communicator; use `flow` for the fields
  FlowView& flow;
  RunLog& log;
  RunTimes& times;
  std::optional<Accuracy>& accuracy;  ///< of the statistics, on rank 0; set with time.until
  Observers& observers;
  bool embedded;     ///< code of the user runs in this process
  std::string path;  ///< of the observer's own file or folder, which observers.cpp names
};

/// Whether the observer's file or folder exists. Rank 0 asks its file system: on a network file system, others may not
/// see it yet, and all ranks must make the same observers. Collective.
bool has_files(const RunContext& run);

/// Watches a run and writes output: the log, time series, statistics, slices, checkpoints. A run calls, all
/// collectively: restore, if it starts from a checkpoint; check_files; go_back; then observe for each moment that is
/// due.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  /// Refuses existing files that this run cannot continue. Changes nothing. Returns on rank 0 a sentence for each loss
  /// that the user accepts. Throws Error.
  [[nodiscard]] virtual std::vector<std::string> check_files(const Start& /*start*/) { return {}; }

  /// Restores its files to their state at the start's step: removes what later steps wrote. Checkpoints come first.
  virtual void go_back(const Start& /*start*/) {}

  /// Whether there is something to do at this moment. Local; same result on every rank.
  virtual bool due(const Moment& now) const = 0;

  /// Reads what it needs from the flow and writes it. What rank 0 alone does goes through run_on_root. Collective.
  virtual void observe(const Moment& now) = 0;

  /// Called at the end of the run, after the last checkpoint, to bring files into their final form. Their contents are
  /// on disk already, so an error loses nothing. Collective.
  virtual void finish() {}

  /// Returns when all that was observed is on disk. Called before each checkpoint, which must not be newer. Collective.
  virtual void sync() {}

  /// Adds groups of its own to the values of a checkpoint, the data to continue from; and restores it. All ranks add
  /// the same groups; rank 0's values count. Collective.
  virtual void save(io::ValueGroups& /*checkpoint*/) const {}
  virtual void restore(const io::CheckpointReader& /*checkpoint*/) {}
};

/// The observers of a run, in the order in which they act. All functions are collective; Observer documents them.
class Observers {
 public:
  /// All but the last two arguments must outlive the observers; these set `accuracy`, on rank 0. `embedded`: code of
  /// the user runs in this process.
  Observers(Simulation& simulation, RunLog& log, RunTimes& times, std::optional<Accuracy>& accuracy, Watchdog& watchdog,
            const std::string& directory, bool embedded);

  void restore(const io::CheckpointReader& checkpoint);
  /// Call before go_back. Returns on rank 0 what is lost with the user's consent.
  [[nodiscard]] std::vector<std::string> check_files(const Start& start);
  void go_back(const Start& start);
  /// Whether any observer has something to do at this moment. Local; same result on every rank.
  bool due(const Moment& now) const;
  void observe(const Moment& now);
  void finish();
  void sync();
  void save(io::ValueGroups& checkpoint) const;
  const FlowView& flow() const { return flow_; }
  /// FlowView::flow_changed.
  void flow_changed() { flow_.flow_changed(); }

 private:
  struct Entry {
    std::string name;
    std::string task;  ///< for the watchdog
    std::unique_ptr<Observer> observer;
  };

  Watchdog& watchdog_;
  RunTimes& times_;
  FlowView flow_;
  std::vector<Entry> list_;
};

}  // namespace sluice
