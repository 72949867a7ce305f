#pragma once
// Tridiagonal systems along z with random right-hand sides, for tests that solve the same lines in several ways.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <vector>

#include "core/support/random.hpp"
#include "poisson/tridiagonal/line_solver.hpp"
#include "poisson/tridiagonal/line_tables.hpp"

namespace sluice::test {

struct LineShape {
  int nx, ny, nz, blocks;  ///< nx, ny: lines
};

inline std::vector<double> stretched_nodes(int nz) {
  std::vector<double> nodes{0};
  for (int k = 0; k < nz; ++k)
    nodes.push_back(nodes.back() + (0.4 + uniform01(11, static_cast<std::uint64_t>(k))) / nz);
  return nodes;
}

/// Eigenvalues as those of periodic cells: the first is 0, so that line (0, 0) is singular.
inline double eigenvalue(int i) {
  return -4.0 * i * i;
}

inline std::vector<double> eigenvalues(int n) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i) values.push_back(eigenvalue(i));
  return values;
}

/// On one rank.
inline Decomposition decomposition_of(const LineShape& shape) {
  return {{shape.nx, shape.ny, shape.nz}, {1, 1}, shape.blocks};
}

/// With all blocks of the grid.
inline LinePlan plan_of(const LineShape& shape) {
  return plan_lines(decomposition_of(shape), 0, LineStrategy::two_passes);
}

/// The system A x = d of a line, in host memory.
struct LineSystem {
  TridiagonalRows matrix;  ///< of a singular line, with the flux through the top wall
  std::vector<real> rhs;
  std::vector<double> mean_weight;  ///< of a singular line, whose solution has mean 0; otherwise empty

  bool is_singular() const { return !mean_weight.empty(); }
};

/// The coefficients of a rank that holds all lines.
template <class Lines>
class LineProblem;

template <>
class LineProblem<ShiftedLines> {
 public:
  explicit LineProblem(const LineShape& shape) : LineProblem(shape, plan_of(shape)) {}
  LineProblem(const LineShape& shape, const LinePlan& plan)
      : shape_(shape),
        tables_(stretched_nodes(shape.nz), eigenvalues(shape.nx), eigenvalues(shape.ny), plan, scale),
        home_(tables_.at_home(box_of(shape.nx, shape.ny, shape.nz))),
        lines_(tables_.whole(box_of(shape.nx, shape.ny, shape.nz))) {}

  const ShiftedLines& home() const { return home_; }
  const ShiftedLines& lines() const { return lines_; }

  LineSystem system(int i, int j, const std::vector<real>& rhs) const {
    const std::vector<double> nodes = stretched_nodes(shape_.nz);
    LineSystem line{second_derivative_centers(nodes, WallRow::neumann, WallRow::neumann), rhs, {}};
    const double shift = eigenvalue(i) + eigenvalue(j);
    TridiagonalRows& rows = line.matrix;
    for (auto* values : {&rows.lower, &rows.diagonal, &rows.upper}) {
      for (double& value : *values) value *= scale;
    }
    for (double& value : rows.diagonal) value += scale * shift;
    if (shift != 0) return line;
    const double top = nodes.back() - nodes[nodes.size() - 2];
    rows.diagonal.back() -= scale * 2 / (top * top);
    for (std::size_t k = 0; k < rhs.size(); ++k) line.mean_weight.push_back((nodes[k + 1] - nodes[k]) / nodes.back());
    return line;
  }

 private:
  static constexpr double scale = 8;

  LineShape shape_;
  PoissonTables tables_;
  ShiftedLines home_, lines_;
};

template <>
class LineProblem<TableLines> {
 public:
  explicit LineProblem(const LineShape& shape) : LineProblem(shape, plan_of(shape)) {}
  LineProblem(const LineShape& shape, const LinePlan& plan)
      : tables_(second_derivative_centers(stretched_nodes(shape.nz), WallRow::dirichlet, WallRow::neumann), plan) {
    tables_.prepare(0.01);
    home_ = tables_.at_home();
    lines_ = tables_.whole();
  }

  const TableLines& home() const { return home_; }
  const TableLines& lines() const { return lines_; }

  LineSystem system(int /*i*/, int /*j*/, const std::vector<real>& rhs) const { return {tables_.matrix(), rhs, {}}; }

 private:
  HelmholtzTables tables_;
  TableLines home_, lines_;
};

/// Lines in device memory with padded rows and planes, 16 bytes from its start, and random values; the singular line is
/// real, as it is after Fourier transforms.
template <class Lines>
class LineData {
 public:
  static constexpr int components = Lines::components;
  static constexpr std::ptrdiff_t offset = 16 / sizeof(real);

  explicit LineData(const LineShape& shape)
      : row_(components * (shape.nx + (shape.nx % 6 == 3 ? 5 : 4))),  // odd and even rows of odd lines
        plane_(row_ * (shape.ny + 1)),
        shape_(shape) {
    std::vector<real> host(static_cast<std::size_t>(offset + plane_ * shape.nz));
    for (std::size_t n = 0; n < host.size(); ++n) host[n] = static_cast<real>(uniform01(3, n) - 0.5);
    for (int k = 0; k < shape.nz && components == 2; ++k) host[static_cast<std::size_t>(offset + k * plane_ + 1)] = 0;
    padding_ = host;
    data_ = Buffer<real>(host);
  }

