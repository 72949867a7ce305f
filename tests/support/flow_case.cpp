#include "tests/support/flow_case.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/support/random.hpp"
#include "solver/grid/stretching.hpp"
#include "solver/initial.hpp"

namespace sluice::test {

namespace {

Grid grid_of(const FlowCase& settings) {
  return Grid(settings.cells, settings.length_x, settings.length_y,
              settings.z_nodes.empty() ? uniform_nodes(settings.cells[2], 2) : settings.z_nodes,
              settings.grid_velocity);
}

int blocks_of(const FlowCase& settings) {
  return settings.z_blocks > 0 ? settings.z_blocks : ZBlocks::default_count(settings.cells[2]);
}

void print(const std::string& line) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) std::printf("  %s\n", line.c_str());
}

void check(bool holds, const std::string& line, const std::source_location& where) {
  print(line);
  if (!holds) ADD_FAILURE_AT(where.file_name(), static_cast<int>(where.line())) << line;
}

}  // namespace

Flow::Flow(const FlowCase& case_settings, MPI_Comm world)
    : settings(case_settings),
      comm(world, settings.processes),
      grid(grid_of(settings)),
      decomposition(settings.cells, settings.processes, blocks_of(settings)),
      exchanges(settings.exchange, world),
      stepper(comm, decomposition, grid, settings.flow, exchanges.set()),
      state(stepper.make_state()) {}

double Flow::x(Location location, std::int64_t i) const {
  return (static_cast<double>(i) + (location == Location::x_face ? 1.0 : 0.5)) * grid.dx();
}

double Flow::y(Location location, std::int64_t j) const {
  return (static_cast<double>(j) + (location == Location::y_face ? 1.0 : 0.5)) * grid.dy();
}

double Flow::z(Location location, std::int64_t k) const {
  return location == Location::z_face ? grid.z_nodes()[static_cast<std::size_t>(k) + 1] : grid.z_center(k);
}

void Flow::set(Field& field, const PointFunction& value) {
  GlobalArray all(grid.cells());
  const Location at = field.location();
  for_each_owned(field, [&](std::int64_t i, std::int64_t j, std::int64_t k, std::size_t) {
    all(i, j, k) = value(x(at, i), y(at, j), z(at, k));
  });
  scatter(all, field, 0);
}

void Flow::set_velocity(const PointFunction& u, const PointFunction& v, const PointFunction& w) {
  set_zero(state, stepper);
  set(state.velocity.u, u);
  set(state.velocity.v, v);
  set(state.velocity.w, w);
  stepper.fill_halos(state);
}

void Flow::set_random(std::uint64_t seed) {
  set_zero(state, stepper);
  for (Field* field : {&state.velocity.u, &state.velocity.v, &state.velocity.w}) {
    GlobalArray all(grid.cells());
    for (std::size_t n = 0; n < all.values.size(); ++n) all.values[n] = 2 * uniform01(seed, n) - 1;
    scatter(all, *field, 0);
    ++seed;
  }
  stepper.project(state);
}

GlobalArray Flow::read(const Field& field) const {
  return gather(field, grid.cells(), comm.world());
}

double Flow::advance(int steps, double dt) {
  double force = 0;
  for (int n = 0; n < steps; ++n) force = stepper.step(state, dt).x;
  return force;
}

double Flow::height(Location location, std::int64_t k) const {
  if (location != Location::z_face) return grid.dz(k);
  return k + 1 < grid.cells()[2] ? grid.dz_center(k) : 0;
}

double Flow::rms_error(const Field& field, const PointFunction& exact) const {
  const GlobalArray values = read(field);
  const Location at = field.location();
  double sum = 0;
  double volume = 0;
  for (std::int64_t k = 0; k < values.cells[2]; ++k) {
    for (std::int64_t j = 0; j < values.cells[1]; ++j) {
      for (std::int64_t i = 0; i < values.cells[0]; ++i) {
        const double error = values(i, j, k) - exact(x(at, i), y(at, j), z(at, k));
        sum += error * error * height(at, k);
        volume += height(at, k);
      }
    }
  }
  return std::sqrt(sum / volume);
}

std::string name_of(Diffusion diffusion) {
  return diffusion == Diffusion::explicit_    ? "explicit"
         : diffusion == Diffusion::implicit_z ? "implicit_z"
                                              : "implicit";
}

std::string name_of(TridiagonalMethod method) {
  return method == TridiagonalMethod::ptdma ? "ptdma" : "transpose";
}

std::string name_of(Order order) {
  return order == Order::fourth ? "order4" : "order2";
}

std::string name_of(const Discretisation& form) {
  return name_of(form.diffusion) + "_" + name_of(form.order);
}

double relative_difference(const Flow& flow, const Field& one, const Field& other) {
  const GlobalArray a = flow.read(one);
  const GlobalArray b = flow.read(other);
  double size = 0;
  double difference = 0;
  for (std::size_t n = 0; n < a.values.size(); ++n) {
    size = std::max(size, std::abs(a.values[n]));
    difference = std::max(difference, std::abs(a.values[n] - b.values[n]));
  }
  EXPECT_GT(size, 0);
  return difference / size;
}

double round_off(double in_double) {
  return in_double * real_epsilon / std::numeric_limits<double>::epsilon();
}

void expect_at_most(const std::string& what, double measured, double bound, std::source_location where) {
  check(measured <= bound, fmt::format("{}: {:.6g} (at most {:.3g})", what, measured, bound), where);
}

void expect_at_least(const std::string& what, double measured, double bound, std::source_location where) {
  check(measured >= bound, fmt::format("{}: {:.6g} (at least {:.3g})", what, measured, bound), where);
}

std::vector<double> slopes(const std::vector<double>& sizes, const std::vector<double>& errors) {
  std::vector<double> result;
  for (std::size_t n = 1; n < sizes.size(); ++n) {
    result.push_back(std::log(errors[n - 1] / errors[n]) / std::log(sizes[n - 1] / sizes[n]));
  }
  return result;
}

void expect_order(const std::string& what, const std::vector<double>& sizes, const std::vector<double>& errors,
                  double least, std::source_location where) {
  const std::vector<double> order = slopes(sizes, errors);
  std::string line = what + ": errors";
  for (const double error : errors) line += fmt::format(" {:.3e}", error);
  line += ", order";
  for (const double slope : order) line += fmt::format(" {:.3f}", slope);
  line += fmt::format(" (at least {:.2f})", least);
  check(!order.empty() && std::ranges::all_of(order, [&](double slope) { return slope >= least; }), line, where);
}

}  // namespace sluice::test
