#pragma once
#include <string>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "solver/correction/velocity.hpp"
#include "solver/grid/grid.hpp"
#include "solver/walls/walls.hpp"

namespace sluice {

/// What a response is made with, which must outlive it.
struct ResponseSetup {
  const Communicator& comm;
  const Decomposition& decomposition;
  const Grid& grid;
  Walls& walls;
  const FlowParameters& flow;
  Walls::Side side;

  const Actuation& actuation() const { return walls.condition(side).actuation; }
};

/// A plane of a wall on which the steps to come depend.
struct WallPlane {
  std::string name;  ///< such as w_bottom
  Walls::Side side;
  Field* plane;  ///< one plane of the rank's x pencil; ranks that own the wall use it
};

/// The velocity next to a wall, of ranks that own it, for kernels. Only this plane and the halo plane beyond the wall
/// are sure to be corrected.
struct VelocityAtWall {
  View3<const real> u, v, w;
  int plane;  ///< of the cells next to the wall
  int halo;   ///< beyond it
};

/// The response of one wall to the flow. It sets w of the wall on a plane, which is its state between steps.
class WallResponse {
 public:
  explicit WallResponse(const ResponseSetup& setup);
  virtual ~WallResponse() = default;
  WallResponse(const WallResponse&) = delete;
  WallResponse& operator=(const WallResponse&) = delete;

  /// Sets w of the wall from the flow at the start of a substep, whose halos are valid; w of the wall is zero until the
  /// first. Its mean must be 0. Collective.
  virtual void respond(const VelocityToCorrect& velocity, const Metrics& metrics) = 0;
  /// The planes that checkpoints keep. A response with a memory adds that to w.
  virtual std::vector<WallPlane> state() const { return {named("w", *w_)}; }

 protected:
  Field& w() { return *w_; }
  /// Whether the rank has the wall: otherwise its plane is not read.
  bool owns_wall() const { return setup_.walls.owns(setup_.side); }
  VelocityAtWall at_wall(const VelocityToCorrect& velocity) const;
  /// The plane with the rows of its halo in which the velocity is known, and in which w of the wall is needed.
  Box3 rows() const { return rows(w_->box(), setup_.flow.order); }
  static Box3 rows(const Box3& box, Order order);
  /// w = factor (<w> - w) with the mean over the wall. Collective.
  void oppose_fluctuation(double factor);
  /// "NAME_bottom" or "NAME_top".
  WallPlane named(const std::string& name, Field& plane) const;
  const ResponseSetup& setup() const { return setup_; }

 private:
  ResponseSetup setup_;
  Field* w_;
};

/// The mean of a plane over a wall, without its halo: the planes of ranks that own the wall count. The same bits on all
/// ranks and process grids; NaN if a value is not finite. Collective.
double mean_over_wall(const Walls& walls, Walls::Side side, const Field& plane, const Grid& grid, MPI_Comm comm);

/// Fills a plane of a wall, y halo included, from the whole plane, x fastest. Local.
void restore(Field& plane, const std::vector<double>& whole_plane, const Grid& grid);

}  // namespace sluice
