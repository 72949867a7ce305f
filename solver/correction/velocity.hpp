#pragma once
// Code that reads the velocity between substeps takes one of these types. They show whether it has to correct what it
// reads.
#include "core/support/error.hpp"
#include "solver/correction/correction.hpp"
#include "solver/grid/grid.hpp"
#include "solver/state/state.hpp"

namespace sluice {

/// Views of a velocity that is corrected in every cell, with valid halos. For kernels.
class CorrectedVelocity {
 public:
  View3<const real> u, v, w;

 private:
  friend class VelocityToCorrect;
  CorrectedVelocity(View3<const real> of_u, View3<const real> of_v, View3<const real> of_w)
      : u(of_u), v(of_v), w(of_w) {}
};

/// A correction that was deferred, with the arrays needed to apply it; for kernels.
struct LeftCorrection {
  View3<const real> phi{};         ///< null: nothing is pending
  const real* response = nullptr;  ///< g on the rank's planes, in device memory
  PendingCorrection pending{};

  SLUICE_INLINE bool any() const { return phi.origin != nullptr; }
};

/// w, for kernels that read few of its values.
class WToCorrect {
 public:
  /// w at the upper z face of a cell.
  SLUICE_INLINE real at(int i, int j, int k) const {
    const View3<const real>& phi = left_.phi;
    const PendingCorrection& pending = left_.pending;
    const bool stored = !left_.any() || !pending.in_row(j) || !pending.in_plane(k);
    return stored ? stored_(i, j, k)
                  : corrected_w_between(stored_(i, j, k), pending.numbers.weights(), phi(i, j, k), phi(i, j, k + 1), m_,
                                        k);
  }

 private:
  friend class VelocityToCorrect;
  WToCorrect(View3<const real> stored, const LeftCorrection& left, const Metrics& m)
      : stored_(stored), left_(left), m_(m) {}

  View3<const real> stored_;
  LeftCorrection left_;
  Metrics m_;
};

/// A velocity that holds u* in the cells where a correction is pending. For kernels that correct it while they read it,
/// with what this room provides. The halos are valid. Made by TimeStepper::velocity, or from a State, in which nothing
/// is pending.
class VelocityToCorrect {
 public:
  VelocityToCorrect(const State& state) : VelocityToCorrect(state.velocity) {}  // NOLINT(google-explicit-constructor)

  /// Whether a correction is pending.
  SLUICE_INLINE bool any() const { return left_.any(); }

  /// For readers that cannot correct: throws if a correction is pending.
  CorrectedVelocity corrected() const {
    SLUICE_REQUIRE(!any(), "what reads this velocity needs it corrected");
    return {u_, v_, w_};
  }
  WToCorrect w(const Metrics& metrics) const { return {w_, left_, metrics}; }

  // As stored: in a cell whose correction is pending, these are u*, v* and w*.
  SLUICE_INLINE const View3<const real>& stored_u() const { return u_; }
  SLUICE_INLINE const View3<const real>& stored_v() const { return v_; }
  SLUICE_INLINE const View3<const real>& stored_w() const { return w_; }
  SLUICE_INLINE const PendingCorrection& left() const { return left_.pending; }
  SLUICE_INLINE const View3<const real>& phi() const { return left_.phi; }
  SLUICE_INLINE const real* response() const { return left_.response; }

 private:
  friend class TimeStepper;
  explicit VelocityToCorrect(const VectorField& velocity)
      : u_(velocity.u.view()), v_(velocity.v.view()), w_(velocity.w.view()) {}
  VelocityToCorrect(const VectorField& velocity, const LeftCorrection& left) : VelocityToCorrect(velocity) {
    left_ = left;
  }

  View3<const real> u_, v_, w_;
  LeftCorrection left_;
};

}  // namespace sluice
