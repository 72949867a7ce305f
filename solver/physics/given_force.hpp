#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "solver/physics/body_force.hpp"
#include "solver/physics/given_values.hpp"
#include "solver/physics/source.hpp"

namespace sluice {

/// A force per mass whose components are given: each by a formula, by an array, or not at all. It does not depend on
/// the flow. Components may change between steps.
class GivenForce final : public BodyForce {
 public:
  GivenForce(const Grid& grid, const Box3& box);

  /// Along x, y and z, at the points of u, v and w.
  GivenValues& component(std::size_t axis) { return values_.at(axis); }

  void add(const VelocityToCorrect& velocity, const std::vector<TransportedField>& scalars, double alpha_dt,
           VectorField& tendency, VectorField& star) const override;
  bool reads_velocity() const override { return false; }
  int words() const override;
  RowTask row_task(const std::vector<TransportedField>& scalars, double alpha_dt, VectorField& tendency,
                   VectorField& star) const override;
  void set_time(double time) override;

 private:
  std::array<GivenValues, 3> values_;
};

/// A source of a scalar that a formula or an array gives at the cell centres. It may change between steps.
class GivenSource final : public SourceLoop {
 public:
  GivenSource(const Grid& grid, const Box3& box);

  GivenValues& values() { return values_; }

  void add(const Box3& box, const SourceArrays& arrays) const override;
  RowTask row_task(int nx, const SourceArrays& arrays) const override;
  void set_time(double time) override;

 private:
  GivenValues values_;
};

}  // namespace sluice
