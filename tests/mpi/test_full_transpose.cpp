// The methods with which P-TDMA is compared: the full-transpose method from z pencils, and diffusion through y pencils.
// They solve the same equations as ours, and send what they should, counted at MPI's profiling interface.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <numbers>
#include <string>
#include <vector>

#include "core/device/memory.hpp"
#include "core/support/collective.hpp"
#include "core/support/random.hpp"
#include "poisson/helmholtz_solver.hpp"
#include "src/bench/exchange_meter.hpp"
#include "src/bench/full_transpose_solver.hpp"
#include "tests/support/global_array.hpp"

namespace {

double bytes_by_mpi = 0;  ///< that this rank sent

}  // namespace

extern "C" int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  int size = 0;
  MPI_Type_size(type, &size);
  bytes_by_mpi += static_cast<double>(count) * size;
  return PMPI_Isend(buffer, count, type, rank, tag, comm, request);
}

namespace sluice {
namespace {

using test::GlobalArray;
using Cells = std::array<std::int64_t, 3>;

struct SizedGrid {
  Cells cells;
  int blocks;
};

/// Even, odd and prime; ny = 1; more ranks in z than lines in y; uneven blocks; lines so tall that GPUs that split z
/// solve each rank's rows by themselves.
const std::vector<SizedGrid> sizes{{{24, 20, 48}, 6}, {{10, 6, 98}, 6}, {{9, 7, 11}, 3},    {{13, 11, 17}, 8},
                                   {{15, 1, 12}, 6},  {{6, 3, 14}, 4},  {{16, 10, 544}, 32}};

std::vector<double> tanh_nodes(std::int64_t nz) {
  std::vector<double> nodes;
  for (std::int64_t k = 0; k <= nz; ++k)
    nodes.push_back(1 + std::tanh(1.8 * (2 * static_cast<double>(k) / static_cast<double>(nz) - 1)) / std::tanh(1.8));
  return nodes;
}

std::vector<double> uniform_nodes(std::int64_t nz) {
  std::vector<double> nodes;
  for (std::int64_t k = 0; k <= nz; ++k) nodes.push_back(2 * static_cast<double>(k) / static_cast<double>(nz));
  return nodes;
}

PoissonSolver::Domain domain_of(const Cells& cells, std::vector<double> z_nodes) {
  return {4.0 / static_cast<double>(cells[0]), 3.0 / static_cast<double>(cells[1]), std::move(z_nodes)};
}

std::vector<TridiagonalRows> wall_rows(const std::vector<double>& z_nodes) {
  return {second_derivative_centers(z_nodes, WallRow::dirichlet, WallRow::dirichlet),
          second_derivative_centers(z_nodes, WallRow::dirichlet, WallRow::neumann),
          second_derivative_centers(z_nodes, WallRow{0.02}, WallRow::neumann), second_derivative_faces(z_nodes)};
}

constexpr double factor = 0.03;

void report(const std::string& line) {
  if (rank_of(MPI_COMM_WORLD) == 0) std::printf("%s\n", line.c_str());
}

GlobalArray noise(const Cells& cells, std::uint64_t seed) {
  GlobalArray array(cells);
  for (std::size_t n = 0; n < array.values.size(); ++n) array.values[n] = static_cast<real>(uniform01(seed, n) - 0.5);
  return array;
}

/// Noise with a volume-weighted mean of 0 in each (x, y), as of a divergence.
GlobalArray random_rhs(const Cells& cells, const std::vector<double>& z_nodes) {
  GlobalArray rhs = noise(cells, 5);
  for (std::int64_t n = 0; n < cells[0] * cells[1]; ++n) {
    double mean = 0;
    for (std::int64_t k = 0; k < cells[2]; ++k) {
      const auto plane = static_cast<std::size_t>(k);
      mean += rhs(n, 0, k) * (z_nodes[plane + 1] - z_nodes[plane]);
    }
    mean /= z_nodes.back() - z_nodes.front();
    for (std::int64_t k = 0; k < cells[2]; ++k) rhs(n, 0, k) -= mean;
  }
  return rhs;
}

double largest(const GlobalArray& array) {
  double value = 0;
  for (const double x : array.values) value = std::max(value, std::abs(x));
  return value;
}

double largest_difference(const GlobalArray& a, const GlobalArray& b) {
  double value = 0;
  for (std::size_t n = 0; n < a.values.size(); ++n) value = std::max(value, std::abs(a.values[n] - b.values[n]));
  return value;
}

/// Ranks, process grid and boxes of a test.
struct Ranks {
  Ranks(const SizedGrid& size, ProcessGrid processes)
      : comm(MPI_COMM_WORLD, processes),
        decomposition(size.cells, processes, size.blocks),
        exchange(make_exchange("mpi_p2p", MPI_COMM_WORLD)) {}

