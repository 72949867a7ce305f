// Part of every test that reads cases: what main() does in the program.
#include "io/case/keys.hpp"
#include "solver/physics/terms.hpp"

namespace sluice {
namespace {

const bool introduced = [] {
  io::introduce(all_physics());
  return true;
}();

}  // namespace
}  // namespace sluice
