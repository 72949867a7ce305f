#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <cmath>

#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/support/collective.hpp"
#include "solver/initial.hpp"
#include "solver/statistics/densities.hpp"
#include "solver/statistics/spectra.hpp"
#include "solver/time_step_limit.hpp"
#include "src/commands/case_input.hpp"
#include "src/outputs/checkpoint.hpp"
#include "src/outputs/fields.hpp"
#include "src/outputs/probes.hpp"
#include "src/run/memory_estimate.hpp"
#include "src/run/resolution_advice.hpp"
#include "src/run/setup.hpp"
#include "src/run/time_step_advice.hpp"
#include "src/run/time_step_estimate.hpp"

namespace sluice {

namespace {

void print_grid(const Grid& grid, const FlowParameters& flow) {
  const auto& n = grid.cells();
  fmt::print("grid            {} x {} x {} = {:.3f} million points, domain {:.4f} x {:.4f} x {:.4f} h\n", n[0], n[1],
             n[2], static_cast<double>(grid.points()) * 1e-6, grid.length_x(), grid.length_y(), grid.length_z());
  double widest = 0;
  for (std::int64_t k = 0; k < n[2]; ++k) widest = std::max(widest, grid.dz(k));
  fmt::print("spacing         dx {:.5f}  dy {:.5f}  dz {:.6f} (min) to {:.5f} (max)\n", grid.dx(), grid.dy(),
             grid.dz_min(), widest);

  if (!is_turbulent(grid, flow)) {
    fmt::print("Re_tau          below {:.0f}: the flow is laminar\n", lowest_turbulent_re_tau);
    return;
  }
  const double u_tau = turbulent_profile(grid, flow).friction_velocity;
  const double viscous_length = flow.viscosity / u_tau;
  fmt::print("Re_tau          {:.1f} expected if turbulent (from the law of the wall; u_tau {:.5f})\n",
             u_tau / flow.viscosity, u_tau);
  fmt::print("wall units      dx+ {:.2f}  dy+ {:.2f}  dz+ {:.3f} (min) to {:.2f} (max), first centre z+ {:.3f}\n",
             grid.dx() / viscous_length, grid.dy() / viscous_length, grid.dz_min() / viscous_length,
             widest / viscous_length, grid.z_center(0) / viscous_length);
  const std::string advice = resolution_advice(grid, flow.order, viscous_length);
  if (!advice.empty()) fmt::print("warning         {}\n", advice);
}

std::string readable_size(double bytes) {
  constexpr double gibi = 1073741824;
  constexpr double mebi = 1048576;
  return bytes < gibi ? fmt::format("{:.1f} MiB", bytes / mebi) : fmt::format("{:.2f} GiB", bytes / gibi);
}

/// `steps`, `time`: of the whole run, expected.
void print_fields(const io::Case& settings, const Grid& grid, double time) {
  for (const io::FieldsSpec& fields : settings.output.fields) {
    const double files = std::max(0.0, std::floor((time - fields.start) / fields.every));
    const FieldsNeed need = fields_need(fields, grid, {});
    fmt::print("fields          {}: about {:.0f} files of {}, {} in all, and {} of memory\n", fields.name, files,
               readable_size(need.file), readable_size(need.file * files), readable_size(need.memory));
  }
}

void print_probes(const io::Case& settings, const Grid& grid, double steps, double time) {
  for (const io::ProbeSpec& probe : settings.output.probes) {
    double points = 1;
    for (const auto& [positions, cells] :
         {std::pair(&probe.x, settings.cells[0]), std::pair(&probe.y, settings.cells[1]),
          std::pair(&probe.z, settings.cells[2])})
      points *= static_cast<double>(*positions ? std::ssize(**positions) : cells);
    const double sampled_steps = time > 0 ? steps * std::max(0.0, 1 - probe.start / time) : 0;
    const double samples = std::floor(sampled_steps / static_cast<double>(probe.every));
    const ProbeNeed need = probe_need(probe, grid, {});
    fmt::print("probe           {}: {:.0f} point(s), about {:.0f} samples, {}, and {} of memory\n", probe.name, points,
               samples, readable_size(need.sample * samples), readable_size(need.memory));
  }
}

void print_time_step(const io::Case& settings, const Grid& grid, const FlowParameters& flow) {
  const double advective = expected_advective_rate(grid, flow);
  const double diffusive = diffusive_rate(grid, flow, transport_equations(flow));
  const double limit = 1 / (advective + diffusive);
  double dt = settings.time.dt ? *settings.time.dt : settings.time.cfl.value_or(0) * limit;
  if (settings.time.dt_max) dt = std::min(dt, *settings.time.dt_max);
  fmt::print("time step       dt {:.3e} expected ({}), dt_lim {:.3e}: advection alone {:.3e}, diffusion alone {:.3e}\n",
             dt, settings.time.dt ? "fixed" : fmt::format("cfl {}", *settings.time.cfl), limit, 1 / advective,
             1 / diffusive);
  if (settings.time.dt && dt > limit)
    fmt::print("warning         the fixed dt is above dt_lim: the run will probably blow up\n");
  if (is_limited_by_z_diffusion(grid, flow, limit))
    fmt::print(
        "hint            diffusion along z limits the time step: time.diffusion: implicit_z allows a longer one\n");
  if (const auto advice = grid_velocity_advice(grid, flow))
    fmt::print(
        "hint            the mean flow crosses the grid: with grid.velocity: {:g}, advection is more accurate, and its "
        "limit of the time step {:.2f} times as large\n",
        advice->velocity, advice->factor);
  const double steps =
      settings.time.end ? std::ceil(*settings.time.end / dt) : static_cast<double>(settings.time.steps.value_or(0));
  const double time = settings.time.end.value_or(dt * steps);
  if (settings.time.end) fmt::print("steps           about {:.0f} to time {:g}\n", steps, time);
  if (settings.time.steps) fmt::print("steps           {} to about time {:g}\n", *settings.time.steps, time);
  print_probes(settings, grid, steps, time);
  print_fields(settings, grid, time);
}

void print_decomposition(const io::Case& settings, const Decomposition& decomposition) {
  const ProcessGrid& processes = decomposition.processes();
  const Box3 largest = decomposition.x_pencil(0);
  fmt::print(
      "decomposition   {} process(es) as {} x {} (y x z), {} z blocks of up to {} planes; rank 0 owns {} x {} x {} "
      "cells\n",
      processes.size(), processes.py, processes.pz, settings.z_blocks, decomposition.z_blocks().longest(), largest.nx(),
      largest.ny(), largest.nz());
  const double share =
      static_cast<double>(settings.cells[0] * settings.cells[1] * settings.cells[2]) / processes.size();
  const double excess = static_cast<double>(largest.volume()) / share;
  if (excess > 1.1)
    fmt::print(
        "warning         rank 0 has {:.0f} % more cells than the mean: choose a number of processes that divides the z "
        "blocks\n",
        100 * (excess - 1));
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
  double bytes = step_memory(grid, flow, decomposition, exchange);
  double bytes_on_root = rank_memory(grid, flow, decomposition, exchange, 0);
  for (const io::ProbeSpec& probe : settings.output.probes) {
    const ProbeNeed need = probe_need(probe, grid, decomposition.x_pencil(0));
    bytes += need.memory;
    bytes_on_root += need.own_memory;
  }
  double for_fields = 0;
  double for_fields_on_root = 0;
  for (const io::FieldsSpec& fields : settings.output.fields) {
    const FieldsNeed need = fields_need(fields, grid, decomposition.x_pencil(0));
    for_fields = std::max(for_fields, need.memory);
    for_fields_on_root = std::max(for_fields_on_root, need.own_memory);
  }
  bytes += for_fields;
  bytes_on_root += for_fields_on_root;
  fmt::print("memory          {} in all ({:.1f} bytes per point), {} on rank 0\n", readable_size(bytes),
             bytes / static_cast<double>(grid.points()), readable_size(bytes_on_root));
  fmt::print("checkpoint      {} each\n", readable_size(checkpoint_bytes(grid)));
  const auto print_block = [](const char* name, const io::SamplingSpec& sampling, double size) {
    if (sampling.enabled) fmt::print("{:<15} {} a block\n", name, readable_size(size));
  };
  const io::OutputSpec& output = settings.output;
  print_block("spectra", output.spectra, Spectra::block_bytes(grid.cells(), output.spectra.heights.size()));
  print_block("densities", output.densities, Densities::block_bytes(grid.cells(), output.densities.heights.size()));
}

}  // namespace

ExitCode command_check(const CheckOptions& options) {
  const CaseInput input = read_case(options.input, MPI_COMM_WORLD);
  run_on_root(MPI_COMM_WORLD, [&] {
    const io::Case& settings = input.settings;
    const Grid grid = make_grid(settings, input.stretching_text);
    const FlowParameters& flow = settings.flow;
    const Decomposition decomposition(settings.cells, choose_process_grid(settings, options.ranks), settings.z_blocks);
    fmt::print("case            {}\n", settings.title);
    fmt::print("viscosity       {:.6e} (in h and the case's velocity unit)\n", flow.viscosity);
    print_grid(grid, flow);
    print_decomposition(settings, decomposition);
    print_candidates(settings, options.ranks);
    print_memory(settings, grid, decomposition);
    print_time_step(settings, grid, flow);
    fmt::print("The case is valid.\n");
  });
  return ExitCode::success;
}

}  // namespace sluice