  std::string text() const {
    const auto& [nx, ny, nz] = decomposition.cells();
    return std::to_string(nx) + " x " + std::to_string(ny) + " x " + std::to_string(nz) + " on " +
           std::to_string(comm.processes().py) + " x " + std::to_string(comm.processes().pz);
  }

  Communicator comm;
  Decomposition decomposition;
  std::unique_ptr<Exchange> exchange;
};

template <class Action>
void for_each_process_grid(const Action& action) {
  for (const SizedGrid& size : sizes) {
    for (const ProcessGrid& grid : Decomposition::candidates(size.cells, size_of(MPI_COMM_WORLD), size.blocks))
      action(size, grid);
  }
}

/// A solution from the same right-hand side by our solver.
GlobalArray solve_from_x_pencils(const Ranks& ranks, const PoissonSolver::Domain& domain, TridiagonalMethod method,
                                 const GlobalArray& rhs) {
  PoissonSolver solver(ranks.comm, ranks.decomposition, domain, method, *ranks.exchange);
  Field phi = solver.make_field();
  test::scatter(rhs, phi, 1e30);
  PhaseTimers timers;
  solver.solve(phi, timers);
  return test::gather(phi, rhs.cells, ranks.comm.world());
}

/// The same from z pencils.
GlobalArray solve_from_z_pencils(const Ranks& ranks, const PoissonSolver::Domain& domain, const GlobalArray& rhs) {
  FullTransposeSolver solver(ranks.comm, ranks.decomposition, domain, {}, 1, *ranks.exchange);
  const Box3& box = solver.z_pencil();
  const View3<real> phi = solver.phi();
  std::vector<real> host(static_cast<std::size_t>(phi.stride_z * box.nz()));
  const auto place = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    return static_cast<std::size_t>(i - box.lo[0] + (j - box.lo[1]) * phi.stride_y + (k - box.lo[2]) * phi.stride_z);
  };
  const auto for_each_cell = [&](const auto& action) {
    for (std::int64_t k = box.lo[2]; k < box.hi[2]; ++k)
      for (std::int64_t j = box.lo[1]; j < box.hi[1]; ++j)
        for (std::int64_t i = box.lo[0]; i < box.hi[0]; ++i) action(i, j, k);
  };
  for_each_cell([&](auto i, auto j, auto k) { host[place(i, j, k)] = static_cast<real>(rhs(i, j, k)); });
  device::copy(phi.origin, host.data(), host.size() * sizeof(real));
  PhaseTimers timers;
  solver.solve_poisson(timers);
  device::copy(host.data(), phi.origin, host.size() * sizeof(real));
  GlobalArray result(rhs.cells);
  for_each_cell([&](auto i, auto j, auto k) { result(i, j, k) = host[place(i, j, k)]; });
  MPI_Allreduce(MPI_IN_PLACE, result.values.data(), static_cast<int>(result.values.size()), MPI_DOUBLE, MPI_SUM,
                ranks.comm.world());
  return result;
}

TEST(FullTranspose, SolvesThePoissonEquationAsOurSolver) {
  double worst = 0;
  for_each_process_grid([&](const SizedGrid& size, const ProcessGrid& grid) {
    const Ranks ranks(size, grid);
    const PoissonSolver::Domain domain = domain_of(size.cells, tanh_nodes(size.cells[2]));
    const GlobalArray rhs = random_rhs(size.cells, domain.z_nodes);
    const GlobalArray phi = solve_from_z_pencils(ranks, domain, rhs);
    const GlobalArray transposed = solve_from_x_pencils(ranks, domain, TridiagonalMethod::transpose, rhs);
    EXPECT_EQ(phi.values, transposed.values) << ranks.text();
    const GlobalArray ptdma = solve_from_x_pencils(ranks, domain, TridiagonalMethod::ptdma, rhs);
    // Sums over a line, in different orders.
    const double difference =
        largest_difference(phi, ptdma) / largest(ptdma) / (static_cast<double>(size.cells[2]) * real_epsilon);
    EXPECT_LT(difference, 8) << ranks.text();
    worst = std::max(worst, difference);
  });
  report("baseline - ptdma: " + std::to_string(worst) + " nz eps");
}

// A wave is a solution: its second differences are its multiples, on uniform spacing.
TEST(FullTranspose, SolvesThePoissonEquationExactly) {
  double worst = 0;
  for_each_process_grid([&](const SizedGrid& size, const ProcessGrid& grid) {
    const Ranks ranks(size, grid);
    const PoissonSolver::Domain domain = domain_of(size.cells, uniform_nodes(size.cells[2]));
    const std::array<double, 3> spacing{domain.dx, domain.dy, domain.z_nodes[1]};
    GlobalArray exact(size.cells), rhs(size.cells);
    double smallest_eigenvalue = std::numeric_limits<double>::infinity();
    for (const std::array<int, 3>& mode : {std::array{1, 0, 0}, {0, 0, 3}, {2, 1, 1}, {1, 0, 5}}) {
      double eigenvalue = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double waves = axis < 2 ? mode[axis] : mode[axis] / 2.0;
        const double sine = std::sin(std::numbers::pi * waves / static_cast<double>(size.cells[axis]));
        eigenvalue -= 4 * sine * sine / (spacing[axis] * spacing[axis]);
      }
      smallest_eigenvalue = std::min(smallest_eigenvalue, -eigenvalue);
      const auto phase = [&](std::size_t axis, std::int64_t n) {
        return 2 * std::numbers::pi * mode[axis] * (static_cast<double>(n) + 0.5) /
               static_cast<double>(size.cells[axis]);
      };
      for (std::int64_t k = 0; k < size.cells[2]; ++k) {
        for (std::int64_t j = 0; j < size.cells[1]; ++j) {
          for (std::int64_t i = 0; i < size.cells[0]; ++i) {
            const double wave = std::cos(phase(0, i) + 0.3) * std::cos(phase(1, j) - 0.2) * std::cos(phase(2, k) / 2);
            exact(i, j, k) += wave;
            rhs(i, j, k) += eigenvalue * wave;
          }
        }
      }
    }
    const GlobalArray phi = solve_from_z_pencils(ranks, domain, rhs);
    const double condition = 4 / (spacing[2] * spacing[2]) / smallest_eigenvalue;
    const double error = largest_difference(phi, exact) / largest(exact) / real_epsilon / (10 + condition);
    EXPECT_LT(error, 2) << ranks.text();
    worst = std::max(worst, error);
  });
  report("baseline: error " + std::to_string(worst) + " eps times (10 + condition)");
}

