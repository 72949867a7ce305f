// The Poisson and z-Helmholtz solvers on every process grid: against the discrete operator, dense solves and
// analytic solutions.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

#include "core/device/memory.hpp"
#include "core/support/random.hpp"
#include "poisson/helmholtz_solver.hpp"
#include "poisson/poisson_solver.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/global_array.hpp"
#include "tests/support/line_problem.hpp"

namespace sluice {
namespace {

using test::GlobalArray;
using Cells = std::array<std::int64_t, 3>;

enum class Stretching { uniform, tanh, random };

const char* name_of(Stretching stretching) {
  return stretching == Stretching::uniform ? "uniform" : stretching == Stretching::tanh ? "tanh" : "random";
}

const char* name_of(TridiagonalMethod method) {
  return method == TridiagonalMethod::ptdma ? "ptdma" : "transpose";
}

/// Faces of nz cells between 0 and 2.
std::vector<double> make_nodes(Stretching stretching, std::int64_t nz) {
  std::vector<double> nodes{0};
  for (std::int64_t k = 0; k < nz; ++k) {
    const double s = 2 * static_cast<double>(k + 1) / static_cast<double>(nz);
    if (stretching == Stretching::uniform) nodes.push_back(s);
    if (stretching == Stretching::tanh) nodes.push_back(1 + std::tanh(1.8 * (s - 1)) / std::tanh(1.8));
    if (stretching == Stretching::random)
      nodes.push_back(nodes.back() + 0.2 + uniform01(11, static_cast<std::uint64_t>(k)));
  }
  const double height = nodes.back();
  for (double& z : nodes) z *= 2 / height;
  return nodes;
}

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int world_size() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

void report(const std::string& line) {
  if (world_rank() == 0) std::printf("%s\n", line.c_str());
}

struct Problem {
  Cells cells;
  int blocks;
  PoissonSolver::Domain domain;
};

Problem make_problem(Cells cells, int blocks, Stretching stretching, Order order = Order::second) {
  return {cells,
          blocks,
          {4.0 / static_cast<double>(cells[0]), 3.0 / static_cast<double>(cells[1]), make_nodes(stretching, cells[2]),
           order}};
}

/// The derivative of the derivative times the square of the spacing, at the middle of seven points.
double second_difference(Order order, const std::array<double, 7>& f) {
  const auto derivative = [&](std::size_t n) {  // between points n and n + 1
    const double one = f[n + 1] - f[n];
    return order == Order::second ? one : 9.0 / 8 * one - (f[n + 2] - f[n - 1]) / 24;
  };
  if (order == Order::second) return derivative(3) - derivative(2);
  return 9.0 / 8 * (derivative(3) - derivative(2)) - (derivative(4) - derivative(1)) / 24;
}

/// div grad f on the staggered grid, as a plain loop: differences of differences over faces, no flux through
/// walls.
GlobalArray laplacian(const Problem& problem, const GlobalArray& f) {
  const auto [nx, ny, nz] = problem.cells;
  const auto& z = problem.domain.z_nodes;
  const auto dz = [&](std::int64_t k) { return z[static_cast<std::size_t>(k) + 1] - z[static_cast<std::size_t>(k)]; };
  GlobalArray result(problem.cells);
  for (std::int64_t k = 0; k < nz; ++k) {
    for (std::int64_t j = 0; j < ny; ++j) {
      for (std::int64_t i = 0; i < nx; ++i) {
        const double here = f(i, j, k);
        std::array<double, 7> row{}, column{};
        for (std::int64_t n = -3; n <= 3; ++n) {
          row[static_cast<std::size_t>(n + 3)] = f((i + n + 3 * nx) % nx, j, k);
          column[static_cast<std::size_t>(n + 3)] = f(i, (j + n + 3 * ny) % ny, k);
        }
        const double x = second_difference(problem.domain.order, row);
        const double y = second_difference(problem.domain.order, column);
        const double above = k + 1 < nz ? (f(i, j, k + 1) - here) / ((dz(k) + dz(k + 1)) / 2) : 0;
        const double below = k > 0 ? (here - f(i, j, k - 1)) / ((dz(k - 1) + dz(k)) / 2) : 0;
        result(i, j, k) = x / (problem.domain.dx * problem.domain.dx) + y / (problem.domain.dy * problem.domain.dy) +
                          (above - below) / dz(k);
      }
    }
  }
  return result;
}

double mean(const Problem& problem, const GlobalArray& f) {
  const auto [nx, ny, nz] = problem.cells;
  const auto& z = problem.domain.z_nodes;
  double sum = 0;
  for (std::int64_t k = 0; k < nz; ++k) {
    const double dz = z[static_cast<std::size_t>(k) + 1] - z[static_cast<std::size_t>(k)];
    for (std::int64_t n = 0; n < nx * ny; ++n) sum += f.values[static_cast<std::size_t>(k * nx * ny + n)] * dz;
  }
  return sum / (static_cast<double>(nx * ny) * (z.back() - z.front()));
}

/// A random right-hand side in the range of the operator: div grad of a random field.
GlobalArray random_rhs(const Problem& problem) {
  GlobalArray phi(problem.cells);
  for (std::size_t n = 0; n < phi.values.size(); ++n) phi.values[n] = uniform01(5, n) - 0.5;
  return laplacian(problem, phi);
}

GlobalArray solve_poisson(MPI_Comm world, ProcessGrid grid, const Problem& problem, TridiagonalMethod method,
                          const GlobalArray& rhs) {
  const Communicator comm(world, grid);
  const Decomposition decomposition(problem.cells, grid, problem.blocks);
  const auto exchange = make_exchange("auto", world);
  PoissonSolver solver(comm, decomposition, problem.domain, method, *exchange);
  Field phi = solver.make_field();
  PhaseTimers timers;
  test::scatter(rhs, phi, 1e30);
  solver.solve(phi, timers);  // a second solve must not see the first
  test::scatter(rhs, phi, -1e30);
  solver.solve(phi, timers);
  return test::gather(phi, problem.cells, comm.world());
}

struct SizedGrid {
  Cells cells;
  int blocks;
};

/// Even, odd and prime; ny = 1; a single row or wavenumber for a rank; more ranks in z than lines in y;
/// uneven blocks of 2 or more.
const std::vector<SizedGrid> sizes{{{32, 64, 48}, 6}, {{10, 6, 98}, 6}, {{16, 12, 24}, 7}, {{9, 7, 11}, 3},
                                   {{13, 11, 17}, 8}, {{15, 1, 12}, 6}, {{10, 6, 13}, 6},  {{6, 3, 14}, 4},
                                   {{1, 2, 7}, 3},    {{2, 5, 31}, 1},  {{70, 2, 6}, 3}};

/// Lines so tall that GPUs that split z solve each rank's rows by themselves, and then change those near their ends.
/// On two ranks the taller ones are in parts.
const std::vector<SizedGrid> tall{{{16, 10, 544}, 32}, {{10, 6, 1203}, 75}};

TEST(Poisson, SolvesTheDiscreteOperatorOnEveryProcessGrid) {
  double worst_residual = 0;
  double worst_mean = 0;
  int solves = 0;
  for (const SizedGrid& size : sizes) {
    using Variant = std::pair<Stretching, Order>;
    for (const auto& [stretching, order] :
         {Variant{Stretching::uniform, Order::second}, Variant{Stretching::tanh, Order::second},
          Variant{Stretching::random, Order::second}, Variant{Stretching::random, Order::fourth}}) {
      const Problem problem = make_problem(size.cells, size.blocks, stretching, order);
      const GlobalArray rhs = random_rhs(problem);
      const double scale = test::largest(rhs.values);
      for (const TridiagonalMethod method : {TridiagonalMethod::ptdma, TridiagonalMethod::transpose}) {
        const GlobalArray serial = solve_poisson(MPI_COMM_SELF, {1, 1}, problem, method, rhs);
        for (const ProcessGrid& grid : Decomposition::candidates(size.cells, world_size(), size.blocks)) {
          const std::string what = std::string(name_of(stretching)) + ", order " +
                                   (order == Order::fourth ? "4, " : "2, ") + name_of(method) + ", nx " +
                                   std::to_string(size.cells[0]) + ", " + std::to_string(grid.py) + " x " +
                                   std::to_string(grid.pz);
          const GlobalArray phi = solve_poisson(MPI_COMM_WORLD, grid, problem, method, rhs);
          const double residual = test::largest_difference(laplacian(problem, phi).values, rhs.values) / scale;
          const double offset = std::abs(mean(problem, phi)) / test::largest(phi.values);
          EXPECT_LT(residual, 500 * real_epsilon) << what;
          EXPECT_LT(offset, 100 * real_epsilon) << what;
          // On GPUs the FFT libraries choose their kernels by how many columns a rank owns, and ranks join their
          // blocks.
          if (device::is_gpu() && grid.size() > 1) {
            EXPECT_LT(test::largest_difference(phi.values, serial.values),
                      1000 * real_epsilon * test::largest(phi.values))
                << what;
          } else {
            EXPECT_EQ(phi.values, serial.values) << what << ": not the bits of one rank";
          }
          worst_residual = std::max(worst_residual, residual);
          worst_mean = std::max(worst_mean, offset);
          ++solves;
        }
      }
    }
  }
  report("Poisson, " + std::to_string(solves) + " solves: residual / scale " +
         std::to_string(worst_residual / real_epsilon) + " eps, mean / scale " +
         std::to_string(worst_mean / real_epsilon) + " eps, " + (device::is_gpu() ? "round-off" : "bits") +
         " the same as on one rank");
}

void expect_as_good_as_on_one_rank(const SizedGrid& size, Stretching stretching) {
  const Problem problem = make_problem(size.cells, size.blocks, stretching);
  const GlobalArray rhs = random_rhs(problem);
  const auto residual = [&](const GlobalArray& phi) {
    return test::largest_difference(laplacian(problem, phi).values, rhs.values);
  };
  const GlobalArray serial = solve_poisson(MPI_COMM_SELF, {1, 1}, problem, TridiagonalMethod::ptdma, rhs);
  for (const ProcessGrid& grid : Decomposition::candidates(size.cells, world_size(), size.blocks)) {
    const GlobalArray phi = solve_poisson(MPI_COMM_WORLD, grid, problem, TridiagonalMethod::ptdma, rhs);
    EXPECT_LT(residual(phi), 3 * residual(serial))
        << name_of(stretching) << ", " << grid.py << " x " << grid.pz << ", nz " << size.cells[2];
  }
}

TEST(Poisson, TallLinesAreSolvedAsWellAsOnOneRank) {
  for (const SizedGrid& size : tall) {
    for (const Stretching stretching : {Stretching::tanh, Stretching::random})
      expect_as_good_as_on_one_rank(size, stretching);
  }
}

/// The whole operator as a dense matrix, its null space filled by the mean.
std::vector<double> solve_dense(const Problem& problem, const GlobalArray& rhs) {
  const std::size_t n = rhs.values.size();
  test::DenseMatrix matrix(n);
  for (std::size_t column = 0; column < n; ++column) {
    GlobalArray unit(problem.cells);
    unit.values[column] = 1;
    const GlobalArray image = laplacian(problem, unit);
    const double share = mean(problem, unit);
    for (std::size_t row = 0; row < n; ++row) matrix(row, column) = image.values[row] - share;
  }
  return test::solve_dense(matrix, rhs.values);
}

TEST(Poisson, AgreesWithDenseSolve) {
  double worst = 0;
  for (const SizedGrid& size :
       std::vector<SizedGrid>{{{4, 3, 11}, 3}, {{5, 4, 6}, 3}, {{3, 1, 9}, 4}, {{1, 1, 12}, 5}}) {
    for (const Order order : {Order::second, Order::fourth}) {
      const Problem problem = make_problem(size.cells, size.blocks, Stretching::random, order);
      const GlobalArray rhs = random_rhs(problem);
      const std::vector<double> exact = solve_dense(problem, rhs);
      for (const TridiagonalMethod method : {TridiagonalMethod::ptdma, TridiagonalMethod::transpose}) {
        const GlobalArray phi = solve_poisson(MPI_COMM_SELF, {1, 1}, problem, method, rhs);
        const double error = test::largest_difference(phi.values, exact) / test::largest(exact);
        EXPECT_LT(error, 500 * real_epsilon) << name_of(method);
        worst = std::max(worst, error);
      }
    }
  }
  report("Poisson against dense solves: " + std::to_string(worst / real_epsilon) + " eps");
}

// phi = cos(pi x / 2) cos(4 pi y / 3) cos(pi z / 2) on 4 x 3 x 2: the error of the second-order scheme falls
// by 4 with each refinement.
TEST(Poisson, SecondOrderOnStretchedGrid) {
  const double a = std::numbers::pi / 2;
  const double b = 4 * std::numbers::pi / 3;
  std::vector<double> errors;
  for (const std::int64_t n : {16, 32, 64}) {
    const Problem problem = make_problem({n, n, n}, 6, Stretching::tanh);
    GlobalArray exact(problem.cells);
    for (std::int64_t k = 0; k < n; ++k) {
      const auto& z = problem.domain.z_nodes;
      const double center = (z[static_cast<std::size_t>(k)] + z[static_cast<std::size_t>(k) + 1]) / 2;
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t i = 0; i < n; ++i) {
          exact(i, j, k) = std::cos(a * (static_cast<double>(i) + 0.5) * problem.domain.dx) *
                           std::cos(b * (static_cast<double>(j) + 0.5) * problem.domain.dy) * std::cos(a * center);
        }
      }
    }
    GlobalArray rhs = exact;
    for (double& value : rhs.values) value *= -(a * a + b * b + a * a);
    const auto grids = Decomposition::candidates(problem.cells, world_size(), problem.blocks);
    const GlobalArray phi = solve_poisson(MPI_COMM_WORLD, grids.front(), problem, TridiagonalMethod::ptdma, rhs);
    errors.push_back(test::largest_difference(phi.values, exact.values));
  }
  const double order = std::log2(errors[1] / errors[2]);
  report("Poisson, analytic solution: errors " + std::to_string(errors[0]) + " " + std::to_string(errors[1]) + " " +
         std::to_string(errors[2]) + ", order " + std::to_string(order));
  EXPECT_GT(order, 1.9);
  EXPECT_LT(order, 2.2);
}

