#pragma once
// What a session has of walls that Python sets: the planes it reads, and responses that run on several processes.
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/decomp/field.hpp"
#include "solver/walls/wall_function.hpp"
#include "solver/walls/walls.hpp"
#include "src/run/program_settings.hpp"

namespace sluice::python {

class Session;

/// Values (ny, nx) of the rank without gaps. In device memory: written before by work in the default stream, or by work
/// that has ended, and not changed by other work before the default stream has read them.
struct GivenPlane {
  std::uintptr_t address = 0;
  bool on_device = false;
};

/// Copies to the own cells of a plane of one layer.
void copy_to(Field& plane, const GivenPlane& given);

class WallAccess {
 public:
  explicit WallAccess(Session& session) : session_(&session) {}

  /// Runs a response. All processes agree on how it has ended, even if some wait for others in a collective function.
  /// Throws Error on the processes where `action` has thrown. Collective.
  void run_response(const std::function<void()>& action);
  bool responding() const { return responding_; }
  /// Whether the last response was given up here because it has failed on another process. Local.
  bool failed_elsewhere() const { return failed_elsewhere_; }
  /// Before a collective function that a response may call: throws Error(usage) if another process does not call one.
  /// Collective.
  void enter_collective();

  /// Walls that are set on one process are set on all. Throws Error(usage) if a response is missing on one. Collective.
  void agree_on_walls();
  /// The same, but returns false instead. Collective.
  bool agree_on_planes();

  /// Sets the next velocity of a component. Returns false, and changes nothing, if a value is not finite. Throws
  /// Error(usage) if something else sets it. Local.
  bool set(Walls::Side side, Location component, const GivenPlane& given);
  /// Throws Error(usage) if something else sets this component, or a response runs. Local.
  void require_settable(Walls::Side side, Location component);
  /// The plane for the next velocity of a component, whose cells the caller sets at once. Local.
  Field& next_velocity(Walls::Side side, Location component);
  /// Gives the walls their next velocities, then calls `action`, which checks the fluxes through them. If it throws,
  /// the walls have their present velocities again, and the next ones still wait. Call it after agree_on_walls().
  void with_next(const std::function<void()>& action);
  /// Drops the next velocities. Local.
  void forget_next();
  bool any_waits() const;  ///< local
  /// Copies of them on every process, those of components that wait on any. Collective, after agree_on_planes().
  std::vector<PrescribedWall> next();
  /// Replaces them all. Local.
  void restore_next(const std::vector<PrescribedWall>& walls_then);
  /// The next velocity, otherwise the present one, in memory that the next read overwrites. Local.
  Field& velocity(Walls::Side side, Location component);
  /// The mean over a wall; processes without the wall give nothing. Collective.
  double mean(Walls::Side side, const GivenPlane& given);
  /// The same of the plane of scratch().
  double mean_of_scratch(Walls::Side side);
  /// A plane for values that are on their way to a wall. Local.
  Field& scratch();

  /// The plane of a field that is nearest to z, in memory that the next call for it overwrites; its index along z.
  /// Collective.
  std::pair<Field*, std::int64_t> plane(const std::string& name, double z);

  /// Device memory for so many values of planes of several sessions, which is kept for the next time. Local.
  real* packed(std::size_t size);

  void clear();

 private:
  enum Stage : int { failed = 1, finished = 2, calling = 4 };
  int agree(Stage here);
  Walls& walls();
  Field new_plane(Location location);

  Session* session_;
  bool responding_ = false, agreed_ = false, failed_elsewhere_ = false;
  std::optional<Field> scratch_;
  Buffer<real> packed_;
  std::map<std::pair<Walls::Side, Location>, Field> velocities_;
  /// The planes are kept for the next time.
  struct Next {
    bool waits = false;
    Field velocity, before;
  };
  Next* waiting(Walls::Side side, Location component);
  std::map<std::pair<Walls::Side, Location>, Next> next_;
  std::map<std::pair<std::string, std::int64_t>, FlowPlane> planes_;
};

}  // namespace sluice::python
