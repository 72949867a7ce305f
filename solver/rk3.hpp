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

/// Substep k (0, 1, 2) of a step of length dt from `time` to `end_time`, which is time + dt up to round-off.
struct Substep {
  int k;
  double time, dt, end_time;

  double length() const { return Rk3::gamma(k) * dt; }
  double start() const { return start_of(k); }
  double end() const { return k + 1 == Rk3::substeps ? end_time : start_of(k + 1); }

  /// (alpha f(t_k) + beta f(t_{k-1})) / gamma, with t_k the start of the substep: gamma dt times this is what the
  /// scheme adds to a field for a tendency f that depends on time alone.
  double mean_of(auto&& f) const {
    const auto n = static_cast<std::size_t>(k);
    if (k == 0) return f(time);
    return (Rk3::alpha[n] * f(start()) + Rk3::beta[n] * f(start_of(k - 1))) / Rk3::gamma(k);
  }

 private:
  double start_of(int substep) const { return substep == 0 ? time : time + Rk3::end(substep - 1) * dt; }
};

}  // namespace sluice
