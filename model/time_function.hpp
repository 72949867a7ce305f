#pragma once
// A number that a case gives as a constant, a formula of t, or a table in time.
#include <string>
#include <utility>
#include <vector>

#include "model/formula.hpp"

namespace sluice {

/// Points in increasing order of time, with straight lines between them.
struct TimeTable {
  std::vector<double> times, values;
  double period =
      0;  ///< > 0: repeated; the points lie within a period. 0: constant before the first and after the last

  double at(double time) const;

  bool operator==(const TimeTable&) const = default;
};

class TimeFunction {
 public:
  TimeFunction(double constant = 0) : formula_(constant) {}             // NOLINT(google-explicit-constructor)
  TimeFunction(Formula formula) : formula_(std::move(formula)) {}       // NOLINT(google-explicit-constructor)
  explicit TimeFunction(TimeTable table) : table_(std::move(table)) {}  ///< of one point or more

  bool is_table() const { return !table_.times.empty(); }
  bool is_constant() const { return !is_table() && formula_.is_constant(); }
  /// The value of a constant.
  double constant() const { return formula_.constant(); }
  double at_time(double t) const { return is_table() ? table_.at(t) : formula_.at_time(t); }
  /// What it is, in words: the text of the formula, or the extent of the table; empty for a constant.
  std::string text() const;

  const Formula& formula() const { return formula_; }
  const TimeTable& table() const { return table_; }

  bool operator==(const TimeFunction&) const = default;

 private:
  Formula formula_;
  TimeTable table_;
};

}  // namespace sluice
