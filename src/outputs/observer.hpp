#pragma once
#include <functional>
#include <memory>
#include <string>

#include "io/files/checkpoint_reader.hpp"
#include "io/files/checkpoint_writer.hpp"
#include "src/outputs/flow_view.hpp"
#include "src/outputs/run_log.hpp"
#include "src/outputs/run_record.hpp"

namespace sluice {

class Observers;

/// When an observer may act: after each step; when the user asks for a checkpoint; when the run stops.
enum class Occasion { step, request, end };

/// A moment of the run. What is due is a function of it alone, so that a restarted run writes the same bytes as one
/// that was not interrupted.
struct Moment {
  Occasion occasion = Occasion::step;
  std::int64_t step = 0;
  double time = 0;
  double previous_time = 0;  ///< before the step
  bool first = false;        ///< the first step that this process takes
};

/// Where a run begins.
struct Start {
  std::int64_t step = 0;
  std::string checkpoint;  ///< empty: from the initial field
  bool chosen = false;     ///< the checkpoint was named by the user, so later ones are abandoned
};

/// What an observer knows of its run. All of it outlives the observer.
struct RunContext {
  const Simulation& simulation;  ///< settings, grid, communicator; the fields are asked of `flow`
  FlowView& flow;
  RunLog& log;
  RunTimes& times;
  Observers& observers;
  std::string directory;
};

/// Watches a run and writes what it sees: the log, the time series, statistics, slices, checkpoints. A run calls, all
/// collectively: restore, if it begins from a checkpoint; check_files; go_back; then observe for each moment that is
/// due.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  /// Refuses files of an earlier start that this run cannot continue. Changes nothing. Throws Error.
  virtual void check_files(const Start& /*start*/) {}

  /// Brings its files to the state that they had at the start's step: removes what later steps wrote.
  virtual void go_back(const Start& /*start*/) {}

  /// Whether it has something to do at this moment. Local; the same on every rank.
  virtual bool due(const Moment& now) const = 0;

  /// Takes what it needs from the flow, and returns what is left to do on rank 0: to write it. The writing must not
  /// look at the flow nor at anything that a later observe() changes, because it may happen beside later steps. May
  /// return nothing. Collective.
  virtual std::function<void()> observe(const Moment& now) = 0;

  /// Waits until what was written is on the disk; called before a checkpoint, which must not outlive it. On rank 0.
  virtual void sync() {}

  /// Puts into a checkpoint, in groups of its own, what it needs to continue; and takes it out again. Collective.
  virtual void save(io::CheckpointWriter& /*checkpoint*/) const {}
  virtual void restore(const io::CheckpointReader& /*checkpoint*/) {}
};

}  // namespace sluice