/// Solutions of all matrices from the same right-hand side; `solve` gets fields with it on `box`.
template <class Solve>
std::vector<GlobalArray> solve_diffusion(const Ranks& ranks, const Box3& box, const std::vector<GlobalArray>& rhs,
                                         const Solve& solve) {
  std::vector<Field> fields;
  for (const GlobalArray& array : rhs) {
    fields.emplace_back(box, Location::center);
    test::scatter(array, fields.back(), 1e30);
  }
  solve(fields);
  std::vector<GlobalArray> solutions;
  for (const Field& field : fields) solutions.push_back(test::gather(field, rhs.front().cells, ranks.comm.world()));
  return solutions;
}

std::vector<HelmholtzLines::Task> tasks_of(std::vector<Field>& fields) {
  std::vector<HelmholtzLines::Task> tasks;
  for (std::size_t n = 0; n < fields.size(); ++n) tasks.push_back({fields[n].view(), n});
  return tasks;
}

std::vector<GlobalArray> diffuse_in_x_pencils(const Ranks& ranks, const std::vector<TridiagonalRows>& matrices,
                                              TridiagonalMethod method, const std::vector<GlobalArray>& rhs) {
  ZHelmholtzSolver solver(ranks.comm, ranks.decomposition, matrices, static_cast<int>(matrices.size()), method,
                          *ranks.exchange);
  solver.prepare(factor);
  return solve_diffusion(ranks, ranks.decomposition.x_pencil(ranks.comm.rank()), rhs, [&](std::vector<Field>& fields) {
    std::vector<ZHelmholtzSolver::Task> tasks;
    for (std::size_t n = 0; n < fields.size(); ++n) tasks.push_back({&fields[n], n});
    solver.solve(tasks);
  });
}