constexpr double helmholtz_factor = 0.03;

GlobalArray solve_helmholtz(MPI_Comm world, ProcessGrid grid, const Problem& problem, const TridiagonalRows& rows,
                            TridiagonalMethod method, const GlobalArray& rhs) {
  const Communicator comm(world, grid);
  const Decomposition decomposition(problem.cells, grid, problem.blocks);
  const auto exchange = make_exchange("auto", world);
  ZHelmholtzSolver solver(comm, decomposition, rows, method, *exchange);
  Field x(decomposition.x_pencil(comm.rank()), Location::center, PoissonSolver::row_length(problem.cells[0]));
  test::scatter(rhs, x, 1e30);
  solver.prepare(helmholtz_factor);
  solver.solve(x);
  return test::gather(x, problem.cells, comm.world());
}

/// Of the lines along z, with the matrix of solve_helmholtz.
test::LineErrors helmholtz_errors(const TridiagonalRows& rows, const GlobalArray& rhs, const GlobalArray& x) {
  test::LineErrors errors;
  test::LineSystem line{rows, {}, {}};
  for (auto* values : {&line.matrix.lower, &line.matrix.diagonal, &line.matrix.upper}) {
    for (double& value : *values) value *= -helmholtz_factor;
  }
  for (double& value : line.matrix.diagonal) value += 1;
  for (std::int64_t n = 0; n < x.cells[0] * x.cells[1]; ++n) {
    std::vector<real> solution;
    line.rhs.clear();
    for (std::int64_t k = 0; k < x.cells[2]; ++k) {
      line.rhs.push_back(static_cast<real>(rhs(n, 0, k)));
      solution.push_back(static_cast<real>(x(n, 0, k)));
    }
    errors.include(test::line_errors(line, solution));
  }
  return errors;
}

