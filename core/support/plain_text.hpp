#pragma once
// Texts that users give: case files, machine files, tables, grids; numbers in texts and messages.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// The text for a message: control characters as \x00, all else as it is.
std::string escaped(std::string_view text);

/// At most 200 bytes of it, escaped.
std::string shortened(std::string_view text);

/// The first control character of a text.
struct ControlCharacter {
  int line = 1, column = 1;  ///< from 1; columns count characters, not bytes
  std::string name;          ///< 0x00
  std::string around;        ///< that part of the line, for a message
};

/// Control characters are those below 0x20 except line feeds and tabs, 0x7f, and 0x80 to 0x9f (two bytes in UTF-8).
std::optional<ControlCharacter> control_character(std::string_view text);

/// Where and why the text of a file cannot be read.
struct TextFault {
  int line = 1, column = 1;  ///< from 1
  std::string what;
};

/// None if it is plain text, in which line breaks and tabs are the only control characters of one byte. `kind`: of the
/// file, such as "a table".
std::optional<TextFault> fault_of_plain_text(std::string_view text, std::string_view kind);

/// Some editors begin a UTF-8 file with this mark.
std::string_view without_byte_order_mark(std::string_view text);

/// A finite decimal number as programs write it in tables, also with Fortran's D for the exponent: 1, -.5, +2.5e-3,
/// 1.0D-03. None for anything else, inf, nan and hexadecimal numbers included.
std::optional<double> parse_table_number(std::string_view text);

/// The shortest text from which exactly the same double is read.
std::string format_real(double value);

}  // namespace sluice
