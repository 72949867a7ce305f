#pragma once
#include <optional>

#include "core/decomp/halo_exchange.hpp"
#include "solver/correction/correction.hpp"
#include "solver/grid/grid.hpp"
#include "solver/state/state.hpp"

namespace sluice {

/// Eqs. (3) and (6) in sweeps of their own. phi needs valid halos; all functions are local.
class CorrectionSweep {
 public:
  /// box: the rank's x pencil.
  CorrectionSweep(const Box3& box, const Metrics& metrics, Order order) : box_(box), metrics_(metrics), order_(order) {}

  /// Eq. (3) in place: star becomes u. Halos of u are stale on return. If p is not null, also eq. (6), in the same
  /// sweep; halos of p are stale, too.
  void correct(VectorField& star, Field* p, const Correction& correction) const;

  /// Eq. (6) alone. Halos of p are stale on return.
  void update_pressure(Field& p, const Correction& correction) const;

  /// Eq. (6a), p = p + phi - nu/2 div u*, after Projection::solve() and before the correction of u*. Halos of p are
  /// stale on return.
  void update_pressure(Field& p, const Field& phi, const VectorField& star, double half_viscosity) const;

  /// As correct(), in the cells whose values halos and walls need. Returns the correction that all other cells still
  /// need; nothing where the box is thin.
  std::optional<PendingCorrection> correct_rim(VectorField& star, Field* p, const Correction& correction) const;

  /// As correct(), in the z halos that other ranks own, without edges. There, star holds the u* of these ranks, and
  /// old_p their old pressure: p itself, or the field with which p has changed places. `beyond`: phi in the plane
  /// beyond each halo, below only if p is not null.
  void correct_halos(VectorField& star, Field* p, const Field* old_p, const Correction& correction,
                     const HaloExchange& halo, const HaloExchange::PlanesBeyond& beyond) const;

  /// Corrects the other cells. Halos stay valid.
  void complete(VectorField& velocity, Field& p, const PendingCorrection& left, View3<const real> phi,
                const real* response) const;

  /// Words per cell that correct() reads and writes, with and without p: phi, u* and u, p. And update_pressure().
  static constexpr int words(bool with_pressure) { return 7 + (with_pressure ? 2 : 0); }
  static constexpr int words_of_pressure = 3;
  static constexpr int words_with_divergence = 6;  ///< of eq. (6a)

 private:
  void correct(VectorField& star, Field* p, const Correction& correction, const Box3& cells) const;
  Box3 inside_rim(const PendingCorrection& left) const;

  Box3 box_;
  Metrics metrics_;
  Order order_;
};

}  // namespace sluice
