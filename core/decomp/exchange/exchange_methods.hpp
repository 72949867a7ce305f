#pragma once
#include <array>
#include <string>
#include <utility>

namespace sluice {

/// The names of the exchange methods for each kind of traffic; `auto` leaves the choice open.
struct ExchangeMethods {
  std::string halos;
  std::string rows;     ///< transposes within rows of ranks, between x and y pencils
  std::string columns;  ///< transposes within columns of ranks, which make z whole

  struct Kind {
    const char* name;
    std::string ExchangeMethods::*method;
  };
  static const std::array<Kind, 3>& kinds();

  /// One method for all traffic.
  ExchangeMethods(const std::string& all = "auto") : ExchangeMethods(all, all, all) {}
  ExchangeMethods(const char* all) : ExchangeMethods(std::string(all)) {}

  ExchangeMethods(std::string for_halos, std::string for_rows, std::string for_columns)
      : halos(std::move(for_halos)), rows(std::move(for_rows)), columns(std::move(for_columns)) {}

  bool operator==(const ExchangeMethods&) const = default;

  /// Whether one method serves all traffic.
  bool is_uniform() const { return halos == rows && rows == columns; }

  /// The name of the only method, or such as "halos=peer,rows=nccl,columns=peer".
  std::string text() const;
  /// The inverse of text(). Kinds that are not named get `auto`; other text is taken for the name of a method.
  static ExchangeMethods from_text(const std::string& text);
};

}  // namespace sluice
