#pragma once
// The case-file words of each enumeration: one list for the key table, the reader and the writer.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/case/case.hpp"

namespace sluice::io {

using namespace std::string_view_literals;

/// The words, in the order of the enumerators.
template <class Enum>
inline constexpr auto names_of = std::array<std::string_view, 0>{};
template <>
inline constexpr auto names_of<FlowType> = std::array{"channel"sv, "couette"sv, "open_channel"sv, "periodic"sv};
template <>
inline constexpr auto names_of<ReynoldsKind> = std::array{"bulk"sv, "tau"sv, "center"sv, "wall"sv, "viscosity"sv};
template <>
inline constexpr auto names_of<ForcingKind> = forcing_words;
template <>
inline constexpr auto names_of<StretchingKind> = std::array{"uniform"sv, "tanh"sv, "natural"sv, "file"sv};
template <>
inline constexpr auto names_of<WallKind> = std::array{"no_slip"sv, "free_slip"sv, "slip"sv};
template <>
inline constexpr auto names_of<ScalarWallKind> = std::array{"value"sv, "flux"sv};
template <>
inline constexpr auto names_of<Diffusion> = std::array{"explicit"sv, "implicit_z"sv};
template <>
inline constexpr auto names_of<InitialKind> =
    std::array{"turbulent"sv, "laminar"sv, "zero"sv, "formula"sv, "fields"sv, "checkpoint"sv};
template <>
inline constexpr auto names_of<TridiagonalMethod> = std::array{"ptdma"sv, "transpose"sv};
template <>
inline constexpr auto names_of<Order> = std::array{"2"sv, "4"sv};
template <>
inline constexpr auto names_of<Switch> = std::array{"off"sv, "on"sv};

/// The case-file word for an enumerator.
template <class Enum>
constexpr std::string_view name(Enum value) {
  return names_of<Enum>[static_cast<std::size_t>(value)];
}

/// The enumerator for a case-file word; none if the word is unknown.
template <class Enum>
constexpr std::optional<Enum> from_name(std::string_view word) {
  const auto found = std::ranges::find(names_of<Enum>, word);
  if (found == names_of<Enum>.end()) return std::nullopt;
  return static_cast<Enum>(found - names_of<Enum>.begin());
}

/// All words of an enumeration.
template <class Enum>
std::vector<std::string> all_names() {
  return {names_of<Enum>.begin(), names_of<Enum>.end()};
}

}  // namespace sluice::io