TEST(Helmholtz, SameOnEveryProcessGrid) {
  double worst = 0;
  std::vector<SizedGrid> all = sizes;
  all.insert(all.end(), tall.begin(), tall.end());
  for (const SizedGrid& size : all) {
    const Problem problem = make_problem(size.cells, size.blocks, Stretching::tanh);
    GlobalArray rhs(size.cells);
    for (std::size_t n = 0; n < rhs.values.size(); ++n) rhs.values[n] = static_cast<real>(uniform01(9, n) - 0.5);
    for (const TridiagonalRows& rows :
         {second_derivative_centers(problem.domain.z_nodes, WallRow::dirichlet, WallRow::neumann),
          second_derivative_faces(problem.domain.z_nodes)}) {
      const GlobalArray other =
          solve_helmholtz(MPI_COMM_SELF, {1, 1}, problem, rows, TridiagonalMethod::transpose, rhs);
      for (const TridiagonalMethod method : {TridiagonalMethod::ptdma, TridiagonalMethod::transpose}) {
        const GlobalArray serial = solve_helmholtz(MPI_COMM_SELF, {1, 1}, problem, rows, method, rhs);
        worst = std::max(worst, test::largest_difference(serial.values, other.values));
        for (const ProcessGrid& grid : Decomposition::candidates(size.cells, world_size(), size.blocks)) {
          const GlobalArray x = solve_helmholtz(MPI_COMM_WORLD, grid, problem, rows, method, rhs);
          const std::string what = std::string(name_of(method)) + ", " + std::to_string(grid.py) + " x " +
                                   std::to_string(grid.pz) + ", nx " + std::to_string(size.cells[0]);
          if (device::is_gpu() && grid.pz > 1) {  // ranks join their blocks
            const test::LineErrors errors = helmholtz_errors(rows, rhs, x);
            EXPECT_LE(errors.backward, test::max_line_errors.backward) << what;
            EXPECT_LE(errors.forward, test::max_line_errors.forward) << what;
          } else {
            EXPECT_EQ(x.values, serial.values) << what;
          }
        }
      }
    }
  }
  report("Helmholtz: ptdma - transpose " + std::to_string(worst / real_epsilon) + " eps, " +
         (device::is_gpu() ? "round-off" : "bits") + " the same as on one rank");
  EXPECT_LT(worst, 50 * real_epsilon);
}

