#pragma once
// What `sluice check` says of what drives a flow: forcing, walls, terms, scalars.
#include <fmt/format.h>

#include <string>

#include "io/case/case.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// Prints warnings and counts them.
class Warnings {
 public:
  void add(const std::string& text) {
    fmt::print("warning         {}\n", text);
    ++count_;
  }
  int count() const { return count_; }

 private:
  int count_ = 0;
};

/// Forcings that are not just a constant velocity or force along x.
void print_forcing(const std::string& axis, const ForcingParameters& forcing, double end, Warnings& warnings);

/// Prints why the flow has no wall units, if so: it is two-dimensional, or nothing drives it.
bool print_why_not_turbulent(const Grid& grid, const FlowParameters& flow, const io::InitialSpec& initial,
                             Warnings& warnings);

/// All the rest of the above. `settings` with constants in place of forcings that depend on time.
void print_physics(const io::Case& settings, const Grid& grid, Warnings& warnings);

}  // namespace sluice
