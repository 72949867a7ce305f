#pragma once
// Numbers that a case gives as formulas of x, y, z and t: "1 + 0.2*sin(2*pi*t/30)".
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/support/real.hpp"

namespace sluice {

/// Where a formula is evaluated.
struct FormulaPoint {
  double x = 0, y = 0, z = 0, t = 0;
};

/// A formula in postfix order, for kernels: trivially copyable, evaluated on a stack of fixed size.
class FormulaProgram {
 public:
  enum class Operation : unsigned char {
    number,
    x,
    y,
    z,
    t,
    negate,
    add,
    subtract,
    multiply,
    divide,
    power,
    min,
    max,
    abs,
    sqrt,
    exp,
    log,
    sin,
    cos,
    tan,
    tanh,
    step
  };
  struct Instruction {
    Operation operation = Operation::number;
    double number = 0;
  };
  static constexpr int max_instructions = 64;
  static constexpr int max_depth = 16;

  SLUICE_INLINE double operator()(const FormulaPoint& at) const {
    double stack[max_depth + 2] = {};  // begins at 2, so that no operation could read below it
    int top = 1;
    for (int n = 0; n < count; ++n) {
      const Operation operation = instructions[n].operation;
      if (operation <= Operation::t) {
        stack[++top] = value_of(instructions[n], at);
      } else if (operation >= Operation::add && operation <= Operation::max) {
        --top;
        stack[top] = combine(operation, stack[top], stack[top + 1]);
      } else {
        stack[top] = apply(operation, stack[top]);
      }
    }
    return stack[2];
  }

  /// The value of an operation that reads no other: a number or a variable.
  SLUICE_INLINE static double value_of(const Instruction& instruction, const FormulaPoint& at) {
    switch (instruction.operation) {
      case Operation::x:
        return at.x;
      case Operation::y:
        return at.y;
      case Operation::z:
        return at.z;
      case Operation::t:
        return at.t;
      default:
        return instruction.number;
    }
  }
  SLUICE_INLINE static double combine(Operation operation, double a, double b) {
    switch (operation) {
      case Operation::add:
        return a + b;
      case Operation::subtract:
        return a - b;
      case Operation::multiply:
        return a * b;
      case Operation::divide:
        return a / b;
      case Operation::power:
        return std::pow(a, b);
      case Operation::min:
        return std::fmin(a, b);
      default:
        return std::fmax(a, b);
    }
  }
  SLUICE_INLINE static double apply(Operation operation, double a) {
    switch (operation) {
      case Operation::abs:
        return std::fabs(a);
      case Operation::sqrt:
        return std::sqrt(a);
      case Operation::exp:
        return std::exp(a);
      case Operation::log:
        return std::log(a);
      case Operation::sin:
        return std::sin(a);
      case Operation::cos:
        return std::cos(a);
      case Operation::tan:
        return std::tan(a);
      case Operation::tanh:
        return std::tanh(a);
      case Operation::step:
        return a < 0 ? 0 : 1;
      default:
        return -a;
    }
  }

  Instruction instructions[max_instructions] = {};
  int count = 0;
};

/// Why a text is not a formula, and where: `position` counts characters from 0.
class FormulaError : public std::runtime_error {
 public:
  FormulaError(const std::string& what, std::size_t where) : std::runtime_error(what), position(where) {}
  std::size_t position;
};

/// A formula, or a constant. Two are equal if they are the same constant or have the same text.
class Formula {
 public:
  Formula(double constant = 0);  // NOLINT(google-explicit-constructor): a number is a formula

  /// Numbers, pi, + - * / ^, parentheses, the functions abs, sqrt, exp, log, sin, cos, tan, tanh, step (0 below 0, else
  /// 1), min and max of two arguments, and those of the variables x, y, z and t that `variables` lists. ^ is
  /// right-associative and binds tighter than a sign: -2^2 is -4. Throws FormulaError.
  static Formula parse(std::string_view text, std::string_view variables);

  bool is_constant() const { return program_.count == 1 && program_.instructions[0].operation == Operation::number; }
  /// Whether the value depends on one of these variables: "xy".
  bool depends_on(std::string_view variables) const;
  double operator()(const FormulaPoint& at) const { return program_(at); }
  double at_time(double t) const { return program_({.t = t}); }
  /// The value of a constant formula; of another, at x = y = z = t = 0.
  double constant() const { return is_constant() ? program_.instructions[0].number : program_({}); }
  /// As given; empty for a constant.
  const std::string& text() const { return text_; }
  const FormulaProgram& program() const { return program_; }

  bool operator==(const Formula& other) const;

 private:
  using Operation = FormulaProgram::Operation;
  friend class FormulaParser;

  FormulaProgram program_;
  std::string text_;
};

/// Points in increasing order of time, with straight lines between them.
struct TimeTable {
  std::vector<double> times, values;
  double period =
      0;  ///< > 0: repeated; the points lie within a period. 0: constant before the first and after the last

  double at(double time) const;

  bool operator==(const TimeTable&) const = default;
};

/// A number that a case gives as a constant, a formula of t, or a table in time.
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
