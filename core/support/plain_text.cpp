#include "core/support/plain_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace sluice {

namespace {

struct Control {
  unsigned code = 0;
  std::size_t bytes = 0;  ///< 0: none is here
};

Control control_at(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x20 || byte == 0x7f) return {byte, 1};
  if (byte != 0xc2 || at + 1 == text.size()) return {};
  const auto second = static_cast<unsigned char>(text[at + 1]);
  return second >= 0x80 && second <= 0x9f ? Control{second, 2} : Control{};
}

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

/// The part of a line around a character of so many bytes.
std::string_view around(std::string_view text, std::size_t line_begin, std::size_t at, std::size_t bytes) {
  constexpr std::size_t before = 40;
  constexpr std::size_t behind = 20;
  std::size_t begin = std::max(line_begin, at - std::min(at, before));
  while (begin < at && continues_character(text[begin])) ++begin;
  std::size_t end = std::min(text.find('\n', at + bytes), at + bytes + behind);
  end = std::min(end, text.size());
  while (end < text.size() && end > at + bytes && continues_character(text[end])) --end;
  return text.substr(begin, end - begin);
}

bool is_utf16(std::string_view text) {
  return text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
}

/// The first control character that is not allowed.
std::optional<ControlCharacter> first_control(std::string_view text, const auto& is_allowed) {
  int line = 1;
  int column = 0;
  std::size_t line_begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!continues_character(text[at])) ++column;
    const Control control = control_at(text, at);
    if (control.bytes > 0 && !is_allowed(control))
      return ControlCharacter{line, column, fmt::format("0x{:02x}", control.code),
                              escaped(around(text, line_begin, at, control.bytes))};
    if (text[at] != '\n') continue;
    ++line;
    column = 0;
    line_begin = at + 1;
  }
  return std::nullopt;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const Control control = control_at(text, at);
    shown += control.bytes > 0 ? fmt::format("\\x{:02x}", control.code) : std::string(1, text[at]);
    at += std::max<std::size_t>(control.bytes, 1);
  }
  return shown;
}

std::string shortened(std::string_view text) {
  constexpr std::size_t max_length = 200;
  if (text.size() <= max_length) return escaped(text);
  std::size_t end = max_length;
  while (end > 0 && continues_character(text[end])) --end;
  return escaped(text.substr(0, end)) + "...";
}

std::optional<ControlCharacter> control_character(std::string_view text) {
  return first_control(text, [](const Control& control) { return control.code == '\n' || control.code == '\t'; });
}

std::optional<TextFault> fault_of_plain_text(std::string_view text, std::string_view kind) {
  if (is_utf16(text)) return TextFault{1, 1, fmt::format("text in UTF-16; {} is UTF-8", kind)};
  const auto is_allowed = [](const Control& control) {
    return control.bytes > 1 || control.code == '\n' || control.code == '\r' || control.code == '\t';
  };
  const auto control = first_control(without_byte_order_mark(text), is_allowed);
  if (!control) return std::nullopt;
  return TextFault{control->line, control->column,
                   fmt::format("control character {} in '{}'; {} is plain text", control->name, control->around, kind)};
}

std::string_view without_byte_order_mark(std::string_view text) {
  return text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text;
}

std::optional<double> parse_table_number(std::string_view text) {
  const bool has_sign = text.starts_with('+') || text.starts_with('-');
  // from_chars also takes inf, nan and a second sign.
  const std::string_view digits = text.substr(has_sign ? 1 : 0);
  if (digits.empty() || std::string_view("0123456789.").find(digits.front()) == std::string_view::npos)
    return std::nullopt;
  std::string number(digits);
  std::ranges::replace_if(
      number, [](char c) { return c == 'd' || c == 'D'; }, 'e');
  double value = 0;
  const char* end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
  return text.starts_with('-') ? -value : value;
}

std::string format_real(double value) {
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

}  // namespace sluice
