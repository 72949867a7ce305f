#pragma once
// Quantities at cell centres (docs/equations.md, Fields at cell centres), each a functor over cells.
#include <cmath>
#include <numbers>

#include "core/device/parallel_for.hpp"
#include "solver/momentum/operators.hpp"

namespace sluice::derived {

/// Differences between the points of a line, as a line: number n is that at n + 1/2.
template <Order order, class Line>
struct DifferencesAbove {
  Line line;
  SLUICE_INLINE real operator()(int n) const { return op::difference_above<order>(line, n); }
};

/// The value at point 0 of a line through the points n + 1/2.
template <Order order, class Line>
SLUICE_INLINE real interpolated(const Line& line) {
  return op::sum_above<order>(line, -1) / 2;
}

/// The derivative at point 0 times the spacing: the scheme's differences, interpolated.
template <Order order, class Line>
SLUICE_INLINE real centered_difference(const Line& line) {
  return interpolated<order>(DifferencesAbove<order, Line>{line});
}

/// A line along x whose values are derivatives along y there, times the spacing.
template <Order order, class F, class C>
struct DifferencesAlongY {
  const F& f;
  const C& c;
  SLUICE_INLINE real operator()(int n) const { return centered_difference<order>(op::along_y(f, c.x(n), c.j, c.k)); }
};

/// A line along y whose values are derivatives along x there, times the spacing.
template <Order order, class F, class C>
struct DifferencesAlongX {
  const F& f;
  const C& c;
  SLUICE_INLINE real operator()(int n) const { return centered_difference<order>(op::along_x(f, c, c.j + n, c.k)); }
};

/// A line along x or y whose values are derivatives along z there: the mean of those on the two z faces.
template <class F, class C, class M>
struct DerivativesAlongZ {
  const F& f;
  const C& c;
  const M& m;
  bool along_x;
  SLUICE_INLINE real operator()(int n) const {
    const int i = along_x ? c.x(n) : c.i;
    const int j = along_x ? c.j : c.j + n;
    const int k = c.k;
    return ((f(i, j, k + 1) - f(i, j, k)) * m.inv_dz_center[k] +
            (f(i, j, k) - f(i, j, k - 1)) * m.inv_dz_center[k - 1]) /
           2;
  }
};

struct Velocity {
  op::In u, v, w;
};

/// Velocity at the centre.
template <Order order>
struct AtCenter {
  using CellType = op::CellFor<order>;
  static constexpr int components = 3;
  Velocity f;

  SLUICE_INLINE void operator()(const CellType& c, double (&value)[3]) const {
    value[0] = static_cast<double>(interpolated<order>(op::along_x(f.u, c)));
    value[1] = static_cast<double>(interpolated<order>(op::along_y(f.v, c)));
    value[2] = static_cast<double>((f.w(c.i, c.j, c.k - 1) + f.w(c.i, c.j, c.k)) / 2);
  }
};

/// Velocity less its mean over the plane.
template <Order order>
struct Fluctuation {
  using CellType = op::CellFor<order>;
  static constexpr int components = 3;
  AtCenter<order> velocity;
  const double* means;  ///< u, v and w of each plane, by the local index of its cells

  SLUICE_INLINE void operator()(const CellType& c, double (&value)[3]) const {
    velocity(c, value);
    for (int n = 0; n < 3; ++n) value[n] -= means[3 * c.k + n];
  }
};

/// gradient[a][b]: the derivative of component a along direction b, at the centre. Those along the component's own
/// direction are the scheme's, so that their sum is its divergence; the others are interpolated to the centre.
template <Order order, class C>
SLUICE_INLINE void gradient_at_center(const Velocity& f, const C& c, const Metrics& m, double (&gradient)[3][3]) {
  gradient[0][0] = static_cast<double>(op::ddx_face_to_center<order>(f.u, c, m));
  gradient[1][1] = static_cast<double>(op::ddy_face_to_center<order>(f.v, c, m));
  gradient[2][2] = static_cast<double>(op::ddz_face_to_center(f.w, c, m));
  gradient[0][1] = static_cast<double>(interpolated<order>(DifferencesAlongY<order, op::In, C>{f.u, c}) * m.inv_dy);
  gradient[1][0] = static_cast<double>(interpolated<order>(DifferencesAlongX<order, op::In, C>{f.v, c}) * m.inv_dx);
  gradient[0][2] = static_cast<double>(interpolated<order>(DerivativesAlongZ<op::In, C, Metrics>{f.u, c, m, true}));
  gradient[1][2] = static_cast<double>(interpolated<order>(DerivativesAlongZ<op::In, C, Metrics>{f.v, c, m, false}));
  gradient[2][0] = static_cast<double>((centered_difference<order>(op::along_x(f.w, c, c.j, c.k - 1)) +
                                        centered_difference<order>(op::along_x(f.w, c))) *
                                       m.inv_dx / 2);
  gradient[2][1] = static_cast<double>((centered_difference<order>(op::along_y(f.w, c.i, c.j, c.k - 1)) +
                                        centered_difference<order>(op::along_y(f.w, c))) *
                                       m.inv_dy / 2);
}

template <Order order>
struct Vorticity {
  using CellType = op::CellFor<order>;
  static constexpr int components = 3;
  Velocity f;
  Metrics m;

