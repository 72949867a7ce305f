#pragma once
// The time of a step on many devices, from what was measured on one: docs/forecast.md.
#include <string>
#include <utility>
#include <vector>

#include "core/decomp/decomposition.hpp"
#include "model/parameters.hpp"
#include "src/commands/machine.hpp"

namespace sluice {

struct StepForecast {
  std::vector<std::pair<std::string, double>> phases;  ///< seconds of a step on the slowest rank
  double efficiency = 0;  ///< of a device, against the grid where one was measured to be fastest

  double seconds() const;
};

/// Throws Error(usage) if the machine file lacks a measurement or a link that the run needs.
StepForecast forecast_step(const Machine& machine, const FlowParameters& flow, const Decomposition& decomposition);

/// The same if z lines are solved by this strategy, which need not be the one that the program would choose.
StepForecast forecast_step(const Machine& machine, const FlowParameters& flow, const Decomposition& decomposition,
                           LineStrategy strategy);

/// The parts of the flow that a forecast leaves out, such as rotation: those whose time is not that of moving words.
std::vector<std::string> left_out_of_forecast(const FlowParameters& flow, bool on_gpu);

}  // namespace sluice
