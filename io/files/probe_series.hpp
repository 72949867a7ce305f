#pragma once
// The samples of a probe or a slice against time. DIR/NAME.h5 is what users read: datasets of HDF5 that join the parts
// DIR/parts/NAME_0001200.h5, each named after its first step. A part is replaced atomically as it grows, up to
// 16 MiB; then it stays, so that a long run does not write its samples again and again. A slice is a probe of one plane
// of cells, with DIR/NAME.xdmf for ParaView.
#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/case/writer_spec.hpp"
#include "io/files/file_format.hpp"
#include "io/files/local_block.hpp"
#include "model/field_descriptor.hpp"

namespace sluice::io {

/// The names of a field's coordinates, slowest first: z, y, x_face for u.
std::vector<std::string> coordinate_names(const FieldDescriptor& field);

/// Consecutive samples of a probe.
struct ProbeSamples {
  std::vector<std::int64_t> step;
  std::vector<double> time;
  std::vector<std::vector<std::byte>> fields;  ///< of each field: (samples, nz, ny, nx)

  std::size_t size() const { return step.size(); }
};

/// What a rank has of a field of one sample.
struct ProbePiece {
  LocalBlock block;            ///< of the sampled points
  const void* data = nullptr;  ///< its values, contiguous, in the type of the file
};

/// What makes the samples those of a slice.
struct SlicePlane {
  char normal = 'z';
  double at = 0;  ///< the requested coordinate; the file stores the coordinates of the cells
};

/// What all samples of a probe have in common.
struct ProbeDescription {
  std::string directory;  ///< created if missing
  std::string name;
  Provenance provenance;
  double grid_velocity = 0;  ///< of all points, along x
  double length_x = 0;       ///< of the domain, which is periodic
  double length_y = 0;
  h5::Type type = h5::Type::float64;  ///< of the fields: float32 or float64
  std::vector<FieldDescriptor> fields;
  std::map<std::string, std::vector<double>> coordinates;  ///< those of the fields: x or x_face, and so on
  std::optional<SlicePlane> slice = {};                    ///< none of a probe
  std::optional<double> every = {};                        ///< time between slices, or steps between samples of a probe

  h5::Shape shape(const FieldDescriptor& field) const;  ///< nz, ny, nx
  std::size_t sample_bytes() const;                     ///< of all fields
  std::int64_t part_samples() const;                    ///< samples of a complete part
  std::int64_t held_samples() const;                    ///< samples that a run holds in memory before it writes them
};

/// The same, from the size of a sample of all fields.
std::int64_t held_probe_samples(std::size_t sample_bytes);

/// Rank 0 only and local, but for append_on_all. Throws Error(io).
class ProbeSeries {
 public:
  /// Reads the samples up to `restart_step`, or none if it is absent. Changes nothing. A part that is damaged, or
  /// reaches beyond the beginning of the next, is left out, with a warning. Throws Error(restart) if the samples are of
  /// other points or fields, or of another precision.
  ProbeSeries(ProbeDescription description, std::optional<std::int64_t> restart_step);
  /// The same for a probe that the case no longer has, as its files describe it.
  ProbeSeries(const std::string& directory, const std::string& name, std::int64_t restart_step);

  /// Removes what the constructor has not read, but renames the parts that it has left out, so that no later restart
  /// finds them. Call before the first append.
  void go_back();
  void append(const ProbeSamples& samples);

  /// Appends a sample that fills a part, whose values all ranks write: part_samples() must be 1. `series`: on rank 0;
  /// elsewhere not used. `sample`: its fields on rank 0 only. `pieces`: those of this rank, one for each field. The
  /// files are those of `append`. Collective. Throws Error(io) on every rank.
  static void append_on_all(MPI_Comm comm, ProbeSeries* series, const ProbeDescription& description,
                            const ProbeSamples& sample, const std::vector<ProbePiece>& pieces,
                            const WriterSpec& writer);

  std::int64_t last_step() const { return parts_.empty() ? 0 : parts_.back().last_step; }
  /// A hash of the sample of that step; none unless it is in the last part.
  std::optional<std::int64_t> hash_at(std::int64_t step) const;
  /// A sentence for each part that the constructor has left out of NAME.h5.
  std::vector<std::string> warnings() const;
  /// The same for the newest part alone; none if that is not left out.
  std::optional<std::string> warning_of_newest() const;
  /// The last part; DIR/parts/NAME_*.h5 if there is none.
  std::string latest_path() const;
  /// The case stored with the last part; empty if there is none.
  const std::string& stored_case() const { return stored_case_; }
  /// `every` as stored in the last part; nullopt if there is no part, or if an earlier build wrote it.
  std::optional<double> stored_every() const { return stored_every_; }

 private:
  struct Part {
    std::int64_t first_step = 0;
    std::int64_t last_step = 0;
    std::vector<double> time;  ///< of each sample
  };
  std::string index_path() const;
  std::string part_path(std::int64_t first_step) const;
  void read_parts();
  ProbeDescription read_part(std::int64_t first_step, bool latest);
  void leave_out_overlapping();
  void leave_out(std::int64_t first_step, const std::string& reason);
  void require_same_points(const ProbeDescription& stored) const;
  void begin_part(std::int64_t first_step);
  void add_to_part(const ProbeSamples& samples, std::size_t begin, std::size_t end);
  void write_part() const;
  void write_index() const;
  void write_xdmf() const;

  ProbeDescription description_;
  std::int64_t restart_step_;
  bool described_ = false;  ///< by the case or by a part
  std::vector<Part> parts_;
  ProbeSamples latest_;    ///< of the last part
  bool outdated_ = false;  ///< on disk, the last part also holds samples after the restart step, or another `every`
  std::string stored_case_;
  std::optional<double> stored_every_;
  std::map<std::int64_t, std::string> left_out_;  ///< warnings by the part's first step
};

/// Suffix of a part that a restart had to leave out.
inline constexpr const char* left_out_suffix = ".left_out";

/// DIRECTORY/parts
std::string probe_parts_folder(const std::string& directory);

/// Whether any file of Sluice in DIRECTORY/parts has such a name.
bool has_probe_parts(const std::string& directory, const std::string& name);

/// Local. Throws Error(restart) if a value of a part is damaged.
void verify_probe_part(const h5::File& file);

/// The step of each sample of a part and the sample's hash. Local. Throws Error(restart) if the part is damaged.
std::vector<std::pair<std::int64_t, std::int64_t>> probe_sample_hashes(const h5::File& part);

/// The names of the datasets in the root of NAME.h5 and of its parts, beside the fields.
std::vector<std::string> probe_names();

/// A sentence for each part that is missing, damaged, or not the one that NAME.h5 joins: HDF5 would read NaN there, or
/// damaged values. Empty if all are intact. Local; throws Error(restart) if NAME.h5 itself is damaged.
std::vector<std::string> problems_of_parts(const h5::File& joined);

}  // namespace sluice::io