std::vector<GlobalArray> diffuse_in_z_pencils(const Ranks& ranks, const PoissonSolver::Domain& domain,
                                              const std::vector<TridiagonalRows>& matrices,
                                              const std::vector<GlobalArray>& rhs) {
  FullTransposeSolver solver(ranks.comm, ranks.decomposition, domain, matrices, static_cast<int>(matrices.size()),
                             *ranks.exchange);
  solver.prepare(factor);
  return solve_diffusion(ranks, solver.z_pencil(), rhs, [&](std::vector<Field>& fields) {
    bytes_by_mpi = 0;
    solver.solve_diffusion(tasks_of(fields));
    EXPECT_EQ(bytes_by_mpi, 0) << ranks.text();
  });
}

TEST(FullTranspose, DiffusionSendsNothingAndIsThatOfOurSolver) {
  for_each_process_grid([&](const SizedGrid& size, const ProcessGrid& grid) {
    const Ranks ranks(size, grid);
    const PoissonSolver::Domain domain = domain_of(size.cells, tanh_nodes(size.cells[2]));
    const std::vector<TridiagonalRows> matrices = wall_rows(domain.z_nodes);
    std::vector<GlobalArray> rhs;
    for (std::size_t n = 0; n < matrices.size(); ++n) rhs.push_back(noise(size.cells, n));
    const std::vector<GlobalArray> baseline = diffuse_in_z_pencils(ranks, domain, matrices, rhs);
    const std::vector<GlobalArray> ptdma = diffuse_in_x_pencils(ranks, matrices, TridiagonalMethod::ptdma, rhs);
    const std::vector<GlobalArray> transposed =
        diffuse_in_x_pencils(ranks, matrices, TridiagonalMethod::transpose, rhs);
    for (std::size_t n = 0; n < matrices.size(); ++n) {
      const std::string what = ranks.text() + ", matrix " + std::to_string(n);
      if (device::is_gpu() && grid.pz > 1) {  // there the blocks of P-TDMA depend on the process grid
        EXPECT_LT(largest_difference(baseline[n], ptdma[n]), 50 * real_epsilon) << what;
      } else {
        EXPECT_EQ(baseline[n].values, ptdma[n].values) << what;
      }
      EXPECT_LT(largest_difference(baseline[n], transposed[n]), 50 * real_epsilon) << what;
    }
  });
}

