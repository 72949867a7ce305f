#include "solver/physics/held_mean.hpp"

namespace sluice {

namespace {

class BulkValue final : public SourceOfNumber<HeldMean> {
 public:
  BulkValue()
      : SourceOfNumber("bulk_value", "C",
                       "A uniform source that holds the volume mean of the scalar at this value in every step.") {}

  std::optional<double> held_mean(const ScalarParameters& scalar) const override { return value(scalar); }
};

}  // namespace

const Source& held_mean() {
  static const BulkValue source;
  return source;
}

}  // namespace sluice
