#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/outputs/observer.hpp"
#include "src/run/watchdog.hpp"

namespace sluice {

/// The observers of a run, in the order in which they act. All functions are collective; Observer documents them.
class Observers {
 public:
  /// All but the last argument must outlive the observers; these set `accuracy`, on rank 0.
  Observers(Simulation& simulation, RunLog& log, RunTimes& times, std::optional<Accuracy>& accuracy, Watchdog& watchdog,
            const std::string& directory);

  void restore(const io::CheckpointReader& checkpoint);
  /// Call before go_back. Returns on rank 0 what is lost with the user's consent.
  std::vector<std::string> check_files(const Start& start);
  void go_back(const Start& start);
  /// Whether any observer has something to do at this moment. Local; same result on every rank.
  bool due(const Moment& now) const;
  void observe(const Moment& now);
  void finish();
  void sync();
  void save(io::CheckpointWriter& checkpoint) const;
  const FlowView& flow() const { return flow_; }

 private:
  struct Entry {
    std::string task;  ///< for the watchdog
    std::unique_ptr<Observer> observer;
  };

  Watchdog& watchdog_;
  FlowView flow_;
  std::vector<Entry> list_;
};

}  // namespace sluice
