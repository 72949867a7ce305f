#include "solver/physics/uniform_source.hpp"

namespace sluice {

namespace {

class Uniform final : public SourceOfNumber<UniformSource> {
 public:
  Uniform() : SourceOfNumber("uniform", "C U/h", "The same source everywhere.") {}

  SourceInSweep in_sweep(const ScalarParameters& scalar) const override { return {.uniform = value(scalar)}; }
  std::optional<double> constant_rate(const ScalarParameters& scalar) const override { return value(scalar); }
};

}  // namespace

const Source& uniform_source() {
  static const Uniform source;
  return source;
}

}  // namespace sluice
