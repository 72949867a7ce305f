#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// Face coordinates z_0 = 0 ... z_nz = height. `both_walls`: refined at both ends (channel); otherwise at the bottom
/// only (open channel).
std::vector<double> uniform_nodes(std::int64_t nz, double height);

/// z = 1 + tanh(a (2k/nz - 1)) / tanh(a) over a channel of height 2, scaled; an open channel takes the lower half.
std::vector<double> tanh_nodes(std::int64_t nz, double height, double factor, bool both_walls);

/// Spacing that scales with the viscous length at the wall and the Kolmogorov length outside: Pirozzoli & Orlandi, J.
/// Comput. Phys. 439, 110408 (2021), eq. (13): z+(k) = [dz_w+ k + (3/4 alpha c_eta k)^(4/3) (k/k_b)^2] / [1 +
/// (k/k_b)^2] with dz_w+ = 0.05, k_b = 40, c_eta = 0.8. The number of cells and re_tau set alpha, the spacing in
/// Kolmogorov lengths; the paper recommends 1.25. Throws Error(usage) if no alpha between 0.3 and 4 fits.
std::vector<double> natural_nodes(std::int64_t nz, double height, double re_tau, bool both_walls);

/// nz + 1 numbers (parse_table_number), one per line; skips blank lines, # comments and a byte-order mark. Throws
/// Error(usage) naming file and line.
std::vector<double> nodes_from_text(const std::string& text, const std::string& file, std::int64_t nz, double height);

}  // namespace sluice
