#pragma once
#include <array>
#include <cstddef>

namespace sluice {

/// Low-storage RK3 (Wray), pressure-corrected in every substep: Diez Sanhueza et al. 2025, eqs. 3-11.
struct Rk3 {
  static constexpr int substeps = 3;
  static constexpr std::array<double, 3> alpha{8.0 / 15.0, 5.0 / 12.0, 3.0 / 4.0};
  static constexpr std::array<double, 3> beta{0.0, -17.0 / 60.0, -5.0 / 12.0};
  static constexpr double gamma(int k) {
    return alpha[static_cast<std::size_t>(k)] + beta[static_cast<std::size_t>(k)];
  }
  static constexpr std::array<const char*, substeps> names{"substep 1", "substep 2", "substep 3"};
  /// End of substep k as a fraction of the step: gamma_0 + ... + gamma_k.
  static constexpr double end(int k) { return std::array{8.0 / 15.0, 2.0 / 3.0, 1.0}[static_cast<std::size_t>(k)]; }
};

/// Substep k (0, 1, 2) of a step of length dt that begins at `time`.
struct Substep {
  int k;
  double time, dt;

  double length() const { return Rk3::gamma(k) * dt; }
  double end() const { return time + Rk3::end(k) * dt; }
  double start() const { return k == 0 ? time : time + Rk3::end(k - 1) * dt; }

  /// (alpha f(t_k) + beta f(t_{k-1})) / gamma, with t_k the start of the substep: gamma dt times this is what the
  /// scheme adds to a field for a tendency f that depends on time alone.
  double mean_of(auto&& f) const {
    const auto n = static_cast<std::size_t>(k);
    if (k == 0) return f(time);
    return (Rk3::alpha[n] * f(start()) + Rk3::beta[n] * f(Substep{k - 1, time, dt}.start())) / Rk3::gamma(k);
  }
};

}  // namespace sluice