// A wave of each kind of wall rows is a solution.
TEST(FullTranspose, SolvesDiffusionExactly) {
  double worst = 0;
  for_each_process_grid([&](const SizedGrid& size, const ProcessGrid& grid) {
    const Ranks ranks(size, grid);
    const auto [nx, ny, nz] = size.cells;
    const PoissonSolver::Domain domain = domain_of(size.cells, uniform_nodes(nz));
    const std::vector<TridiagonalRows> matrices{
        second_derivative_centers(domain.z_nodes, WallRow::dirichlet, WallRow::dirichlet),
        second_derivative_centers(domain.z_nodes, WallRow::dirichlet, WallRow::neumann),
        second_derivative_faces(domain.z_nodes)};
    const std::array<double, 3> half_waves{3, 2.5, 4};
    std::vector<GlobalArray> exact, rhs;
    for (std::size_t n = 0; n < matrices.size(); ++n) {
      const double angle = std::numbers::pi * half_waves[n] / static_cast<double>(nz);
      const double slope = 2 * std::sin(angle / 2) / domain.z_nodes[1];
      const double first = n == 2 ? 1 : 0.5;  // faces, or centres
      exact.emplace_back(size.cells);
      rhs.emplace_back(size.cells);
      for (std::int64_t k = 0; k < nz; ++k) {
        const double wave = n == 2 && k == nz - 1 ? 0 : std::sin(angle * (static_cast<double>(k) + first));
        for (std::int64_t line = 0; line < nx * ny; ++line) {
          const double of_line = 1 + uniform01(3, static_cast<std::uint64_t>(line));
          exact.back()(line, 0, k) = of_line * wave;
          rhs.back()(line, 0, k) = of_line * wave * (1 + factor * slope * slope);
        }
      }
    }
    const std::vector<GlobalArray> x = diffuse_in_z_pencils(ranks, domain, matrices, rhs);
    const double condition = 1 + 4 * factor / (domain.z_nodes[1] * domain.z_nodes[1]);
    for (std::size_t n = 0; n < matrices.size(); ++n) {
      const double error = largest_difference(x[n], exact[n]) / largest(exact[n]) / real_epsilon / condition;
      EXPECT_LT(error, 2) << ranks.text() << ", matrix " << n;
      worst = std::max(worst, error);
    }
  });
  report("diffusion of the baseline: error " + std::to_string(worst) + " eps times the condition");
}

TEST(DiffusionThroughY, HasTheBitsOfTheDirectPath) {
  for_each_process_grid([&](const SizedGrid& size, const ProcessGrid& grid) {
    const Ranks ranks(size, grid);
    const std::vector<TridiagonalRows> matrices = wall_rows(tanh_nodes(size.cells[2]));
    std::vector<GlobalArray> rhs;
    for (std::size_t n = 0; n < matrices.size(); ++n) rhs.push_back(noise(size.cells, n));
    for (const TridiagonalMethod method : {TridiagonalMethod::ptdma, TridiagonalMethod::transpose}) {
      DiffusionThroughY solver(ranks.comm, ranks.decomposition, matrices, static_cast<int>(matrices.size()), method,
                               *ranks.exchange);
      solver.prepare(factor);
      const std::vector<GlobalArray> through_y =
          solve_diffusion(ranks, ranks.decomposition.x_pencil(ranks.comm.rank()), rhs,
                          [&](std::vector<Field>& fields) { solver.solve(tasks_of(fields)); });
      const std::vector<GlobalArray> direct = diffuse_in_x_pencils(ranks, matrices, method, rhs);
      for (std::size_t n = 0; n < matrices.size(); ++n)
        EXPECT_EQ(through_y[n].values, direct[n].values) << ranks.text() << ", matrix " << n;
    }
  });
}

/// Bytes that a rank sends in a transpose of such elements and in its inverse.
double bytes_of_round_trip(const Box3& from, const Box3& to, std::size_t element) {
  return static_cast<double>(from.volume() + to.volume() - 2 * intersect(from, to).volume()) *
         static_cast<double>(element);
}

