#include "core/decomp/exchange/exchange_methods.hpp"

#include <algorithm>
#include <sstream>

namespace sluice {

const std::array<ExchangeMethods::Kind, 3>& ExchangeMethods::kinds() {
  static const std::array<Kind, 3> list{
      {{"halos", &ExchangeMethods::halos}, {"rows", &ExchangeMethods::rows}, {"columns", &ExchangeMethods::columns}}};
  return list;
}

std::string ExchangeMethods::text() const {
  if (is_uniform()) return halos;
  std::string text;
  for (const auto& [name, method] : kinds()) text += std::string(text.empty() ? "" : ",") + name + "=" + this->*method;
  return text;
}

ExchangeMethods ExchangeMethods::from_text(const std::string& text) {
  ExchangeMethods methods;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const auto equals = std::min(part.find('='), part.size());
    const auto kind = std::ranges::find(kinds(), part.substr(0, equals), &Kind::name);
    if (equals == part.size() || kind == kinds().end()) return {text};
    methods.*kind->method = part.substr(equals + 1);
  }
  return methods;
}

}  // namespace sluice
