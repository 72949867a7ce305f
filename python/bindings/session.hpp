#pragma once
#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/support/owned_comm.hpp"
#include "python/bindings/statistics.hpp"
#include "python/bindings/wall_access.hpp"
#include "solver/diagnostics.hpp"
#include "src/commands/commands.hpp"
#include "src/outputs/run_loop.hpp"
#include "src/run/program_settings.hpp"
#include "src/run/simulation.hpp"

namespace sluice::python {

/// A case as Python has it: the text of a case file, its name for messages (relative paths start from its folder), and
/// changes as --set has them.
struct CaseText {
  std::string text;
  CaseOptions options;
};

/// Copies in device memory of all that the next steps depend on. Independent of the simulation that made it.
struct Snapshot {
  Snapshot() = default;
  Snapshot(Snapshot&&) = default;
  Snapshot& operator=(Snapshot&&) = default;

  std::vector<Field> fields;  ///< in the order of State::fields(), with halos
  std::vector<Field> walls;   ///< planes of walls that respond to the flow
  ProgramSettings settings;
  std::vector<PrescribedWall> next_walls;  ///< velocities that wait for the next step
  double time = 0;
  std::int64_t step = 0;
  EqualSteps equal_steps;
  double dt = 0, dt_limit = 0;
  MeanForce forcing;
  double advective_rate = 0;
  std::optional<MemoryStatistics::Samples> statistics;  ///< if the simulation takes any
};

/// What `sluice run` has as options beside those that change the case.
struct OutputText {
  bool wanted = false;  ///< otherwise the simulation writes no files
  DirectoryOptions options;
};

/// A simulation, with or without an output directory, between its start and close(). All functions are collective over
/// its communicator unless they say that they are local. After close() and on other threads than the one that made it
/// they throw Error(usage), and while a response of a wall runs, all that change the flow.
class Session {
 public:
  /// Sets up the case of rank 0 and its first field as `sluice run` does, and changes no file of an earlier run but its
  /// log. `output`: that of rank 0. comm may be freed afterwards. Throws as `sluice run`.
  Session(CaseText source, OutputText output, MPI_Comm comm);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  /// Takes over the output directory. Call it before all else but close().
  void begin();
  /// Writes the last files, if there are any, and frees the memory, also if that fails. The last
  /// checkpoint holds velocities of walls that wait for the next step. Before begin() it writes nothing.
  void close();
  /// Waits until all processes are about to close, at most so many seconds. False: some are in another collective
  /// function, and only abort() may follow.
  bool all_close(double seconds);
  /// Ends all processes. Local.
  void abort(int code);
  bool closed() const { return !run_; }
  Simulation& simulation();  ///< local
  /// Throws Error(usage) while a response of a wall runs. Local.
  void require_between_steps();
  /// Responses of walls and planes.
  WallAccess& walls() { return walls_; }

  void step();
  /// Whether the end of the case, or the time `until`, is reached, or a run with files is asked to stop.
  bool at_end(std::optional<double> until);

  /// Makes the velocity divergence-free, and brings halos and walls up to date.
  void project();
  /// Call on the ranks that have changed values of a field. The next function that needs valid fields calls project(),
  /// or fills halos only if no velocity was changed. Local.
  void note_change(const Field& field);
  /// Call on the ranks that have set the velocity of a wall: the next step or projection takes it over. Local.
  void note_wall_change() { walls_changed_ = 1; }
  /// After this, views of the fields are stale. Local.
  void end_views() { ++generation_; }

  Diagnostics diagnostics();
  Snapshot snapshot();
  /// Throws Error(usage) if the snapshot is of another grid, of other fields or of another part of the grid; with files
  /// also if it is of an earlier step or time, since files cannot go back.
  void restore(const Snapshot& snapshot);

  /// What drives the mean flow along x (0) and y (1). Local.
  Forcing& forcing(std::size_t direction);
  /// Sets a value of the kind that the flow has, that of rank 0: Forcing::set.
  void set_forcing(std::size_t direction, double value);

  /// Whether the simulation goes on from a checkpoint. Local.
  bool from_checkpoint() const { return run_ && run_->from_checkpoint(); }

  /// Statistics in memory, which the first call begins.
  MemoryStatistics& statistics();
  void sample_statistics();

  /// A field by its name; throws Error(usage) if there is none. Local.
  Described<Field> field(const std::string& name);
  /// The whole field, x fastest, on rank 0; empty elsewhere.
  std::vector<real> gather(const std::string& name);

  /// Counts the changes after which earlier views of the fields are stale. Local.
  std::uint64_t generation() const { return generation_; }
  /// The number of this rank's GPU on its host. Local.
  int device_index() const { return device_index_; }
  /// What the log of a run warns of, since the last call; on rank 0. Local.
  std::vector<std::string> take_warnings() { return run_ ? run_->take_warnings() : std::vector<std::string>(); }

 private:
  void free();
  /// Brings the flow up to date after changes that may have been made on some ranks alone.
  void settle();
  void update_flow();
  /// project() after walls have been agreed on.
  void project_now();
  /// After a change of the flow other than a step.
  void replaced();

  OwnedComm comm_;
  OwnedComm closing_;  ///< for all_close() alone
  RunGuard guard_;
  std::unique_ptr<RunLoop> run_;
  std::unique_ptr<MemoryStatistics> statistics_;
  WallAccess walls_{*this};
  std::thread::id thread_ = std::this_thread::get_id();
  std::uint64_t generation_ = 0;
  int device_index_ = 0;
  bool began_ = false;
  enum Change : int { none, halos, velocity } change_ = none;  ///< on this rank, since the last step
  int walls_changed_ = 0;                                      ///< whether the next step takes over velocities of walls
};

/// Ends all processes with exit code 4 if HDF5 would wait for ever in MPI_Finalize, because it has a file that was
/// opened on some of them only. The error has been shown by then.
void end_if_hdf5_is_stuck();

Field copy_of(const Field& field);
/// Copies all values of a field like this one, with its halos.
void set(Field& field, const Field& copy);

/// Coordinates of cells along x or y: of their centres or upper faces.
std::vector<double> uniform_line(std::int64_t begin, std::int64_t end, bool on_faces, double spacing);

/// Coordinates along z, y and x of the values of a field that belong to this box of cells.
std::array<std::vector<double>, 3> coordinates(const Grid& grid, Location location, const Box3& box);

}  // namespace sluice::python
