#pragma once
// The types of actuation, and what they mean for a flow. Code outside of solver/walls asks here and names no type.
#include <memory>
#include <string>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "model/parameters.hpp"
#include "solver/correction/velocity.hpp"
#include "solver/grid/grid.hpp"
#include "solver/walls/walls.hpp"

namespace sluice {

class Physics;
class WallResponse;
struct WallPlane;

/// All types, as one part of the case file: the section `actuation` of either wall.
const Physics& wall_control();

/// The responses of the walls of a flow.
class WallResponses {
 public:
  /// All arguments must outlive it.
  WallResponses(const Communicator& comm, const Decomposition& decomposition, const Grid& grid,
                const FlowParameters& flow, Walls& walls);
  /// Bytes that they hold on a rank that owns `box`, beside w on the walls.
  static double memory(const Box3& box, const FlowParameters& flow);
  ~WallResponses();
  WallResponses(const WallResponses&) = delete;
  WallResponses& operator=(const WallResponses&) = delete;

  /// Sets w of the walls that respond; see WallResponse::respond. Collective.
  void respond(const VelocityToCorrect& velocity, const Metrics& metrics);

  /// The planes of walls that checkpoints keep.
  std::vector<WallPlane> state() const;

 private:
  std::vector<std::unique_ptr<WallResponse>> responses_;
};

/// Words for the types that respond to the flow, such as "opposition control".
std::vector<std::string> names_of_responses();
/// Whether a wall responds to the flow.
bool has_responses(const FlowParameters& flow);

/// The lines of `sluice check` about actuations, without newlines. `friction_velocity`: expected; 0 if not known.
std::vector<std::string> check_lines_of_walls(const FlowParameters& flow, const Grid& grid, double friction_velocity);

}  // namespace sluice
