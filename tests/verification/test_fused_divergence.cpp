// The pressure equation whose right-hand side, div u* / (gamma dt), the transform along x forms from u*: against the
// same divergence stored first, on every process grid.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/exchange/exchanges.hpp"
#include "core/device/memory.hpp"
#include "core/support/random.hpp"
#include "poisson/divergence/divergence_rows.hpp"
#include "poisson/poisson_solver.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/global_array.hpp"

namespace sluice {
namespace {

using Cells = std::array<std::int64_t, 3>;

/// Faces of nz cells of different heights.
std::vector<double> random_nodes(std::int64_t nz) {
  std::vector<double> nodes{0};
  for (std::int64_t k = 0; k < nz; ++k)
    nodes.push_back(nodes.back() + 0.2 + uniform01(11, static_cast<std::uint64_t>(k)));
  return nodes;
}

/// A rank's part of a random field, halos included. With `walls` it is 0 on both walls, like w. Every rank computes
/// the same numbers, so that no halo needs to be exchanged.
Field random_field(const Box3& box, const Cells& cells, HaloWidth halo, std::uint64_t seed, bool walls) {
  Field field(box, Location::center, 0, halo);
  std::vector<real> host(field.buffer().size());
  std::size_t at = 0;
  for (std::int64_t k = box.lo[2] - halo.z; k < box.hi[2] + halo.z; ++k) {
    for (std::int64_t j = box.lo[1] - halo.y; j < box.hi[1] + halo.y; ++j) {
      const std::int64_t row = (j % cells[1] + cells[1]) % cells[1] + cells[1] * (k + 1);
      for (std::int64_t i = 0; i < cells[0]; ++i, ++at) {
        const double value = uniform01(seed, static_cast<std::uint64_t>(i + cells[0] * row)) - 0.4;
        host[at] = walls && (k < 0 || k + 1 >= cells[2]) ? real(0) : static_cast<real>(value);
      }
    }
  }
  field.buffer().upload(host);
  return field;
}

/// A random velocity on one rank, as the solver is given it.
class RandomVelocity {
 public:
  RandomVelocity(const Cells& cells, const Box3& box, Order order, const std::vector<double>& z_nodes)
      : halo_{order == Order::fourth ? 3 : 1, 1},
        u_(random_field(box, cells, halo_, 1, false)),
        v_(random_field(box, cells, halo_, 2, false)),
        w_(random_field(box, cells, halo_, 3, true)),
        order_(order) {
    std::vector<real> dz, inv_dz;
    for (std::int64_t k = box.lo[2]; k < box.hi[2]; ++k) {
      const double height = z_nodes[static_cast<std::size_t>(k) + 1] - z_nodes[static_cast<std::size_t>(k)];
      dz.push_back(static_cast<real>(height));
      inv_dz.push_back(static_cast<real>(1 / height));
    }
    dz_ = Buffer<real>(dz);
    inv_dz_ = Buffer<real>(inv_dz);
  }

  DivergenceRows divergence(double dx, double dy) const {
    return {vector_view(u_.view(), v_.view(), w_.view()),
            order_,
            static_cast<real>(1 / dx),
            static_cast<real>(1 / dy),
            inv_dz_.data(),
            dz_.data(),
            static_cast<real>(1 / 0.013)};
  }

 private:
  HaloWidth halo_;
  Field u_, v_, w_;
  Order order_;
  Buffer<real> dz_, inv_dz_;
};

void compare(const Cells& cells, Order order, ProcessGrid processes, int z_blocks) {
  const Communicator comm(MPI_COMM_WORLD, processes);
  const Decomposition decomposition(cells, processes, z_blocks);
  const Exchanges exchanges(ExchangeMethods::from_text("auto"), MPI_COMM_WORLD);
  const PoissonSolver::Domain domain{4.0 / static_cast<double>(cells[0]), 3.0 / static_cast<double>(cells[1]),
                                     random_nodes(cells[2]), order};
  PoissonSolver solver(comm, decomposition, domain, TridiagonalMethod::ptdma, exchanges.set());
  const RandomVelocity velocity(cells, decomposition.x_pencil(comm.rank()), order, domain.z_nodes);
  PhaseTimers timers;

  Field phi = solver.make_field();
  VelocityDivergence stored{velocity.divergence(domain.dx, domain.dy), {}};
  write_divergence(stored, phi);
  solver.solve(phi, timers);
  Field fused_phi = solver.make_field();
  VelocityDivergence fused{velocity.divergence(domain.dx, domain.dy), {}};
  solver.solve(fused, fused_phi, timers);

  const test::GlobalArray expected = test::gather(phi, cells, comm.world());
  const test::GlobalArray solved = test::gather(fused_phi, cells, comm.world());
  const double mean = total(stored.sum_of_u.value(), comm.world());
  const double fused_mean = total(fused.sum_of_u.value(), comm.world());
  EXPECT_GT(test::largest(expected.values), 1e-3);
  if (device::is_gpu()) {
    EXPECT_LE(test::largest_difference(solved.values, expected.values),
              500 * real_epsilon * test::largest(expected.values));
    const double points = static_cast<double>(cells[0] * cells[1] * cells[2]);
    EXPECT_NEAR(fused_mean, mean, 1e-15 * points);  // both add numbers of type double
  } else {
    EXPECT_EQ(solved.values, expected.values) << "not the same bits";
    EXPECT_EQ(fused_mean, mean);
  }
}

TEST(FusedDivergence, SolvesLikeAStoredDivergenceOnEveryProcessGrid) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  // For a GPU: lengths without a kernel, with one, and powers of two; rows of which three fill a multiprocessor; rows
  // that do not fill a block of threads, more rows than a chunk has; ny = 1.
  for (const Cells& cells : {Cells{7, 5, 11}, Cells{13, 1, 9}, Cells{31, 17, 12}, Cells{16, 12, 8}, Cells{30, 9, 10},
                             Cells{32, 12, 9}, Cells{64, 1, 9}, Cells{96, 37, 8}, Cells{160, 70, 8}, Cells{256, 20, 8},
                             Cells{768, 5, 8}, Cells{1024, 7, 8}, Cells{2240, 5, 8}, Cells{7168, 3, 8}}) {
    for (const Order order : {Order::second, Order::fourth}) {
      constexpr int z_blocks = 4;
      for (const ProcessGrid& processes : Decomposition::candidates(cells, ranks, z_blocks)) {
        const std::string what = std::to_string(cells[0]) + " x " + std::to_string(cells[1]) + " x " +
                                 std::to_string(cells[2]) + ", order " + (order == Order::fourth ? "4" : "2") +
                                 ", ranks " + std::to_string(processes.py) + " x " + std::to_string(processes.pz);
        SCOPED_TRACE(what);
        compare(cells, order, processes, z_blocks);
      }
    }
  }
}

}  // namespace
}  // namespace sluice
