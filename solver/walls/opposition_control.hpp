#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/decomp/decomposition.hpp"
#include "core/decomp/host_access.hpp"
#include "core/device/buffer.hpp"
#include "solver/correction/velocity.hpp"
#include "solver/grid/grid.hpp"
#include "solver/walls/walls.hpp"

namespace sluice {

/// Walls that blow and suck against the flow: w on the wall is -amplitude (w_d - <w_d>) with w_d on a plane at some
/// distance from the wall. Choi, Moin & Kim, J. Fluid Mech. 262, 75 (1994).
class OppositionControl {
 public:
  /// For the walls whose actuation is opposition_control, if any. All arguments must outlive the control.
  OppositionControl(const Communicator& comm, const Decomposition& decomposition, const Grid& grid, Walls& walls);

  /// Sets w of these walls. w: of the flow, with valid y halos. Collective.
  void respond(const WToCorrect& w);

  bool active() const { return !controls_.empty(); }
  bool active(Walls::Side side) const { return control_of(side) != nullptr; }
  /// w of such a wall, on one plane of the rank's x pencil: the state of the control between steps, which a restart
  /// restores from the whole plane, x fastest. Local.
  const Field& plane(Walls::Side side) const { return *control_of(side)->plane; }
  void restore(Walls::Side side, const std::vector<double>& whole_plane);

  /// The z face nearest to this distance from a wall, neither wall included: that of cells k and k + 1.
  static std::int64_t detection_face(const Grid& grid, Walls::Side side, double height);

 private:
  struct Control {
    Walls::Side side;
    double amplitude;
    std::int64_t face;
    int detector, actor;   ///< ranks in the column that own the detection plane and the wall
    Field* plane;          ///< w of the wall
    Buffer<real> message;  ///< the detected plane
    HostImage image;
  };
  void bring(const WToCorrect& w, Control& control) const;
  const Control* control_of(Walls::Side side) const;

  const Communicator* comm_;
  Walls* walls_;
  Box3 box_;
  std::array<std::int64_t, 3> cells_;
  double points_;
  std::vector<Control> controls_;
};

}  // namespace sluice
