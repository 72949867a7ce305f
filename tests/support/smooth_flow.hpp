#pragma once
// A smooth flow whose averages are known, to measure how fast statistics converge.
#include <array>
#include <cmath>
#include <numbers>

namespace sluice::test {

/// Number of derivatives along x, y and z.
struct Derivative {
  int x = 0, y = 0, z = 0;
};

/// A smooth, divergence-free flow between free-slip walls at z = 0 and pi: a mean velocity and Fourier modes.
class SmoothFlow {
 public:
  double u(double x, double y, double z, Derivative d = {}) const {
    double sum = 0;
    for (const Mode& m : modes)
      sum += m.a * sine(m.kx, m.phase, x, d.x) * cosine(m.ky, 0, y, d.y) * cosine(m.kz, 0, z, d.z);
    return sum;
  }
  double v(double x, double y, double z, Derivative d = {}) const {
    double sum = 0;
    for (const Mode& m : modes)
      sum += m.b * cosine(m.kx, m.phase, x, d.x) * sine(m.ky, 0, y, d.y) * cosine(m.kz, 0, z, d.z);
    return sum;
  }
  double w(double x, double y, double z, Derivative d = {}) const {
    double sum = 0;
    for (const Mode& m : modes) {
      const double c = -(m.kx * m.a + m.ky * m.b) / m.kz;
      sum += c * cosine(m.kx, m.phase, x, d.x) * cosine(m.ky, 0, y, d.y) * sine(m.kz, 0, z, d.z);
    }
    return sum;
  }
  double p(double x, double y, double z, Derivative d = {}) const {
    return cosine(1, 0.3, x, d.x) * cosine(1, 0, y, d.y) * cosine(1, 0, z, d.z) +
           0.7 * sine(2, 0, x, d.x) * cosine(2, 0, y, d.y) * cosine(2, 0, z, d.z) +
           (d.x + d.y == 0 ? mean_p(z, d.z) : 0);
  }
  static double mean_p(double z, int d = 0) { return 0.4 * cosine(2, 0, z, d); }
  static double mean_u(double z, int d = 0) { return 1.5 * cosine(1, 0, z, d); }

 private:
  struct Mode {
    double kx, ky, kz, phase, a, b;
  };
  /// The d-th derivative of sin(k x + phase).
  static double sine(double k, double phase, double x, int d) {
    return std::pow(k, d) * std::sin(k * x + phase + d * std::numbers::pi / 2);
  }
  static double cosine(double k, double phase, double x, int d) { return sine(k, phase + std::numbers::pi / 2, x, d); }
  std::array<Mode, 4> modes{
      {{1, 1, 1, 0, 1.0, 0.6}, {1, 1, 2, 1.1, 0.8, -0.5}, {2, 2, 1, 0.4, 0.7, 0.9}, {1, 1, 3, 2.0, -0.6, 0.4}}};
};

/// Average over x and y, exact for products of few modes.
double plane_average(const auto& quantity) {
  constexpr int n = 24;
  double sum = 0;
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) sum += quantity(2 * std::numbers::pi * i / n, 2 * std::numbers::pi * j / n);
  }
  return sum / (n * n);
}

}  // namespace sluice::test
