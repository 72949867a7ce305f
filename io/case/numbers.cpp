#include "io/case/numbers.hpp"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numbers>
#include <system_error>

namespace sluice::io {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

std::optional<double> parse_real(std::string_view text) {
  std::string_view digits = text;
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  // from_chars would also take "inf", "nan" and a second sign.
  if (digits.empty() || !(is_digit(digits[0]) || digits[0] == '.')) return std::nullopt;
  // YAML 1.1 readers take 010 as 8, so no interpretation is safe.
  if (digits.size() > 1 && digits[0] == '0' && is_digit(digits[1])) return std::nullopt;
  double value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  return negative ? -value : value;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const auto real = parse_real(text);
  if (!real) return std::nullopt;
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::int64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error == std::errc{} && stop == end) return value;
  // Above 2^53 a double cannot distinguish neighbouring integers.
  constexpr double exact_limit = 9007199254740992.0;
  if (*real != std::trunc(*real) || std::abs(*real) > exact_limit) return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

std::optional<std::int64_t> parse_digits(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<double> parse_length(std::string_view text) {
  double value = 1;
  char operation = '*';
  while (true) {
    const auto end = text.find_first_of("*/");
    const std::string_view word = trimmed(text.substr(0, end));
    const auto factor = word == "pi" ? std::optional<double>(std::numbers::pi) : parse_real(word);
    if (!factor) return std::nullopt;
    value = operation == '*' ? value * *factor : value / *factor;
    if (end == std::string_view::npos) break;
    operation = text[end];
    text.remove_prefix(end + 1);
  }
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

namespace {

/// 2d, 4h, 90m, 30s, 1h30m.
std::optional<double> parse_units(std::string_view text) {
  double seconds = 0;
  std::string_view units = "dhms";
  constexpr std::array sizes{86400.0, 3600.0, 60.0, 1.0};
  while (!text.empty()) {
    const auto end = text.find_first_of(units);
    if (end == std::string_view::npos) return std::nullopt;
    const auto number = parse_real(text.substr(0, end));
    if (!number || *number < 0) return std::nullopt;
    const auto unit = units.find(text[end]);
    seconds += *number * sizes[sizes.size() - units.size() + unit];
    units.remove_prefix(unit + 1);
    text.remove_prefix(end + 1);
  }
  return seconds;
}

}  // namespace

std::optional<double> parse_duration(std::string_view text) {
  const auto first = text.find(':');
  if (first == std::string_view::npos) {
    const auto seconds = parse_real(text);
    if (!seconds) return text.empty() ? std::nullopt : parse_units(text);
    return *seconds >= 0 ? seconds : std::nullopt;
  }
  const auto second = text.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto h = parse_digits(text.substr(0, first));
  const auto m = parse_digits(text.substr(first + 1, second - first - 1));
  const auto s = parse_digits(text.substr(second + 1));
  if (!h || !m || !s || *m >= 60 || *s >= 60) return std::nullopt;
  return static_cast<double>(*h) * 3600 + static_cast<double>(*m * 60 + *s);
}

std::optional<double> parse_fraction(std::string_view text) {
  if (!text.ends_with('%')) return parse_real(text);
  const auto percent = parse_real(trimmed(text.substr(0, text.size() - 1)));
  return percent ? std::optional<double>(*percent / 100) : std::nullopt;
}

std::string with_points(std::string_view text) {
  const auto at = [&](std::size_t n) { return n < text.size() ? text[n] : ' '; };
  std::string result;
  std::size_t digits = 0;  // since the last character that is none
  char before = ' ';       // that character
  for (std::size_t n = 0; n < text.size(); ++n) {
    const bool in_name = before == '.' || before == '_' || std::isalpha(static_cast<unsigned char>(before)) != 0;
    const bool has_exponent = text[n] == 'e' && (at(n + 1) == '-' || at(n + 1) == '+') && is_digit(at(n + 2));
    if (has_exponent && digits > 0 && !in_name) result += ".0";
    digits = is_digit(text[n]) ? digits + 1 : 0;
    if (!is_digit(text[n])) before = text[n];
    result += text[n];
  }
  return result;
}

std::string yaml_real(double value) {
  return with_points(format_real(value));
}

}  // namespace sluice::io
