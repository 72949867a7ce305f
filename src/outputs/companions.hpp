#pragma once
// What a checkpoint stores about the other files of its run, and whether these still agree with it.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "io/case/case.hpp"
#include "io/files/snapshot.hpp"

namespace sluice {

/// The last entry of a file when a checkpoint was written: a row, a block of statistics, a slice, a
/// sample of a probe.
struct LastEntry {
  std::int64_t step = 0;             ///< 0: there was none
  std::optional<std::int64_t> hash;  ///< of its values; none in checkpoints of earlier builds

  void save(io::Values& values, const std::string& step_name, const std::string& hash_name) const;
};

/// What a checkpoint expects of the files beside it. None where the run did not write the file, or an earlier build
/// wrote the checkpoint.
struct Companions {
  std::optional<LastEntry> time_series;
  std::optional<LastEntry> statistics;
  std::optional<LastEntry> spectra;
  std::optional<LastEntry> densities;
  std::map<std::string, LastEntry> slices;  ///< by label
  std::map<std::string, LastEntry> probes;  ///< by name
};

namespace companion_names {
inline constexpr const char* state_group = "/state";
inline constexpr const char* walls_group = "/walls";
inline constexpr const char* program_group = "/program";
inline constexpr const char* time_series_group = "/timeseries";
inline constexpr const char* slices_group = "/slice_series";
inline constexpr const char* probes_group = "/probes";
inline constexpr const char* last_row = "last_step";
inline constexpr const char* last_row_hash = "last_hash";
inline constexpr const char* block_samples = "samples";
inline constexpr const char* block_begin = "time_begin";
inline constexpr const char* block_end = "time_end";
inline constexpr const char* block_forcing = "forcing";
inline constexpr const char* last_block = "last_block";
inline constexpr const char* last_block_hash = "last_block_hash";
inline constexpr const char* hash_suffix = ".hash";  ///< after the label of a slice or the name of a probe
}  // namespace companion_names

/// An output that sums samples in blocks.
struct SampledOutput {
  const char* name;  ///< in messages
  const char* file;
  io::SamplingSpec io::OutputSpec::*sampling;
  const char* open_block_group;  ///< in checkpoints
  std::optional<LastEntry> Companions::*last_entry;
  const char* chosen_centers;  ///< coordinates, in its file, of the planes at chosen heights; "": there are none
  const char* chosen_faces;
};

inline constexpr SampledOutput statistics_output{
    "statistics", "statistics.h5", &io::OutputSpec::statistics, "/statistics_open", &Companions::statistics, "", ""};
inline constexpr SampledOutput spectra_output{
    "spectra", "spectra.h5", &io::OutputSpec::spectra, "/spectra_open", &Companions::spectra, "z_kxky", "z_face_kxky"};
inline constexpr SampledOutput densities_output{
    "densities", "densities.h5", &io::OutputSpec::densities, "/densities_open", &Companions::densities, "", "z_joint"};
inline constexpr std::array sampled_outputs{statistics_output, spectra_output, densities_output};

/// What a checkpoint expects of the files of one kind. Collective. Throws Error(restart).
std::optional<LastEntry> last_row_of(const io::CheckpointReader& checkpoint);
std::map<std::string, LastEntry> last_entries_of(const io::CheckpointReader& checkpoint, const std::string& group);

/// `open_block`: the values of an open block, with or without its sums. Local. Throws Error(restart).
std::optional<LastEntry> last_block_of(const io::Values& open_block);

/// All of these, without reading any sums. Collective. Throws Error(restart).
Companions companions_of(const io::CheckpointReader& checkpoint);

/// What a file has now.
struct FoundEntry {
  bool exists = false;               ///< the file
  std::int64_t last = 0;             ///< step of the last entry up to the checkpoint's step; 0 if there is none
  bool has_expected = false;         ///< whether there is an entry at the expected step
  std::optional<std::int64_t> hash;  ///< of that entry, if it can be read
};

/// A disagreement between a file and a checkpoint.
struct Mismatch {
  enum class Kind {
    none,
    lost,     ///< the file is missing or ends early
    foreign,  ///< it holds something else than the run of the checkpoint wrote
  };
  Kind kind = Kind::none;
  std::string text;  ///< a sentence that names both files
};

Mismatch compare(const std::string& file, const FoundEntry& found, const LastEntry& expected,
                 const std::string& checkpoint);

/// How the case stored in a file differs from the one that the checkpoint was written with; "" if in nothing that
/// changes the flow, or if it cannot be read. Begins with "; ".
std::string case_difference(const std::string& stored, const io::Case& of_checkpoint);

}  // namespace sluice
