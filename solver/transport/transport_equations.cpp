#include "core/support/error.hpp"
#include "solver/transport/transport_equation.hpp"

namespace sluice {

std::vector<TransportEquation> transport_equations(const FlowParameters& /*flow*/) {
  // transport_equation(flow_fields()[n], Tendency{diffusivity, ...}) for each n >= first_transported_field.
  std::vector<TransportEquation> equations;
  SLUICE_REQUIRE(equations.size() == flow_fields().size() - first_transported_field,
                 "each transported field needs its equation");
  return equations;
}

}  // namespace sluice