/// Bytes that a rank sends for its lines by P-TDMA: from each part of a line that another rank makes whole two numbers,
/// and back two to each part. On CPUs the parts are z blocks, on GPUs ranks.
double bytes_of_boundary_values(const Ranks& ranks, const LineBoxes& boxes, std::size_t element) {
  const auto parts = [&](std::size_t z) {
    const std::array<int, 2> blocks = ranks.decomposition.block_range(static_cast<int>(z));
    return device::is_gpu() ? 1 : blocks[1] - blocks[0];
  };
  const auto lines = [](const Box3& box) { return box.extent(0) * box.extent(1); };
  const auto here = static_cast<std::size_t>(boxes.rank);
  std::int64_t numbers = 0;
  for (std::size_t z = 0; z < boxes.home.size(); ++z) {
    if (z != here) numbers += 2 * parts(here) * lines(boxes.whole[z]) + 2 * parts(z) * lines(boxes.my_whole());
  }
  return static_cast<double>(numbers) * static_cast<double>(element);
}

/// As counted by MPI, and by the benchmark.
struct SentBytes {
  explicit SentBytes(const Ranks& ranks) : metered(*ranks.exchange, meter) {}

  template <class Action>
  double of(const Action& action) {
    meter.reset();
    bytes_by_mpi = 0;
    action();
    EXPECT_EQ(meter.bytes_sent(meter.phase()), bytes_by_mpi);
    return bytes_by_mpi;
  }

  ExchangeMeter meter;
  MeteredExchange metered;
};

constexpr std::size_t complex_bytes = 2 * sizeof(real);

TEST(BytesSent, ByPtdmaAreTwoNumbersForEachPartOfALine) {
  for_each_process_grid([&](const SizedGrid& any, const ProcessGrid& grid) {
    for (const int blocks : {any.blocks, grid.pz}) {  // with the latter, two for each rank
      const Ranks ranks({any.cells, blocks}, grid);
      const Decomposition& decomposition = ranks.decomposition;
      const int rank = ranks.comm.rank();
      const PoissonSolver::Domain domain = domain_of(any.cells, tanh_nodes(any.cells[2]));
      SentBytes sent(ranks);
      PhaseTimers timers;
      PoissonSolver poisson(ranks.comm, decomposition, domain, TridiagonalMethod::ptdma, sent.metered);
      Field phi = poisson.make_field();
      EXPECT_EQ(sent.of([&] { poisson.solve(phi, timers); }),
                bytes_of_boundary_values(ranks, spectral_lines(decomposition, rank), complex_bytes) +
                    bytes_of_round_trip(decomposition.spectral_x_pencil(rank), decomposition.spectral_y_pencil(rank),
                                        complex_bytes))
          << ranks.text();

      ZHelmholtzSolver diffusion(ranks.comm, decomposition, wall_rows(domain.z_nodes).front(), TridiagonalMethod::ptdma,
                                 sent.metered);
      diffusion.prepare(factor);
      Field u(decomposition.x_pencil(rank), Location::center);
      EXPECT_EQ(sent.of([&] { diffusion.solve(u); }),
                bytes_of_boundary_values(ranks, field_lines(decomposition, rank), sizeof(real)))
          << ranks.text();
    }
  });
}

TEST(BytesSent, ByTheBaselineAreWholeFields) {
  for_each_process_grid([&](const SizedGrid& size, const ProcessGrid& grid) {
    const Ranks ranks(size, grid);
    const Decomposition& decomposition = ranks.decomposition;
    const int rank = ranks.comm.rank();
    SentBytes sent(ranks);
    PhaseTimers timers;
    FullTransposeSolver solver(ranks.comm, decomposition, domain_of(size.cells, tanh_nodes(size.cells[2])), {}, 1,
                               sent.metered);
    EXPECT_EQ(sent.of([&] { solver.solve_poisson(timers); }),
              bytes_of_round_trip(decomposition.z_pencil(rank), decomposition.x_pencil(rank), sizeof(real)) +
                  bytes_of_round_trip(decomposition.spectral_x_pencil(rank), decomposition.spectral_y_pencil(rank),
                                      complex_bytes) +
                  bytes_of_round_trip(decomposition.spectral_y_pencil(rank), decomposition.spectral_z_pencil(rank),
                                      complex_bytes))
        << ranks.text();
  });
}

}  // namespace
}  // namespace sluice
