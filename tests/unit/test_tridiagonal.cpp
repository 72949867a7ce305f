// Tridiagonal systems along z: the matrices, and both methods against a dense solve.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "core/support/random.hpp"
#include "poisson/helmholtz_solver.hpp"
#include "tests/support/dense.hpp"
#include "tests/support/global_array.hpp"

namespace sluice {
namespace {

using test::GlobalArray;

/// Faces of nz cells of random height.
std::vector<double> random_nodes(std::size_t nz) {
  std::vector<double> nodes{0};
  for (std::size_t k = 0; k < nz; ++k) nodes.push_back(nodes.back() + 0.05 + uniform01(7, k));
  return nodes;
}

std::vector<double> times(const TridiagonalRows& rows, const std::vector<double>& x) {
  std::vector<double> result(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    result[k] = rows.diagonal[k] * x[k];
    if (k > 0) result[k] += rows.lower[k] * x[k - 1];
    if (k + 1 < x.size()) result[k] += rows.upper[k] * x[k + 1];
  }
  return result;
}

test::DenseMatrix dense_helmholtz(const TridiagonalRows& rows, double c) {
  const std::size_t nz = rows.diagonal.size();
  test::DenseMatrix matrix(nz);
  for (std::size_t k = 0; k < nz; ++k) {
    matrix(k, k) = 1 - c * rows.diagonal[k];
    if (k > 0) matrix(k, k - 1) = -c * rows.lower[k];
    if (k + 1 < nz) matrix(k, k + 1) = -c * rows.upper[k];
  }
  return matrix;
}

// A linear profile has a uniform gradient, so its second derivative is 0 wherever the wall row's gradient is
// the same.
TEST(SecondDerivative, OfLinearProfile) {
  const std::vector<double> nodes = random_nodes(9);
  std::vector<double> centers, faces;
  for (std::size_t k = 0; k < 9; ++k) centers.push_back((nodes[k] + nodes[k + 1]) / 2);
  for (std::size_t k = 0; k < 9; ++k) faces.push_back(nodes[k + 1]);

  const auto at_centers = times(second_derivative_centers(nodes, WallRow::dirichlet, WallRow::neumann), centers);
  const auto at_faces = times(second_derivative_faces(nodes), faces);
  double largest = 0;
  for (std::size_t k = 0; k < 8; ++k)
    largest = std::max(largest, std::abs(at_centers[k]));  // the bottom wall at 0 is on the line
  for (std::size_t k = 0; k < 7; ++k) largest = std::max(largest, std::abs(at_faces[k]));  // w = 0 at the top is not
  std::printf("second derivative of a linear profile: %.2e\n", largest);
  EXPECT_LT(largest, 1e-11);

  const double dz = nodes[9] - nodes[8];  // without flux through the top wall, the gradient 1 below it is all there is
  EXPECT_NEAR(at_centers[8], -1 / dz, 1e-12 / dz);
}

TEST(SecondDerivative, WallRows) {
  const std::vector<double> nodes{0, 1, 3, 4};
  const TridiagonalRows dirichlet = second_derivative_centers(nodes, WallRow::dirichlet, WallRow::dirichlet);
  const TridiagonalRows neumann = second_derivative_centers(nodes, WallRow::neumann, WallRow::neumann);
  EXPECT_DOUBLE_EQ(dirichlet.diagonal[0], -1 / 1.5 - 2);
  EXPECT_DOUBLE_EQ(neumann.diagonal[0], -1 / 1.5);
  EXPECT_DOUBLE_EQ(dirichlet.diagonal[2], -1 / 1.5 - 2);
  EXPECT_DOUBLE_EQ(neumann.diagonal[2], -1 / 1.5);
  EXPECT_DOUBLE_EQ(neumann.diagonal[1], -(1 / 1.5 + 1 / 1.5) / 2);
  const TridiagonalRows faces = second_derivative_faces(nodes);
  EXPECT_DOUBLE_EQ(faces.diagonal[0], -(1.0 + 0.5) / 1.5);
  EXPECT_DOUBLE_EQ(faces.upper[0], 0.5 / 1.5);
  EXPECT_DOUBLE_EQ(faces.lower[1], 0.5 / 1.5);
  EXPECT_EQ(faces.upper[1], 0);
  EXPECT_EQ(faces.diagonal[2], 0);
  EXPECT_EQ(faces.lower[2], 0);
}

TEST(SecondDerivative, RefusesFoldedGrid) {
  EXPECT_THROW(second_derivative_faces({0, 1, 1, 2}), Error);
}

struct Case {
  std::string name;
  std::function<TridiagonalRows(const std::vector<double>&)> rows;
};

std::vector<Case> wall_combinations() {
  std::vector<Case> cases{{"w at faces", second_derivative_faces}};
  for (const WallRow bottom : {WallRow::dirichlet, WallRow::neumann}) {
    for (const WallRow top : {WallRow::dirichlet, WallRow::neumann}) {
      cases.push_back(
          {std::string("centres, ") + (bottom == WallRow::dirichlet ? "dirichlet" : "neumann") + "/" +
               (top == WallRow::dirichlet ? "dirichlet" : "neumann"),
           [=](const std::vector<double>& nodes) { return second_derivative_centers(nodes, bottom, top); }});
    }
  }
  return cases;
}

/// Largest error of the field solve, over the largest solution, against dense solves of each line.
double error_against_dense(const TridiagonalRows& rows, std::array<std::int64_t, 3> cells, int blocks,
                           TridiagonalMethod method, double c) {
  const Communicator comm(MPI_COMM_SELF, {1, 1});
  const Decomposition decomposition(cells, {1, 1}, blocks);
  const auto exchange = make_exchange("auto", MPI_COMM_SELF);
  ZHelmholtzSolver solver(comm, decomposition, rows, method, *exchange);
  solver.prepare(7.5);  // must leave no trace
  solver.prepare(c);

  GlobalArray rhs(cells);
  for (std::size_t n = 0; n < rhs.values.size(); ++n) rhs.values[n] = static_cast<real>(uniform01(3, n) - 0.5);
  Field x(decomposition.x_pencil(0), Location::center);
  test::scatter(rhs, x, std::nan(""));
  solver.solve(x);
  const GlobalArray solution = test::gather(x, cells, MPI_COMM_SELF);

  double error = 0;
  double profile_error = 0;
  double scale = 0;
  for (std::int64_t j = 0; j < cells[1]; ++j) {
    for (std::int64_t i = 0; i < cells[0]; i += std::max<std::int64_t>(1, cells[0] - 1)) {
      std::vector<double> line, computed;
      for (std::int64_t k = 0; k < cells[2]; ++k) {
        line.push_back(rhs(i, j, k));
        computed.push_back(solution(i, j, k));
      }
      const std::vector<double> exact = test::solve_dense(dense_helmholtz(rows, c), line);
      error = std::max(error, test::largest_difference(exact, computed));
      error = std::max(error, real_epsilon * 1e10 * test::largest_difference(exact, solver.solve_profile(line)));
      scale = std::max(scale, test::largest(exact));
    }
  }
  EXPECT_LT(profile_error, 1e-13 * scale) << "solve_profile";
  return error / scale;
}

TEST(Helmholtz, BothMethodsAgreeWithDenseSolve) {
  struct Size {
    std::array<std::int64_t, 3> cells;
    int blocks;
  };
  const std::vector<Size> sizes{{{5, 3, 11}, 1}, {{33, 2, 11}, 3}, {{31, 1, 11}, 5}, {{64, 2, 2}, 1},
                                {{1, 4, 13}, 6}, {{7, 2, 150}, 1}, {{3, 2, 151}, 2}};
  double worst = 0;
  for (const Case& wall : wall_combinations()) {
    for (const Size& size : sizes) {
      const TridiagonalRows rows = wall.rows(random_nodes(static_cast<std::size_t>(size.cells[2])));
      for (const TridiagonalMethod method : {TridiagonalMethod::ptdma, TridiagonalMethod::transpose}) {
        for (const double c : {0.0, 1e-3, 0.3, 50.0}) {
          const double error = error_against_dense(rows, size.cells, size.blocks, method, c);
          worst = std::max(worst, error);
          EXPECT_LT(error, 100 * real_epsilon)
              << wall.name << ", nz " << size.cells[2] << ", blocks " << size.blocks << ", c " << c;
        }
      }
    }
  }
  std::printf("error against dense solves: %.2e = %.1f eps\n", worst, worst / real_epsilon);
}

// The row on the top wall must neither change nor be felt below.
TEST(Helmholtz, TopWallFaceIsDecoupled) {
  const std::array<std::int64_t, 3> cells{6, 2, 9};
  const Communicator comm(MPI_COMM_SELF, {1, 1});
  const auto exchange = make_exchange("auto", MPI_COMM_SELF);
  const Decomposition decomposition(cells, {1, 1}, 2);
  ZHelmholtzSolver solver(comm, decomposition, second_derivative_faces(random_nodes(9)), TridiagonalMethod::ptdma,
                          *exchange);
  solver.prepare(0.2);
  const auto solve_with_top = [&](double top) {
    GlobalArray rhs(cells);
    for (std::size_t n = 0; n < rhs.values.size(); ++n) rhs.values[n] = uniform01(4, n);
    for (std::int64_t j = 0; j < cells[1]; ++j) {
      for (std::int64_t i = 0; i < cells[0]; ++i) rhs(i, j, cells[2] - 1) = top;
    }
    Field x(decomposition.x_pencil(0), Location::z_face);
    test::scatter(rhs, x, 0);
    solver.solve(x);
    return test::gather(x, cells, MPI_COMM_SELF);
  };
  GlobalArray with_0 = solve_with_top(0);
  const GlobalArray with_5 = solve_with_top(5);
  for (std::int64_t j = 0; j < cells[1]; ++j) {
    for (std::int64_t i = 0; i < cells[0]; ++i) {
      EXPECT_EQ(with_0(i, j, cells[2] - 1), 0);
      EXPECT_EQ(with_5(i, j, cells[2] - 1), 5);
      with_0(i, j, cells[2] - 1) = 5;
    }
  }
  EXPECT_EQ(with_0.values, with_5.values);
}

}  // namespace
}  // namespace sluice
