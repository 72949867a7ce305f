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

template <std::size_t N>
using Names = std::array<std::string_view, N>;

// In the order of the enumerators.
constexpr auto names_of(FlowType) {
  return Names<3>{"channel", "couette", "open_channel"};
}
constexpr auto names_of(ReynoldsKind) {
  return Names<5>{"bulk", "tau", "center", "wall", "viscosity"};
}
constexpr auto names_of(ForcingKind) {
  return Names<3>{"none", "bulk_velocity", "pressure_gradient"};
}
constexpr auto names_of(StretchingKind) {
  return Names<4>{"uniform", "tanh", "natural", "file"};
}
constexpr auto names_of(WallKind) {
  return Names<2>{"no_slip", "free_slip"};
}
constexpr auto names_of(Diffusion) {
  return Names<2>{"explicit", "implicit_z"};
}
constexpr auto names_of(InitialKind) {
  return Names<5>{"turbulent", "laminar", "zero", "fields", "checkpoint"};
}
constexpr auto names_of(TridiagonalMethod) {
  return Names<2>{"ptdma", "transpose"};
}

/// The case-file word for an enumerator.
template <class Enum>
constexpr std::string_view name(Enum value) {
  return names_of(value)[static_cast<std::size_t>(value)];
}

/// The enumerator for a case-file word; none if the word is unknown.
template <class Enum>
constexpr std::optional<Enum> from_name(std::string_view word) {
  const auto names = names_of(Enum{});
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

/// All words of an enumeration.
template <class Enum>
std::vector<std::string> all_names() {
  const auto names = names_of(Enum{});
  return {names.begin(), names.end()};
}

}  // namespace sluice::io