  SLUICE_INLINE void operator()(const CellType& c, double (&value)[3]) const {
    double g[3][3];
    gradient_at_center<order>(f, c, m, g);
    value[0] = g[2][1] - g[1][2];
    value[1] = g[0][2] - g[2][0];
    value[2] = g[1][0] - g[0][1];
  }
};

/// The second invariant of the velocity gradient A, (|rotation|^2 - |strain|^2) / 2 = -tr(A A) / 2: Hunt, Wray & Moin,
/// Center for Turbulence Research Report CTR-S88, 193 (1988).
template <Order order>
struct SecondInvariant {
  using CellType = op::CellFor<order>;
  static constexpr int components = 1;
  Velocity f;
  Metrics m;

  SLUICE_INLINE void operator()(const CellType& c, double (&value)[1]) const {
    double g[3][3];
    gradient_at_center<order>(f, c, m, g);
    value[0] = -(g[0][0] * g[0][0] + g[1][1] * g[1][1] + g[2][2] * g[2][2]) / 2 -
               (g[0][1] * g[1][0] + g[0][2] * g[2][0] + g[1][2] * g[2][1]);
  }
};

/// The second largest eigenvalue of a symmetric matrix, by the trigonometric solution of its characteristic equation.
SLUICE_INLINE double middle_eigenvalue(const double (&a)[3][3]) {
  const double mean = (a[0][0] + a[1][1] + a[2][2]) / 3;
  const double off = a[0][1] * a[0][1] + a[0][2] * a[0][2] + a[1][2] * a[1][2];
  const double x = a[0][0] - mean;
  const double y = a[1][1] - mean;
  const double z = a[2][2] - mean;
  const double radius = std::sqrt((x * x + y * y + z * z + 2 * off) / 6);
  if (!(radius > 0)) return mean;
  const double determinant = x * (y * z - a[1][2] * a[1][2]) - a[0][1] * (a[0][1] * z - a[1][2] * a[0][2]) +
                             a[0][2] * (a[0][1] * a[1][2] - y * a[0][2]);
  const double ratio = determinant / (2 * radius * radius * radius);
  const double bounded = ratio < -1 ? -1.0 : ratio > 1 ? 1.0 : ratio;
  return mean + 2 * radius * std::cos(std::acos(bounded) / 3 + 4 * std::numbers::pi / 3);
}

/// The second eigenvalue of strain^2 + rotation^2, the symmetric part of A A, negative in vortices: Jeong & Hussain, J.
/// Fluid Mech. 285, 69 (1995).
template <Order order>
struct Lambda2 {
  using CellType = op::CellFor<order>;
  static constexpr int components = 1;
  Velocity f;
  Metrics m;

  SLUICE_INLINE void operator()(const CellType& c, double (&value)[1]) const {
    double g[3][3];
    gradient_at_center<order>(f, c, m, g);
    double square[3][3];
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) square[a][b] = g[a][0] * g[0][b] + g[a][1] * g[1][b] + g[a][2] * g[2][b];
    }
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < a; ++b) square[a][b] = square[b][a] = (square[a][b] + square[b][a]) / 2;
    }
    value[0] = middle_eigenvalue(square);
  }
};

/// A field that is at the centres.
struct Plain {
  using CellType = Cell;
  static constexpr int components = 1;
  op::In field;

  SLUICE_INLINE void operator()(const CellType& c, double (&value)[1]) const {
    value[0] = static_cast<double>(field(c.i, c.j, c.k));
  }
};

/// Writes a quantity at chosen cells: to[component](i, j, k) at the cell (x[i], y[j], z[k]).
template <class Quantity, class T>
struct AtChosenCells {
  Quantity quantity;
  const int *x, *y, *z;
  int nx;
  View3<T> to[Quantity::components];

  SLUICE_INLINE void operator()(int i, int j, int k) const {
    double value[Quantity::components];
    quantity(cell_in_row<typename Quantity::CellType>(x[i], y[j], z[k], nx), value);
    for (int n = 0; n < Quantity::components; ++n) to[n](i, j, k) = static_cast<T>(value[n]);
  }
};

}  // namespace sluice::derived
