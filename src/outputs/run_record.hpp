#pragma once
#include <string>

#include "src/run/simulation.hpp"

namespace sluice {

/// What a run took, for run.json and the log. Wall-clock values: never part of what is bitwise reproducible.
struct RunTimes {
  double start = 0;        ///< wall_seconds() at the start of the program
  double stepping = 0;     ///< seconds in steps
  double output = 0;       ///< seconds in statistics and output
  double checkpoint = 0;   ///< seconds in the last checkpoint
  double memory = 0;       ///< the most device memory that was held, in bytes, all ranks together
  std::int64_t steps = 0;  ///< taken by this process
};

/// run.json: provenance, process grid and exchange method, timings per phase (CPU build), point-steps per second, why
/// it stopped. The file keeps one entry for each start of the run. Text to be written to it, from the text that is
/// there. Local.
std::string run_record(const std::string& previous, const Simulation& simulation, const Tuning& tuning,
                       PhaseTimers& timers, const RunTimes& times, const std::string& why_stopped,
                       const std::string& started_from);

}  // namespace sluice