  LineArray array() { return {data_.data() + offset, row_, plane_, components * shape_.nx, shape_.ny}; }
  /// The values line after line, a complex line as two. Padding must be as it was.
  std::vector<std::vector<real>> lines() const {
    const std::vector<real> now = data_.download();
    std::vector<std::vector<real>> result;
    for (int j = 0; j <= shape_.ny; ++j) {
      for (std::ptrdiff_t i = 0; i < row_; ++i) {
        const bool owned = j < shape_.ny && i < components * shape_.nx;
        if (owned) result.emplace_back();
        for (int k = 0; k < shape_.nz; ++k) {
          const auto n = static_cast<std::size_t>(offset + i + row_ * j + plane_ * k);
          if (owned) {
            result.back().push_back(now[n]);
          } else {
            SLUICE_REQUIRE(now[n] == padding_[n], "padding was written to");
          }
        }
      }
    }
    return result;
  }

 private:
  std::ptrdiff_t row_, plane_;
  LineShape shape_;
  std::vector<real> padding_;
  Buffer<real> data_;
};

/// The lines solved by LineSolver, on one rank; by default by the fastest strategy.
template <class Lines>
std::vector<std::vector<real>> solve_lines(const LineShape& shape, std::optional<LineStrategy> strategy = {}) {
  const Communicator comm(MPI_COMM_SELF, {1, 1});
  const Decomposition decomposition = decomposition_of(shape);
  const LinePlan plan =
      plan_lines(decomposition, 0, strategy.value_or(line_strategy(decomposition, TridiagonalMethod::ptdma)));
  const auto exchange = make_exchange("auto", MPI_COMM_SELF);
  const std::vector<Box3> boxes{box_of(shape.nx, shape.ny, shape.nz)};
  const auto solver = make_line_solver<Lines>(comm, {boxes, boxes, 0}, plan, *exchange);
  const LineProblem<Lines> problem(shape, plan);
  LineData<Lines> data(shape);
  solver->solve({{problem.home(), problem.lines(), data.array()}});
  device::synchronize();
  return data.lines();
}

/// The Thomas algorithm in extended precision.
inline std::vector<long double> solve_in_extended_precision(const TridiagonalRows& rows, std::vector<long double> d) {
  std::vector<long double> pivot(d.size());
  for (std::size_t k = 0; k < d.size(); ++k) {
    const long double factor = k > 0 ? rows.lower[k] / pivot[k - 1] : 0;
    pivot[k] = rows.diagonal[k] - (k > 0 ? factor * rows.upper[k - 1] : 0);
    if (k > 0) d[k] -= factor * d[k - 1];
  }
  for (std::size_t k = d.size(); k-- > 0;) d[k] = (d[k] - (k + 1 < d.size() ? rows.upper[k] * d[k + 1] : 0)) / pivot[k];
  return d;
}

/// How well lines are solved, in units of real's round-off; the largest of all rows and lines. Rows are measured by
/// m = |A| max|x| + |d|, where the x of a singular line includes the mean that is subtracted from it.
struct LineErrors {
  double backward = 0;  ///< |d - A x| over m, row by row: about 1 if x is only rounded
  double forward = 0;   ///< error of x over max(|A^-1| m), the largest error that residuals of 1 can cause

  void include(const LineErrors& other) {  // keeps a NaN
    backward = other.backward <= backward ? backward : other.backward;
    forward = other.forward <= forward ? forward : other.forward;
  }
};

/// 3 to 4 times the largest measured. They depend neither on nz nor on the condition of the lines.
inline constexpr LineErrors max_line_errors{8, 2};

inline LineErrors line_errors(const LineSystem& line, const std::vector<real>& x) {
  const std::vector<long double> exact = solve_in_extended_precision(line.matrix, {line.rhs.begin(), line.rhs.end()});
  long double mean = 0;
  for (std::size_t k = 0; k < line.mean_weight.size(); ++k) mean += line.mean_weight[k] * exact[k];
  long double largest = 0;
  for (const real value : x) largest = std::max<long double>(largest, std::abs(value));
  largest += std::abs(mean);

  const auto in_epsilons = [](long double error, long double size) {
    return error == 0 ? 0 : static_cast<double>(std::abs(error) / size) / real_epsilon;
  };
  const auto at = [&x](std::size_t k) { return k < x.size() ? static_cast<long double>(x[k]) : 0; };
  LineErrors worst;
  std::vector<long double> magnitudes;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const long double lower = line.matrix.lower[k], diagonal = line.matrix.diagonal[k], upper = line.matrix.upper[k];
    magnitudes.push_back((std::abs(lower) + std::abs(diagonal) + std::abs(upper)) * largest + std::abs(line.rhs[k]));
    // The last row of a singular line determines the flux. The other rows determine x up to a constant.
    if (line.is_singular() && k + 1 == x.size()) break;
    const long double residual = line.rhs[k] - lower * at(k - 1) - diagonal * at(k) - upper * at(k + 1);
    worst.include({in_epsilons(residual, magnitudes[k]), 0});
  }
  // A or -A is an M-matrix, so |A^-1| m = |A^-1 m|.
  long double bound = 0;
  for (const long double value : solve_in_extended_precision(line.matrix, magnitudes))
    bound = std::max(bound, std::abs(value));
  for (std::size_t k = 0; k < x.size(); ++k) worst.include({0, in_epsilons(x[k] - (exact[k] - mean), bound)});
  return worst;
}

