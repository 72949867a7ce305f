#pragma once
// The velocity at the faces of one cell, corrected in registers.
#include "core/device/parallel_for.hpp"
#include "solver/correction/velocity.hpp"

namespace sluice {

namespace op {

/// The velocity at the faces through which a cell exchanges c: lines of u along x and of v along y, as in
/// core/stencil/lines.hpp, and w below and above.
template <class X, class Y>
struct FaceVelocities {
  X u;
  Y v;
  real w_below, w_above;
};

}  // namespace op

/// Values around the middle of a line, in registers.
template <int count>
struct FaceValues {
  real of[count];
  SLUICE_INLINE real operator()(int n) const { return of[n + count / 2]; }
};

/// Reads the velocity at the faces that differences of this order need: of u, and of v, at -count/2 to count/2 - 1.
template <Order order>
class FaceReader {
 public:
  static constexpr int count = 2 * points_beside(order);
  static constexpr int reach = op::CellFor<order>::reach;
  using Velocities = op::FaceVelocities<FaceValues<count>, FaceValues<count>>;

  SLUICE_INLINE static Velocities read(const VelocityToCorrect& velocity, const op::CellFor<order>& at,
                                       const Metrics& m) {
    Velocities faces = stored(velocity, at);
    if (velocity.any()) correct(faces, velocity, at, m);
    return faces;
  }

 private:
  SLUICE_INLINE static Velocities stored(const VelocityToCorrect& velocity, const op::CellFor<order>& at) {
    const View3<const real>& w = velocity.stored_w();
    Velocities faces{{}, {}, w(at.i, at.j, at.k - 1), w(at.i, at.j, at.k)};
    SLUICE_UNROLL
    for (int n = 0; n < count; ++n) {
      faces.u.of[n] = velocity.stored_u()(at.x(n - count / 2), at.j, at.k);
      faces.v.of[n] = velocity.stored_v()(at.i, at.j + n - count / 2, at.k);
    }
    return faces;
  }

  /// Turns u* into u. All of phi is loaded first, so that no load waits for a branch.
  SLUICE_INLINE static void correct(Velocities& faces, const VelocityToCorrect& velocity, const op::CellFor<order>& at,
                                    const Metrics& m) {
    const PendingCorrection& left = velocity.left();
    const View3<const real>& phi = velocity.phi();
    const int i = at.i;
    const int j = at.j;
    const int k = at.k;
    FaceValues<2 * reach + 1> along_x, along_y;
    SLUICE_UNROLL
    for (int n = -reach; n <= reach; ++n) {
      // The clamp changes nothing: corrected cells read no rows outside 0 ... left.ny - 1.
      const int row = j + n < 0 ? 0 : j + n > left.ny - 1 ? left.ny - 1 : j + n;
      along_x.of[n + reach] = phi(at.x(n), j, k);
      along_y.of[n + reach] = phi(i, row, k);
    }
    const real below = phi(i, j, k - 1);
    const real above = phi(i, j, k + 1);
    const CorrectionWeights weights = left.numbers.weights();
    const real response = velocity.response()[k];
    const bool in_plane = left.in_plane(k);
    const bool in_row = left.in_row(j);
    SLUICE_UNROLL
    for (int n = 0; n < count; ++n) {
      const int face = n - count / 2;
      const real u = corrected_u_on_line<order>(faces.u.of[n], weights, along_x, face, m, response);
      const real v = corrected_v_on_line<order>(faces.v.of[n], weights, along_y, face, m, response);
      if (in_plane && in_row) faces.u.of[n] = u;
      if (in_plane && left.in_row(j + face)) faces.v.of[n] = v;
    }
    const real w_below = corrected_w_between(faces.w_below, weights, below, along_x(0), m, k - 1);
    const real w_above = corrected_w_between(faces.w_above, weights, along_x(0), above, m, k);
    if (left.in_plane(k - 1) && in_row) faces.w_below = w_below;
    if (in_plane && in_row) faces.w_above = w_above;
  }
};

}  // namespace sluice
