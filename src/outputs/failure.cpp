#include "src/outputs/failure.hpp"

#include <fmt/format.h>

#include "core/support/error.hpp"
#include "solver/extreme.hpp"
#include "src/outputs/checkpoint.hpp"

namespace sluice {

namespace {

/// " in cell (3, 0, 17), x = 0.4, y = 0.1, z = 1.2: u = 7e+05, v = ..., p = ..."
std::string place_text(Simulation& simulation, const Extreme& extreme) {
  const auto [i, j, k] = extreme.cell;
  const Grid& grid = simulation.grid;
  std::string text = fmt::format(" in cell ({}, {}, {}), x = {:.6g}, y = {:.6g}, z = {:.6g}:", i, j, k,
                                 (static_cast<double>(i) + 0.5) * grid.dx(), (static_cast<double>(j) + 0.5) * grid.dy(),
                                 grid.z_center(k));
  const std::vector<double> values = values_in(simulation.state(), extreme.cell, simulation.comm.world());
  const auto fields = simulation.state().fields();
  for (std::size_t n = 0; n < values.size(); ++n)
    text += fmt::format("{} {} = {:.9g}", n > 0 ? "," : "", fields[n].descriptor.name, values[n]);
  return text;
}

/// Where each field is not finite; if all are finite, where the rates are largest.
std::string places(Simulation& simulation) {
  const MPI_Comm comm = simulation.comm.world();
  const State& state = simulation.state();
  std::string text;
  for (const auto& [descriptor, field] : state.fields()) {
    const Extreme extreme = extreme_of(field, comm);
    if (extreme.not_finite == 0) continue;
    text += fmt::format("\n  {} is not finite in {} of {} cells, first{}", descriptor.name, extreme.not_finite,
                        simulation.grid.points(), place_text(simulation, extreme));
  }
  if (!text.empty()) return text;
  const Metrics& metrics = simulation.stepper.metrics();
  const Extreme rate = extreme_rate(state.velocity, metrics, simulation.flow.order, comm);
  const Extreme divergence = extreme_divergence(state.velocity, metrics, simulation.flow.order, comm);
  const char* const formula =
      largest_wavenumber(simulation.flow.order) > 1 ? "7/6 (|u|/dx + |v|/dy) + |w|/dz" : "|u|/dx + |v|/dy + |w|/dz";
  text += fmt::format("\n  {} is largest, {:.6g},{}", formula, rate.value, place_text(simulation, rate));
  text += fmt::format("\n  |div u| is largest, {:.6g},{}", divergence.value, place_text(simulation, divergence));
  return text + "\n  (cells counted from 0; a face value belongs to the cell below it)";
}

std::string places_or_error(Simulation& simulation) {
  try {
    return places(simulation);
  } catch (const Error& error) {
    return std::string("\n  The place is not known: ") + error.what();
  }
}

}  // namespace

std::string describe_failure(Simulation& simulation, const std::string& folder, const std::string& why) {
  const std::string text = places_or_error(simulation);
  try {
    return text + "\n  The fields as they are, for inspection: " + write_failed_state(simulation, folder, why);
  } catch (const Error& error) {
    return text + "\n  The fields could not be written for inspection: " + error.what();
  }
}

}  // namespace sluice
