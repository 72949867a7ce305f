#pragma once
// Responses of walls and planes of the flow for code outside of Sluice, such as a control law in Python.
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/decomp/host_access.hpp"
#include "core/support/error.hpp"
#include "solver/correction/velocity.hpp"
#include "solver/walls/walls.hpp"

namespace sluice {

/// Sets w of a wall from the flow at the start of a substep: writes the rank's own cells of `w`, in units of U, in
/// device memory; what ranks without the wall write is not read. `velocity` has valid halos, those at walls included.
/// At first `w` is undefined. The mean of w must be the same on both walls. Called on all ranks, which may communicate.
/// It may throw; it must not wait for other ranks after a point where it may throw on one rank alone.
using WallFunction = std::function<void(const VelocityToCorrect& velocity, const Metrics& metrics, Field& w)>;

/// The wall functions of a flow. TimeStepper::respond sets them.
class WallFunctions {
 public:
  /// All must outlive it.
  WallFunctions(const Communicator& comm, Walls& walls, const Grid& grid)
      : comm_(&comm), walls_(&walls), grid_(&grid) {}

  /// Null removes the function; w keeps its values. Throws like Walls::prescribe. Local.
  /// remove_mean: the mean over the wall is subtracted from what the function has written.
  void set(Walls::Side side, WallFunction function, int halo_rows, bool remove_mean = false);
  bool has(Walls::Side side) const { return bool(of(side)); }

  /// Calls the functions, each with the velocity as it then is, and sets w of their walls without the y halo. If one
  /// throws, or the fluxes do not balance, the walls keep what they have, and no function is called until
  /// throw_failure(). Returns whether w was set. Collective.
  bool respond(const std::function<VelocityToCorrect()>& velocity, const Metrics& metrics);
  /// Throws the Error with which respond() has failed on the lowest rank, once, on all ranks. Local.
  void throw_failure();

 private:
  bool remove_means();
  struct Proposal {
    WallFunction function;
    Field w;
    bool remove_mean = false;
  };
  const std::optional<Proposal>& of(Walls::Side side) const { return proposals_[static_cast<std::size_t>(side)]; }

  const Communicator* comm_;
  Walls* walls_;
  const Grid* grid_;
  std::array<std::optional<Proposal>, 2> proposals_;
  std::optional<Error> failure_;
};

/// A plane of a field on all ranks of the column of ranks: each has its part in x and y of the plane of the whole grid.
class FlowPlane {
 public:
  /// Plane k of the whole grid; a z face belongs to the cell below it. Both must outlive it.
  FlowPlane(const Communicator& comm, const Decomposition& decomposition, Location location, std::int64_t k);

  /// Copies w at the upper faces of the cells, or a field, which is corrected. Collective over the column.
  void bring(const WToCorrect& w);
  void bring(const Field& field);
  /// (ny, nx) of the rank, without halo, in device memory; until the next bring().
  Field& plane() { return plane_; }

 private:
  bool is_here() const { return comm_->z_index() == owner_; }
  void broadcast();

  const Communicator* comm_;
  Field plane_;
  int k_ = 0;      ///< on the rank that owns it
  int owner_ = 0;  ///< in the column
  HostImage image_;
};

}  // namespace sluice
