#pragma once
#include <array>
#include <cstddef>
#include <optional>

#include "core/decomp/field.hpp"
#include "core/support/real.hpp"
#include "model/formula.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// A formula of x, y, z and t, for kernels, at the points of a field, by local indices. x is that of the laboratory, as
/// in formulas of walls.
struct FormulaValues {
  FormulaProgram formula;
  double t;
  double offset_x, dx, length_x, moved;  ///< moved: what the grid has moved along x
  double first_y, dy;                    ///< y of row 0
  const double* z;                       ///< of plane 0

  SLUICE_INLINE real operator()(int i, int j, int k) const {
    double x = (i + offset_x) * dx;
    if (moved != 0) {
      x += moved;
      x -= length_x * std::floor(x / length_x);
    }
    return static_cast<real>(formula(FormulaPoint{x, (first_y + j) * dy, z[k], t}));
  }
  FormulaValues seen_from(int j, int k) const {
    FormulaValues moved_to = *this;
    moved_to.first_y += j;
    moved_to.z += k;
    return moved_to;
  }
};

/// The same number everywhere.
struct UniformValue {
  real value;
  SLUICE_INLINE real operator()(int /*i*/, int /*j*/, int /*k*/) const { return value; }
};

/// An array in device memory, of the cells of one rank, with any strides (in elements) along x, y and z.
template <class T>
struct StridedArray {
  const T* data = nullptr;
  std::array<std::ptrdiff_t, 3> strides{};
};

/// Values at the points of a field on one rank that the user gives: by a formula of x, y, z and t, or an array. All
/// functions are local.
class GivenValues {
 public:
  /// No values: not given.
  GivenValues(const Grid& grid, const Box3& box, Location location);

  void remove();
  /// False, and nothing changes, if a value is not finite at this time.
  [[nodiscard]] bool set(const Formula& formula, double time);
  /// Copies the array. False, and nothing changes, if a value is not finite.
  template <class T>
  [[nodiscard]] bool set(const StridedArray<T>& values);

  bool given() const { return formula_ || array_; }
  const std::optional<Formula>& formula() const { return formula_; }
  /// Without halo.
  const std::optional<Field>& array() const { return array_; }
  const Box3& box() const { return box_; }
  /// The time at which formulas are evaluated.
  void set_time(double time) { time_ = time; }
  /// Words per cell that a loop reads.
  int words() const { return array_ ? 1 : 0; }

  /// Calls action(values), where values(i, j, k) is the value at a point; not at all if none are given.
  template <class Action>
  void visit(const Action& action) const {
    if (array_) return action(array_->view());
    if (formula_) return action(at_points(*formula_, time_));
  }
  /// The same for one row, which action(values) takes as row (0, 0): the same bits. Evaluates a formula that does not
  /// depend on x once.
  template <class Action>
  void visit_row(int j, int k, const Action& action) const {
    if (array_) return action(array_->view().seen_from(j, k));
    if (!formula_) return;
    const FormulaValues row = at_points(*formula_, time_).seen_from(j, k);
    if (varies_along_x_) return action(row);
    action(UniformValue{row(0, 0, 0)});
  }

 private:
  FormulaValues at_points(const Formula& formula, double time) const;

  Box3 box_;
  Location location_;
  double dx_, dy_, length_x_, grid_velocity_;
  Buffer<double> z_;
  double time_ = 0;
  std::optional<Formula> formula_;
  bool varies_along_x_ = false;
  std::optional<Field> array_;
};

}  // namespace sluice
