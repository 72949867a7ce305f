#include "model/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "core/support/plain_text.hpp"

namespace sluice {

namespace {

using Operation = FormulaProgram::Operation;
using namespace std::string_view_literals;

constexpr std::array functions{
    std::pair{"abs"sv, Operation::abs}, std::pair{"sqrt"sv, Operation::sqrt}, std::pair{"exp"sv, Operation::exp},
    std::pair{"log"sv, Operation::log}, std::pair{"sin"sv, Operation::sin},   std::pair{"cos"sv, Operation::cos},
    std::pair{"tan"sv, Operation::tan}, std::pair{"tanh"sv, Operation::tanh}, std::pair{"step"sv, Operation::step},
    std::pair{"min"sv, Operation::min}, std::pair{"max"sv, Operation::max}};
constexpr std::array variables{std::pair{"x"sv, Operation::x}, std::pair{"y"sv, Operation::y},
                               std::pair{"z"sv, Operation::z}, std::pair{"t"sv, Operation::t}};

template <class Table>
std::optional<Operation> find(const Table& table, std::string_view name) {
  const auto found = std::ranges::find(table, name, &Table::value_type::first);
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

/// Recursive descent; each function parses one level of precedence and appends instructions, and operations on
/// constants are done at once.
class FormulaParser {
 public:
  FormulaParser(std::string_view text, std::string_view allowed) : text_(text), allowed_(allowed) {}

  FormulaProgram parse() {
    parse_sum();
    const bool operand = is_letter(next()) || is_digit(next()) || next() == '(';
    if (const char c = next(); at_ < text_.size())
      fail("'" + escaped(std::string(1, c)) + "' is not expected here" + (operand ? "; a product needs a *" : ""));
    return program_;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw FormulaError(what, at_); }

  /// The next character that is not blank, 0 at the end.
  char next() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("'") + c + "' is missing");
  }

  void parse_sum() {
    const Nesting nesting(*this);
    parse_product();
    while (next() == '+' || next() == '-') {
      const Operation operation = take('+') ? Operation::add : (++at_, Operation::subtract);
      parse_product();
      combine(operation);
    }
  }
  void parse_product() {
    parse_signed();
    while (next() == '*' || next() == '/') {
      const Operation operation = take('*') ? Operation::multiply : (++at_, Operation::divide);
      parse_signed();
      combine(operation);
    }
  }
  void parse_signed() {
    const Nesting nesting(*this);
    if (take('+')) return parse_signed();
    if (!take('-')) return parse_power();
    parse_signed();
    apply(Operation::negate);
  }
  void parse_power() {
    parse_operand();
    if (!take('^')) return;
    parse_signed();
    combine(Operation::power);
  }
  void parse_operand() {
    const char c = next();
    if (take('(')) {
      parse_sum();
      return expect(')');
    }
    if (is_digit(c) || c == '.') return parse_number();
    if (is_letter(c)) return parse_name();
    if (at_ == text_.size()) fail("the formula ends where a number, a variable or a function is expected");
    const bool power = c == '*' && at_ > 0 && text_[at_ - 1] == '*';
    fail("'" + escaped(std::string(1, c)) + "' is where a number, a variable or a function is expected" +
         (power ? "; a power is written ^" : ""));
  }
  void parse_number() {
    double value = 0;
    const auto [stop, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc{} || !std::isfinite(value)) fail("not a number");
    if (text_[at_] == '0' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))
      fail("a number begins with 0");  // YAML 1.1 readers take 010 as 8
    at_ = stop - text_.data();
    append({Operation::number, value});
  }
  void parse_name() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    if (name == "pi") return append({Operation::number, std::numbers::pi});
    if (const auto function = find(functions, name)) return parse_arguments(*function);
    at_ = start;
    const auto variable = find(variables, name);
    if (!variable || allowed_.find(name) == std::string_view::npos)
      fail("'" + std::string(name) + "' is not known" + (variable ? " here" : "") + "; known are " + known());
    at_ = start + name.size();
    append({*variable, 0});
  }
  void parse_arguments(Operation function) {
    expect('(');
    parse_sum();
    const bool two = function == Operation::min || function == Operation::max;
    if (two) {
      expect(',');
      parse_sum();
    }
    expect(')');
    two ? combine(function) : apply(function);
  }
  std::string known() const {
    std::string names;
    for (const char c : allowed_) names += std::string(1, c) + ", ";
    names += "pi";
    for (const auto& [name, operation] : functions) names += ", " + std::string(name);
    return names;
  }

  void append(const FormulaProgram::Instruction& instruction) {
    if (program_.count == FormulaProgram::max_instructions)
      fail("the formula is too long: at most " + std::to_string(FormulaProgram::max_instructions) +
           " numbers, variables and operations");
    program_.instructions[program_.count++] = instruction;
  }
  bool ends_with_numbers(int count) const {
    if (program_.count < count) return false;
    for (int n = program_.count - count; n < program_.count; ++n) {
      if (program_.instructions[n].operation != Operation::number) return false;
    }
    return true;
  }
  // Two operands are constants only if both are single numbers; anything else ends with an operation or a variable.
  void combine(Operation operation) {
    if (!ends_with_numbers(2)) return append({operation, 0});
    double& a = program_.instructions[program_.count - 2].number;
    a = finite(FormulaProgram::combine(operation, a, program_.instructions[program_.count - 1].number));
    --program_.count;
  }
  void apply(Operation operation) {
    if (!ends_with_numbers(1)) return append({operation, 0});
    double& a = program_.instructions[program_.count - 1].number;
    a = finite(FormulaProgram::apply(operation, a));
  }
  double finite(double value) const {
    if (!std::isfinite(value)) fail("the value up to here is not a finite number");
    return value;
  }

  /// Parentheses, signs and powers within each other; bounds the stack of the parser and that of the program.
  class Nesting {
   public:
    explicit Nesting(FormulaParser& parser) : parser_(parser) {
      if (++parser_.depth_ > max_nesting) parser_.fail("too many parentheses or signs within each other");
    }
    ~Nesting() { --parser_.depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    static constexpr int max_nesting = 100;
    FormulaParser& parser_;
  };

  std::string_view text_, allowed_;
  std::size_t at_ = 0;
  int depth_ = 0;
  FormulaProgram program_;
};