/// Expects that solve(shape) gives the solutions of all lines, as LineData::lines() does, to round-off.
template <class Lines, class Solve>
void expect_solved(const char* what, const std::vector<LineShape>& shapes, const Solve& solve) {
  LineErrors worst;
  for (const LineShape& shape : shapes) {
    const LineProblem<Lines> problem(shape);
    const std::vector<std::vector<real>> rhs = LineData<Lines>(shape).lines();
    const std::vector<std::vector<real>> x = solve(shape);
    LineErrors errors;
    for (std::size_t n = 0; n < x.size(); ++n) {
      const int line = static_cast<int>(n) / Lines::components;
      errors.include(line_errors(problem.system(line % shape.nx, line / shape.nx, rhs[n]), x[n]));
    }
    EXPECT_LE(errors.backward, max_line_errors.backward) << what << ", nz " << shape.nz << ", blocks " << shape.blocks;
    EXPECT_LE(errors.forward, max_line_errors.forward) << what << ", nz " << shape.nz << ", blocks " << shape.blocks;
    worst.include(errors);
  }
  std::printf("%s: backward error %.2f eps, forward error %.2f eps times the condition\n", what, worst.backward,
              worst.forward);
}

/// Largest difference of two solutions over the largest value of its line, in units of real's round-off.
inline double difference_in_epsilons(const std::vector<std::vector<real>>& a, const std::vector<std::vector<real>>& b) {
  double worst = 0;
  for (std::size_t line = 0; line < a.size(); ++line) {
    double largest = 0;
    double difference = 0;
    for (std::size_t k = 0; k < a[line].size(); ++k) {
      const double apart = std::abs(static_cast<double>(a[line][k]) - static_cast<double>(b[line][k]));
      difference = apart <= difference ? difference : apart;  // keeps a NaN
      largest = std::max(largest, std::abs(static_cast<double>(b[line][k])));
    }
    if (difference == 0) continue;
    const double relative = difference / largest / real_epsilon;
    worst = relative <= worst ? worst : relative;
  }
  return worst;
}

/// Expects that solve(shape) gives what solve_lines gives, to round-off; the arithmetic is the same.
template <class Lines, class Solve>
void expect_agreement(const char* what, const std::vector<LineShape>& shapes, const Solve& solve) {
  double worst = 0;
  for (const LineShape& shape : shapes) {
    const double difference = difference_in_epsilons(solve(shape), solve_lines<Lines>(shape));
    EXPECT_LE(difference, 200) << what << ", nz " << shape.nz << ", blocks " << shape.blocks;
    worst = std::max(worst, difference);
  }
  std::printf("%s: largest difference %.1f eps\n", what, worst);
}

/// For kernels whose blocks have room for so many rows; even numbers of lines.
inline const std::vector<LineShape> up_to_16_rows{{6, 2, 630, 210}, {4, 2, 976, 61}, {6, 3, 2, 1},
                                                  {6, 3, 3, 1},     {34, 2, 13, 4},  {6, 3, 16, 1},
                                                  {8, 2, 31, 2},    {4, 5, 79, 5},   {10, 2, 384, 24}};
inline const std::vector<LineShape> of_16_or_17_rows{{6, 3, 17, 1}, {4, 4, 82, 5}, {2, 3, 16, 1}};

/// Blocks of 2 to 40 rows, one to many of them, even and uneven; odd numbers of lines.
inline std::vector<LineShape> line_shapes() {
  std::vector<LineShape> shapes;
  for (int rows = 2; rows <= 40; ++rows) {
    shapes.push_back({5, 3, rows, 1});
    shapes.push_back({33, 2, 3 * rows, 3});
    if (rows > 2) shapes.push_back({7, 5, 5 * rows - 2, 5});
  }
  shapes.push_back({37, 3, 24 * 16, 24});
  shapes.push_back({36, 3, 24 * 16, 24});
  shapes.push_back({34, 2, 9 * 16, 9});
  shapes.push_back({65, 2, 61 * 17 - 5, 61});
  shapes.push_back({67, 2, 101 * 4 - 1, 101});
  shapes.push_back({35, 2, 200 * 3, 200});
  shapes.push_back({3, 2, 210 * 3, 210});
  return shapes;
}

}  // namespace sluice::test