/// Bitwise, although GPUs exchange the boundary values of all fields at once.
void expect_together_as_one_by_one(const SizedGrid& size, ProcessGrid grid) {
  const Communicator comm(MPI_COMM_WORLD, grid);
  const Decomposition decomposition(size.cells, grid, size.blocks);
  const auto exchange = make_exchange("auto", MPI_COMM_WORLD);
  const Problem problem = make_problem(size.cells, size.blocks, Stretching::tanh);
  const std::vector<TridiagonalRows> matrices{
      second_derivative_centers(problem.domain.z_nodes, WallRow::dirichlet, WallRow::neumann),
      second_derivative_faces(problem.domain.z_nodes)};
  ZHelmholtzSolver together(comm, decomposition, matrices, 3, TridiagonalMethod::ptdma, *exchange);
  together.prepare(helmholtz_factor);
  const std::vector<std::size_t> matrix_of{1, 0, 0};
  std::vector<GlobalArray> one_by_one;
  std::vector<Field> fields;
  for (std::size_t field = 0; field < matrix_of.size(); ++field) {
    GlobalArray rhs(size.cells);
    for (std::size_t n = 0; n < rhs.values.size(); ++n) rhs.values[n] = static_cast<real>(uniform01(field, n) - 0.5);
    one_by_one.push_back(
        solve_helmholtz(MPI_COMM_WORLD, grid, problem, matrices[matrix_of[field]], TridiagonalMethod::ptdma, rhs));
    fields.emplace_back(decomposition.x_pencil(comm.rank()), Location::center,
                        PoissonSolver::row_length(size.cells[0]));
    test::scatter(rhs, fields.back(), 1e30);
  }
  std::vector<ZHelmholtzSolver::Task> tasks;
  for (std::size_t field = 0; field < fields.size(); ++field) tasks.push_back({&fields[field], matrix_of[field]});
  together.solve(tasks);
  for (std::size_t field = 0; field < fields.size(); ++field) {
    EXPECT_EQ(test::gather(fields[field], size.cells, comm.world()).values, one_by_one[field].values)
        << "field " << field << ", nz " << size.cells[2] << ", " << grid.py << " x " << grid.pz;
  }
}

TEST(Helmholtz, FieldsTogetherAsOneByOne) {
  for (const SizedGrid& size : {sizes[0], sizes[1], sizes[4], tall[0], tall[1]}) {
    for (const ProcessGrid& grid : Decomposition::candidates(size.cells, world_size(), size.blocks))
      expect_together_as_one_by_one(size, grid);
  }
}

}  // namespace
}  // namespace sluice