namespace {

int depth_of(const FormulaProgram& program) {
  int depth = 0;
  int largest = 0;
  for (int n = 0; n < program.count; ++n) {
    const Operation operation = program.instructions[n].operation;
    if (operation <= Operation::t) ++depth;
    if (operation >= Operation::add && operation <= Operation::max) --depth;
    largest = std::max(largest, depth);
  }
  return largest;
}

}  // namespace

Formula::Formula(double constant) {
  program_.instructions[0] = {Operation::number, constant};
  program_.count = 1;
}

Formula Formula::parse(std::string_view text, std::string_view variables) {
  Formula formula;
  formula.program_ = FormulaParser(text, variables).parse();
  if (depth_of(formula.program_) > FormulaProgram::max_depth)
    throw FormulaError("too many operations within each other", 0);
  if (!formula.is_constant()) formula.text_ = text;
  return formula;
}

bool Formula::depends_on(std::string_view variables) const {
  const auto* const end = program_.instructions + program_.count;
  return std::any_of(program_.instructions, end, [&](const auto& instruction) {
    constexpr std::string_view names = "xyzt";
    const auto number = static_cast<std::size_t>(instruction.operation) - static_cast<std::size_t>(Operation::x);
    return number < names.size() && variables.find(names[number]) != std::string_view::npos;
  });
}

bool Formula::operator==(const Formula& other) const {
  if (is_constant() != other.is_constant()) return false;
  return is_constant() ? constant() == other.constant() : text_ == other.text_;
}

double TimeTable::at(double time) const {
  if (period > 0) time -= period * std::floor((time - times.front()) / period);
  const std::size_t after = std::ranges::upper_bound(times, time) - times.begin();
  if (after == 0) return values.front();
  const bool beyond = after == times.size();
  if (beyond && period == 0) return values.back();
  const double end = beyond ? times.front() + period : times[after];
  const double start = times[after - 1];
  const double from = values[after - 1];
  const double to = beyond ? values.front() : values[after];
  return end > start ? from + (to - from) * ((time - start) / (end - start)) : to;
}

std::string TimeFunction::text() const {
  if (!is_table()) return formula_.text();
  return fmt::format("a table of {} points from time {:g} to {:g}{}", table_.times.size(), table_.times.front(),
                     table_.times.back(), table_.period > 0 ? fmt::format(", period {:g}", table_.period) : "");
}

}  // namespace sluice
