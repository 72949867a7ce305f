#include "solver/physics/streamwise_source.hpp"

namespace sluice {

namespace {

class Streamwise final : public SourceOfNumber<StreamwiseSource> {
 public:
  Streamwise()
      : SourceOfNumber("streamwise", "C/h",
                       "This times u: the scalar is then what remains of one with walls of uniform flux after its mean "
                       "decrease along x is taken off.") {}

  SourceInSweep in_sweep(const ScalarParameters& scalar) const override { return {.times_u = value(scalar)}; }
};

}  // namespace

const Source& streamwise_source() {
  static const Streamwise source;
  return source;
}

}  // namespace sluice
