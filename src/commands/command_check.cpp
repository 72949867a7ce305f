#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "io/case/case.hpp"
#include "solver/initial.hpp"
#include "solver/physics/terms.hpp"
#include "solver/time_step_limit.hpp"
#include "src/commands/check_ensemble.hpp"
#include "src/commands/check_machine.hpp"
#include "src/commands/check_physics.hpp"
#include "src/commands/commands.hpp"
#include "src/commands/readable.hpp"
#include "src/commands/run_forecast.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/output_needs.hpp"
#include "src/run/formula_check.hpp"
#include "src/run/initial_profile.hpp"
#include "src/run/memory_estimate.hpp"
#include "src/run/resolution_advice.hpp"
#include "src/run/setup.hpp"
#include "src/run/time_step_estimate.hpp"

namespace sluice {

namespace {

/// Refuses formulas that keep the run from its end; returns warnings of others.
std::vector<std::string> require_formulas(const CheckOptions& options, const io::Case& settings, const Grid& grid,
                                          double end) {
  const FormulaFindings found = check_formulas(settings, grid, 0, end);
  std::vector<std::string> faults = found.faults;
  faults.insert(faults.end(), found.failures.begin(), found.failures.end());
  if (!faults.empty())
    throw Error(ExitCode::usage,
                fmt::format("the case {} cannot run to its end at {}time {:.4g}:\n{}", options.input.file,
                            settings.time.end ? "" : "about ", end, fmt::join(faults, "\n")));
  return found.warnings;
}

/// Names the effects on the friction that its estimate leaves out; empty without any, or if the case sets the friction.
std::string not_in_estimate(const FlowParameters& flow) {
  const bool is_set = flow.forcing.kind == ForcingKind::pressure_gradient && mean_operator(flow).factor == 0.0;
  if (is_set || boundary_layer(flow)) return "";
  const auto slips = [](const WallCondition& wall) { return wall.kind == WallKind::slip; };
  std::vector<std::string> effects;
  if (flow.bottom.is_actuated() || flow.top.is_actuated()) effects.emplace_back("actuated walls");
  if (slips(flow.bottom) || slips(flow.top)) effects.emplace_back("slip");
  for (std::string& term : active_terms(flow)) effects.push_back(std::move(term));
  std::string text;
  for (std::size_t n = 0; n < effects.size(); ++n)
    text += (n == 0 ? ", without the effect of " : n + 1 == effects.size() ? " and " : ", ") + effects[n];
  return text;
}

void print_grid(const Grid& grid, const FlowParameters& flow, const io::InitialSpec& initial, Warnings& warnings) {
  const auto& n = grid.cells();
  fmt::print("grid            {} x {} x {} = {:.3f} million points, domain {:.4f} x {:.4f} x {:.4f} h\n", n[0], n[1],
             n[2], static_cast<double>(grid.points()) * 1e-6, grid.length_x(), grid.length_y(), grid.length_z());
  double widest = 0;
  for (std::int64_t k = 0; k < n[2]; ++k) widest = std::max(widest, grid.dz(k));
  fmt::print("spacing         dx {:.4g}  dy {:.4g}  dz {:.4g} (min) to {:.4g} (max)\n", grid.dx(), grid.dy(),
             grid.dz_min(), widest);
  if (flow.periodic_z || print_why_not_turbulent(grid, flow, initial, warnings)) return;

  const TransitionReynolds transition = transition_reynolds(grid, flow);
  if (transition.value < transition.threshold) {
    fmt::print("{:<15} {:.1f}{}: laminar below {:.0f}\n", transition.name, transition.value,
               transition.is_estimate ? " if the flow were turbulent" : "", transition.threshold);
    if (initial.kind == io::InitialKind::turbulent)
      warnings.add(
          "the turbulence of initial.type: turbulent will die out: raise flow.reynolds, or take "
          "initial.type: laminar");
    return;
  }
  if (transition.value < transition.uniform)
    warnings.add(
        fmt::format("turbulence is intermittent at {} = {:.0f}, below {:.0f}: it takes the form of oblique "
                    "bands in large boxes, and may die out in small ones",
                    transition.name, transition.value, transition.uniform));
  const double u_tau = turbulent_profile(grid, flow).friction_velocity;
  const double viscous_length = flow.viscosity / u_tau;
  const std::optional<BoundaryLayer> layer = boundary_layer(flow);
  fmt::print("Re_tau          {:.1f} expected if turbulent (from {}{}; u_tau {:.5f})\n", u_tau / flow.viscosity,
             layer ? layer->friction_law : "the law of the wall", not_in_estimate(flow), u_tau);
  fmt::print("wall units      dx+ {:.2f}  dy+ {:.2f}  dz+ {:.4g} (min) to {:.2f} (max), first centre z+ {:.3g}\n",
             grid.dx() / viscous_length, grid.dy() / viscous_length, grid.dz_min() / viscous_length,
             widest / viscous_length, grid.z_center(0) / viscous_length);
  std::vector<std::string> verdicts;
  for (const Resolution& one : resolutions(grid, flow, viscous_length))
    verdicts.push_back(fmt::format("d{}+{} {} (limit {:.2g})", one.axis, one.place, name(one.verdict()), one.limit));
  fmt::print("resolution      {}\n", fmt::join(verdicts, ", "));
  for (const std::string& advice :
       {resolution_advice(grid, flow, viscous_length), excess_advice(grid, flow, viscous_length)})
    if (!advice.empty()) warnings.add(advice);
}

/// The part of the velocity that the time step depends on and that is not known before the run; empty if none.
std::string unknown_velocity(const io::Case& settings, const Grid& grid) {
  if (settings.time.dt) return "";
  if (settings.flow.periodic_z && settings.initial.kind != io::InitialKind::formula)
    return fmt::format("the velocity of initial.type: {}", io::name(settings.initial.kind));
  const std::string motion = motion_of_terms(settings.flow);
  return motion.empty() || has_mean_flow(grid, settings.flow) ? "" : "the velocity of " + motion;
}

/// Returns the length of the run.
RunLength print_time_step(const io::Case& settings, const Grid& grid, Warnings& warnings) {
  const FlowParameters& flow = settings.flow;
  const ExpectedStep step = expected_step(settings, grid);
  const double limit = step.limit();
  std::string of_terms;
  for (const auto& [name, rate] : step.of_terms) of_terms += fmt::format(", {} alone {:.3e}", name, 1 / rate);
  fmt::print(
      "time step       dt {:.3e} expected ({}), dt_lim {:.3e}: advection alone {:.3e}, diffusion alone {:.3e}{}\n",
      step.dt, settings.time.dt ? "fixed" : fmt::format("cfl {}", *settings.time.cfl), limit, 1 / step.advective,
      1 / step.diffusive, of_terms);
  if (settings.time.dt && flow.diffusion != Diffusion::implicit && step.dt > limit)
    warnings.add("the fixed dt is above dt_lim: the run will probably blow up");
  const std::string unknown = unknown_velocity(settings, grid);
  if (!unknown.empty())
    warnings.add(
        fmt::format("{} is not known before the run: the time step, the number of steps and all that is computed from "
                    "them assume a fluid at rest",
                    unknown));
  if (const auto better = better_diffusion(grid, flow, limit))
    fmt::print(
        "hint            diffusion{} limits the time step: with time.diffusion: {} its limit is {:.2g} times as "
        "large\n",
        *better == Diffusion::implicit_z ? " along z" : "", io::name(*better), gain_of(*better, grid, flow, limit));
  if (const auto advice = grid_velocity_advice(grid, flow))
    fmt::print(
        "hint            the mean flow crosses the grid: with grid.velocity: {:g}, advection is more accurate, and its "
        "limit of the time step {:.2f} times as large\n",
        advice->velocity, advice->factor);
  const RunLength length = expected_length(settings.time, step.dt);
  if (length.to_a_time)
    fmt::print("steps           {} {:.0f} to time {:g}\n", unknown.empty() ? "about" : "at least", length.steps,
               length.time);
  if (!length.to_a_time) fmt::print("steps           {:.0f} to about time {:g}\n", length.steps, length.time);
  return length;
}

void print_samples(const io::Case& settings, const Grid& grid, const RunLength& length, Warnings& warnings) {
  const FlowParameters& flow = settings.flow;
  const io::OutputSpec& output = settings.output;
  const bool turbulent = is_turbulent(grid, flow);
  const double u_tau = turbulent ? turbulent_profile(grid, flow).friction_velocity : 0;
  for (const auto& [name, member, block_bytes] : sampling_needs(settings)) {
    const io::SamplingSpec* sampling = &(output.*member);
    if (!sampling->enabled) continue;
    const SamplingForecast found = forecast(*sampling, length);
    fmt::print("{:<15} about {}, {} of {:g} with {} each", name, count_of(found.samples, "sample"),
               count_of(found.blocks, "block"), sampling->block, readable_size(block_bytes));
    const std::optional<BoundaryLayer> layer = boundary_layer(flow);
    if (layer) fmt::print(": {:.2f} periods 2 pi/f", found.time / layer->period);
    if (turbulent && !layer) fmt::print(": {:.1f} h/u_tau", found.time * u_tau);
    if (turbulent && !layer && found.time > 0 && sampling == &output.statistics) {
      const double percent = 100 * expected_interval(grid, flow, found.time * u_tau);
      fmt::print("{}", percent < 99.5 ? fmt::format("; Re_tau to about +- {:.2g} % (95 % interval)", percent)
                                      : std::string("; too short for an interval of Re_tau"));
    }
    fmt::print("\n");
    if (const PhaseBins& phases = output.statistics_phases; phases.count > 0 && sampling == &output.statistics)
      fmt::print("phases          {} bins of the period {:g} with about {:.3g} samples each\n", phases.count,
                 phases.period, found.samples / static_cast<double>(phases.count));
    const std::string advice = sampling_advice(name, *sampling, length, turbulent ? min_blocks_of_interval : 1);
    if (!advice.empty()) warnings.add(advice);
  }
  if (const double held = blocks_memory(settings, length); held > 0)
    fmt::print("blocks          up to {} of host memory on rank 0 at the end, and in a restart\n", readable_size(held));
  for (const io::ProbeSpec& probe : output.probes) {
    double points = 1;
    for (const auto& [positions, cells] :
         {std::pair(&probe.x, settings.cells[0]), std::pair(&probe.y, settings.cells[1]),
          std::pair(&probe.z, settings.cells[2])})
      points *= static_cast<double>(*positions ? std::ssize(**positions) : cells);
    const double samples = probe_samples(probe, length);
    const OutputNeed need = probe_need(probe, grid, settings.flow, {});
    fmt::print("probe           {}: {:.0f} point(s), about {:.0f} samples, {}, and {} of memory\n", probe.name, points,
               samples, readable_size(need.size * samples), readable_size(need.memory));
    if (samples == 0)
      warnings.add(
          fmt::format("the probe {} takes no sample before the end of the run at time {:g}: take an earlier "
                      "start or a smaller every",
                      probe.name, length.time));
  }
  if (const io::CatalystSpec& catalyst = output.catalyst; catalyst.every > 0)
    fmt::print(
        "catalyst        about {:.0f} calls, whose time is not known, and {} of memory without what scripts use\n",
        std::floor(length.steps / static_cast<double>(catalyst.every)),
        readable_size(catalyst_need(catalyst, grid, settings.flow, {}).memory));
}

/// "about 5 min", "at least 5 min", "less than 1 s" or "not known".
std::string forecast_text(double seconds, bool is_least) {
  if (is_least) return seconds < 1 ? "not known" : "at least " + readable_time(seconds);
  return seconds < 1 ? readable_time(seconds) : "about " + readable_time(seconds);
}

/// "0.49 core-hours"
std::string device_hours(double hours, const std::string& unit) {
  if (hours < 0.01) return fmt::format("less than 0.01 {}-hours", unit);
  return fmt::format("{} {}-hours", hours < 10 ? fmt::format("{:.2g}", hours) : fmt::format("{:.0f}", hours), unit);
}

void print_cost(const io::Case& settings, const Grid& grid, const RunLength& length, const CheckOptions& options,
                Warnings& warnings) {
  const bool is_least = length.to_a_time && !unknown_velocity(settings, grid).empty();
  const double speed = options.speed.value_or(usual_speed(settings.flow, options.ranks));
  const char* unit = !options.machine.empty() ? "device" : device::is_gpu() ? "GPU" : "core";
  const double seconds = length.steps * static_cast<double>(grid.points()) * speed * 1e-9;
  const double hours = seconds * options.ranks / 3600;
  fmt::print("wall time       {}{:.3g} ns per point and step on {}{}{}\n",
             forecast_text(seconds, is_least) + (is_least && seconds < 1 ? "; " : " at "), speed,
             count_of(options.ranks, unit), is_least ? "" : ": " + device_hours(hours, unit),
             options.speed ? "" : " (--speed sets the speed)");
  const OutputTime output = expected_output(settings, grid, length, static_cast<double>(grid.points()) * speed * 1e-9);
  std::vector<std::string> parts;
  for (const auto& [part, time] :
       {std::pair("samples", output.samples), std::pair("blocks", output.blocks),
        std::pair("checkpoints", output.checkpoints), std::pair("other files", output.others)})
    if (time >= 1) parts.push_back(fmt::format("{} {}", part, readable_time(time)));
  fmt::print("output time     {}{}{}\n",
             is_least ? forecast_text(output.total(), true) : "adds " + readable_time(output.total()),
             parts.empty() ? "" : ": ", fmt::join(parts, ", "));
  constexpr double worth_a_warning = 60;  // seconds
  if (output.total() > std::max(seconds, worth_a_warning))
    warnings.add(
        "the output takes longer than the steps: sample, or write blocks, checkpoints, slices, fields and probes, more "
        "rarely");
  if (settings.walltime && seconds + output.total() > *settings.walltime)
    warnings.add(
        fmt::format("the walltime of {} will probably end the run before it is complete: continue with "
                    "--restart auto",
                    readable_time(*settings.walltime)));
  const DiskNeed need = disk_need(settings, grid, length);
  fmt::print("disk            {} at the end: {} {}", readable_size(need.total()), count_of(need.kept, "checkpoint"),
             readable_size(need.checkpoints));
  if (need.samples > 0) fmt::print(", sampled blocks {}", readable_size(need.samples));
  if (need.slices > 0) fmt::print(", {} {}", count_of(need.slice_times, "slice"), readable_size(need.slices));
  if (need.fields > 0) fmt::print(", fields {}", readable_size(need.fields));
  if (need.probes > 0) fmt::print(", probes {}", readable_size(need.probes));
  fmt::print(", time series {}\n", readable_size(need.time_series));
}

void print_decomposition(const io::Case& settings, const Decomposition& decomposition, Warnings& warnings) {
  const ProcessGrid& processes = decomposition.processes();
  const Box3 largest = decomposition.x_pencil(0);
  fmt::print(
      "decomposition   {} process(es) as {} x {} (y x z), {} z blocks of up to {} planes; rank 0 owns {} x {} x {} "
      "cells\n",
      processes.size(), processes.py, processes.pz, decomposition.z_blocks().count(),
      decomposition.z_blocks().longest(), largest.nx(), largest.ny(), largest.nz());
  const double share =
      static_cast<double>(settings.cells[0] * settings.cells[1] * settings.cells[2]) / processes.size();
  const double excess = static_cast<double>(largest.volume()) / share;
  if (excess > 1.1)
    warnings.add(
        fmt::format("rank 0 has {:.0f} % more cells than the mean: choose a number of processes that divides the z "
                    "blocks",
                    100 * (excess - 1)));
}

/// The measurements of a run at its start, if the case leaves a choice.
void print_candidates(const io::Case& settings, int ranks) {
  if (ranks == 1) return;
  std::vector<std::string> grids;
  if (!settings.process_grid) {
    for (const ProcessGrid& grid : process_grids(settings, ranks))
      grids.push_back(fmt::format("{} x {}", grid.py, grid.pz));
  }
  const bool choose_method = std::ranges::any_of(
      ExchangeMethods::kinds(), [&](const auto& kind) { return settings.exchange.*kind.method == "auto"; });
  if (grids.size() <= 1 && !choose_method) return;
  fmt::print("candidates      ");
  if (grids.size() > 1) fmt::print("{}{}", fmt::join(grids, ", "), choose_method ? "; the best of them by " : "");
  if (choose_method) fmt::print("{}", fmt::join(exchange_methods(), ", "));
  fmt::print(" (measured when a run starts, as far as they work between its ranks)\n");
}

void print_memory(const io::Case& settings, const Grid& grid, const Decomposition& decomposition) {
  const FlowParameters& flow = settings.flow;
  const ExchangeMethods& exchange = settings.exchange;
  const OutputNeed output = outputs_need(settings, grid, decomposition.x_pencil(0));
  const std::vector<double> of_ranks = memory_of_ranks(flow, decomposition, exchange);
  const double bytes = std::accumulate(of_ranks.begin(), of_ranks.end(), output.memory);
  const double bytes_on_root = of_ranks.front() + output.own_memory;
  fmt::print("memory          {} in all ({:.1f} bytes per point), {} on rank 0\n", readable_size(bytes),
             bytes / static_cast<double>(grid.points()), readable_size(bytes_on_root));
  const bool beside_steps = writes_beside_steps(settings, decomposition.processes().size(), false);
  fmt::print("checkpoint      {} each{}\n", readable_size(checkpoint_bytes(grid, settings.flow)),
             beside_steps ? ", and as much further host memory during the run" : "");
}

}  // namespace

ExitCode command_check(const CheckOptions& given) {
  const EnsembleInput all = read_ensemble(given.input, {}, MPI_COMM_SELF);
  const Spread spread = spread_of(all.common.settings, given.ranks);
  CheckOptions options = given;
  if (spread.members > 0) options.ranks = 1;
  CaseInput input = spread.members > 0 ? all.members.front() : all.common;
  input.settings.output.directory = all.common.settings.output.directory;
  if (spread.members > 0) input.settings.walltime.reset();  // that of all members, below
  const Grid grid = make_grid(input.settings, input.stretching_text);
  initial_profile(input.settings, grid, MPI_COMM_SELF);  // can its file be read?
  const double end = expected_end(input.settings, grid);
  const std::vector<std::string> of_formulas = require_formulas(options, input.settings, grid, end);
  for (const CaseInput& member : all.members)
    require_formulas(options, member.settings, grid, expected_end(member.settings, grid));
  io::Case settings = input.settings;
  settings.flow = with_typical_forcing(settings.flow, end);
  const FlowParameters& flow = settings.flow;
  std::optional<Machine> machine;
  if (!options.machine.empty()) machine = read_machine(options.machine);
  const ProcessGrid processes =
      machine ? fastest_process_grid(settings, options.ranks, *machine) : choose_process_grid(settings, options.ranks);
  const Decomposition decomposition = machine ? decomposition_on(*machine, settings, processes)
                                              : Decomposition(settings.cells, processes, settings.z_blocks);
  Warnings warnings;
  fmt::print("case            {}\n", settings.title);
  fmt::print("directory       {}\n", settings.output.directory);
  if (spread.members > 0)
    fmt::print("ensemble        {} members; what follows is of the first, on one process\n", spread.members);
  fmt::print("viscosity       {:.6e} (in h and the case's velocity unit)\n", flow.viscosity);
  print_forcing("x", input.settings.flow.forcing, end, warnings);
  print_forcing("y", input.settings.flow.spanwise_forcing, end, warnings);
  print_grid(grid, flow, settings.initial, warnings);
  print_physics(settings, grid, warnings);
  for (const std::string& warning : of_formulas) warnings.add(warning);
  print_decomposition(settings, decomposition, warnings);
  print_candidates(settings, options.ranks);
  print_memory(settings, grid, decomposition);
  const RunLength length = print_time_step(settings, grid, warnings);
  print_samples(settings, grid, length, warnings);
  CheckOptions with_speed = options;
  if (machine) with_speed.speed = print_step_forecast(*machine, settings, grid, decomposition, warnings);
  print_cost(settings, grid, length, with_speed, warnings);
  if (spread.members > 0)
    print_ensemble(spread, settings, grid, decomposition, length, with_speed.speed.value_or(usual_speed(flow, 1)),
                   all.common.settings, warnings);
  fmt::print("The case is valid.{}\n", warnings.count() > 0 ? fmt::format(" Warnings: {}.", warnings.count()) : "");
  return ExitCode::success;
}

}  // namespace sluice
