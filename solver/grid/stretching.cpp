// The faces along z of each type of stretching.
#include "solver/grid/stretching.hpp"

#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "core/support/error.hpp"
#include "core/support/plain_text.hpp"

namespace sluice {

namespace {

/// Makes the upper half the exact mirror image of the lower one, so that a symmetric flow stays bitwise symmetric.
void mirror(std::vector<double>& z, double height) {
  const std::size_t nz = z.size() - 1;
  for (std::size_t k = 0; 2 * k <= nz; ++k) z[nz - k] = height - z[k];
  if (nz % 2 == 0) z[nz / 2] = height / 2;
  z[0] = 0;
  z[nz] = height;
}

}  // namespace

std::vector<double> uniform_nodes(std::int64_t nz, double height) {
  std::vector<double> z;
  for (std::int64_t k = 0; k <= nz; ++k) z.push_back(height * static_cast<double>(k) / static_cast<double>(nz));
  return z;
}

std::vector<double> tanh_nodes(std::int64_t nz, double height, double factor, bool both_walls) {
  std::vector<double> z;
  for (std::int64_t k = 0; k <= nz; ++k) {
    const double fraction = static_cast<double>(k) / static_cast<double>(nz);
    const double lower_half = both_walls ? 2 * fraction - 1 : fraction - 1;
    const double at = 1 + std::tanh(factor * lower_half) / std::tanh(factor);
    z.push_back(both_walls ? at * height / 2 : at * height);
  }
  z.front() = 0;
  z.back() = height;
  if (both_walls) mirror(z, height);
  return z;
}

namespace {

constexpr double natural_wall_spacing = 0.05;  // dz_w+
constexpr double natural_blend = 40;           // k_b
constexpr double natural_c_eta = 0.8;

/// The spacing, in Kolmogorov lengths, with which `cells` cells reach from a wall to the centre; 0 if there is no such
/// spacing.
double natural_alpha(double cells, double re_tau) {
  const double outer = std::pow(cells / natural_blend, 2);
  const double centre = re_tau * (1 + outer) - natural_wall_spacing * cells;  // value of the outer law at the centre
  return centre > 0 ? std::pow(centre / outer, 0.75) / (0.75 * natural_c_eta * cells) : 0;
}

/// The smallest number of cells along z whose spacing is at most `wanted` Kolmogorov lengths.
std::int64_t natural_cells(double wanted, double re_tau, int cells_of_cell) {
  std::int64_t cells = 1;
  constexpr std::int64_t most = 100000;
  while (cells < most && natural_alpha(static_cast<double>(cells), re_tau) > wanted) ++cells;
  return cells * cells_of_cell;
}

}  // namespace

std::vector<double> natural_nodes(std::int64_t nz, double height, double re_tau, bool both_walls) {
  const double cells = both_walls ? static_cast<double>(nz) / 2 : static_cast<double>(nz);
  const double alpha = natural_alpha(cells, re_tau);
  if (!(alpha >= 0.3 && alpha <= 4)) {
    const int halves = both_walls ? 2 : 1;
    throw Error(ExitCode::usage,
                fmt::format("grid.stretching: {} cells along z for re_tau = {} would put the spacing at {:.2f} "
                            "Kolmogorov lengths; the natural stretching is meant for 0.3 to 4: take {} to {} cells, "
                            "best about {}, or tanh",
                            nz, re_tau, alpha, natural_cells(4, re_tau, halves),
                            natural_cells(0.3, re_tau, halves) - halves, natural_cells(1.25, re_tau, halves)));
  }
  const auto z_plus = [&](double k) {
    const double ratio = std::pow(k / natural_blend, 2);
    return (natural_wall_spacing * k + std::pow(0.75 * alpha * natural_c_eta * k, 4.0 / 3.0) * ratio) / (1 + ratio);
  };
  const double half = both_walls ? height / 2 : height;
  std::vector<double> z(static_cast<std::size_t>(nz) + 1, 0.0);
  for (std::size_t k = 1; k < z.size(); ++k) z[k] = half * z_plus(static_cast<double>(k)) / z_plus(cells);
  z.back() = height;
  if (both_walls) mirror(z, height);
  return z;
}

std::vector<double> nodes_from_text(const std::string& text, const std::string& file, std::int64_t nz, double height) {
  const auto refuse = [&](const std::string& what) { throw Error(ExitCode::usage, file + what); };
  if (const auto fault = fault_of_plain_text(text, "a file of face coordinates"))
    refuse(fmt::format(":{}:{}: {}", fault->line, fault->column, fault->what));
  std::vector<double> z;
  std::istringstream lines{std::string(without_byte_order_mark(text))};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line = line.substr(0, line.find('#'));
    const std::size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string::npos) continue;
    const std::string word = line.substr(start, line.find_last_not_of(" \t\r") + 1 - start);
    const auto value = parse_table_number(word);
    if (!value)
      refuse(fmt::format(":{}: '{:.60}' is not a number; expected one face coordinate per line", number, word));
    z.push_back(*value);
  }
  if (z.size() != static_cast<std::size_t>(nz) + 1)
    refuse(fmt::format(": {} face coordinates, but grid.cells asks for {} cells in z, which have {} faces", z.size(),
                       nz, nz + 1));
  if (std::abs(z.front()) > 1e-12 || std::abs(z.back() - height) > 1e-12 * height) {
    const std::string advice = z.front() == 0 && z.back() > 0
                                   ? fmt::format("; multiply all of them by {}", height / z.back())
                                   : "; shift and scale them to that height";
    refuse(fmt::format(": the faces run from {} to {}, but the domain from 0 to {}{}", z.front(), z.back(), height,
                       advice));
  }
  z.front() = 0;
  z.back() = height;
  return z;
}

}  // namespace sluice
