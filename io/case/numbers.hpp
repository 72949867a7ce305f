#pragma once
// Conversion between numbers and text, the same in every locale.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/support/plain_text.hpp"

namespace sluice::io {

/// A finite decimal number: 3, -0.5, .5, 1e3. None for anything else: inf, nan, hexadecimal, octal (a leading zero
/// before another digit), digit grouping, trailing text, and numbers that do not fit a double.
std::optional<double> parse_real(std::string_view text);

/// An integer, also written as a number with an integral value: 256, 1e6, 2.0.
std::optional<std::int64_t> parse_integer(std::string_view text);

/// Digits alone: 0012.
std::optional<std::int64_t> parse_digits(std::string_view text);

/// A number or a simple multiple of pi: factors joined by * and /, evaluated from left to right, each a
/// number or the word pi: pi, 4*pi, 4*pi/3, 2*pi*3, 12.5.
std::optional<double> parse_length(std::string_view text);

/// A wall-clock duration in seconds: H:M:S with M and S below 60, a number of seconds, or numbers with units in
/// decreasing order: 2d, 4h, 90m, 30s, 1h30m, 1.5h. Never negative.
std::optional<double> parse_duration(std::string_view text);

/// A number, or a percentage: 0.003, 0.3%.
std::optional<double> parse_fraction(std::string_view text);

/// The text with a point in each number of format_real() that has an exponent only: 1.0e-05 instead of 1e-05, which
/// readers of YAML 1.1 take as text.
std::string with_points(std::string_view text);

/// format_real() for YAML of either version.
std::string yaml_real(double value);

}  // namespace sluice::io
