// The sources of scalars that one number sets, which the sweep of the scalar or the end of a substep adds.
#include "solver/physics/number_sources.hpp"

namespace sluice {

namespace {

class Uniform final : public SourceOfNumber<UniformSource> {
 public:
  Uniform() : SourceOfNumber("uniform", "C U/h", "The same source everywhere.") {}

  SourceInSweep in_sweep(const ScalarParameters& scalar) const override { return {.uniform = value(scalar)}; }
  std::optional<double> constant_rate(const ScalarParameters& scalar) const override { return value(scalar); }
};

class Streamwise final : public SourceOfNumber<StreamwiseSource> {
 public:
  Streamwise()
      : SourceOfNumber("streamwise", "C/h",
                       "This times u: the scalar is then what remains of one with walls of uniform flux after its mean "
                       "decrease along x is taken off.") {}

  SourceInSweep in_sweep(const ScalarParameters& scalar) const override { return {.times_u = value(scalar)}; }
};

class BulkValue final : public SourceOfNumber<HeldMean> {
 public:
  BulkValue()
      : SourceOfNumber("bulk_value", "C",
                       "A uniform source that holds the volume mean of the scalar at this value in every step.") {}

  std::optional<double> held_mean(const ScalarParameters& scalar) const override { return value(scalar); }
};

}  // namespace

const Source& uniform_source() {
  static const Uniform source;
  return source;
}

const Source& streamwise_source() {
  static const Streamwise source;
  return source;
}

const Source& held_mean() {
  static const BulkValue source;
  return source;
}

}  // namespace sluice
