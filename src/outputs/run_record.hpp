#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/accuracy.hpp"
#include "src/run/energy_report.hpp"
#include "src/run/simulation.hpp"

namespace sluice {

/// Resources used by a run, for run.json and the log. Wall-clock values, therefore excluded from bitwise
/// reproducibility.
struct RunTimes {
  double start = 0;                       ///< wall_seconds() at the start of the program
  double stepping = 0;                    ///< seconds in steps
  double output = 0;                      ///< seconds in statistics and output; not those beside steps
  std::map<std::string, double> outputs;  ///< seconds in each output, by name
  double checkpoint = 0;                  ///< seconds that writing the last checkpoint took
  double unfinished = 0;                  ///< seconds that a checkpoint which is being written may still take
  double fields = 0;                      ///< seconds in the longest output of fields
  double memory = 0;                      ///< maximum device memory held, in bytes, all ranks together
  double logged = 0;                      ///< wall_seconds() at the last line about a step
  std::int64_t steps = 0;                 ///< taken by this process
  Energy energy;                          ///< from the first of these steps to the end of the last output
  EnergyUse energy_use;
};

/// Where a run began and why it stopped.
struct RunEnds {
  std::string started_from;          ///< "initial field", or the checkpoint
  std::vector<std::string> changes;  ///< of the case since that checkpoint
  std::optional<Accuracy> accuracy;  ///< of the statistics; with time.until
  std::string why_stopped;
};

/// run.json: provenance, process grid and exchange method, timings per phase (CPU build), point-steps per second,
/// energy, why the run stopped and, with time.until, the accuracy of the statistics. The file keeps one entry per start
/// of the run. `previous`: the present text of the file; returns the new one. Local.
std::string run_record(const std::string& previous, Simulation& simulation, const Tuning& tuning, const RunTimes& times,
                       const RunEnds& ends);

}  // namespace sluice
