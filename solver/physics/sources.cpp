// All sources of scalars, and which one a scalar has.
#include "solver/physics/sources.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "solver/physics/number_sources.hpp"

namespace sluice {

namespace {

// A new source is one more entry here.
std::span<const Source* const> sources() {
  static const std::array list{&uniform_source(), &streamwise_source(), &held_mean()};
  return list;
}

class NoSource final : public Source {
 public:
  std::string name() const override { return "none"; }
  bool given(const ScalarParameters& /*scalar*/) const override { return false; }
  std::string text(const ScalarParameters& /*scalar*/) const override { return "no source"; }
  bool is_zero(const ScalarParameters& /*scalar*/) const override { return true; }
  std::optional<double> constant_rate(const ScalarParameters& /*scalar*/) const override { return 0; }

 protected:
  std::vector<ParameterKey> own_keys() const override { return {}; }
};

}  // namespace

PhysicsList all_sources() {
  static const std::vector<const Physics*> list(sources().begin(), sources().end());
  return list;
}

const Source& source_of(const ScalarParameters& scalar) {
  static const NoSource none;
  const auto found = std::ranges::find_if(sources(), [&](const Source* source) { return source->given(scalar); });
  return found == sources().end() ? none : **found;
}

bool Source::active(const FlowParameters& flow) const {
  return std::ranges::any_of(flow.scalars, [&](const ScalarParameters& scalar) { return given(scalar); });
}

std::vector<ParameterKey> Source::keys() const {
  std::vector<ParameterKey> rows = own_keys();
  for (ParameterKey& row : rows) {
    if (row.section() != "scalars[].source") continue;
    for (const Source* other : sources()) {
      if (other == this) continue;
      for (const ParameterKey& key : other->own_keys())
        row.excludes.push_back(key.path.substr(key.path.rfind('.') + 1));
    }
  }
  return rows;
}

}  // namespace sluice
