#include "src/outputs/companions.hpp"

#include <fmt/format.h>

#include "core/support/error.hpp"
#include "io/case/case_file.hpp"

namespace sluice {

namespace names = companion_names;

namespace {

std::optional<LastEntry> entry(const io::Values& values, const std::string& step_name, const std::string& hash_name) {
  if (!values.has(step_name)) return std::nullopt;
  LastEntry entry{values.integer(step_name), std::nullopt};
  if (values.has(hash_name)) entry.hash = values.integer(hash_name);
  return entry;
}

}  // namespace

void LastEntry::save(io::Values& values, const std::string& step_name, const std::string& hash_name) const {
  values.set(step_name, step);
  if (hash) values.set(hash_name, *hash);
}

std::optional<LastEntry> last_row_of(const io::CheckpointReader& checkpoint) {
  if (!checkpoint.has_values(names::time_series_group)) return std::nullopt;
  return entry(checkpoint.values(names::time_series_group), names::last_row, names::last_row_hash);
}

std::map<std::string, LastEntry> last_entries_of(const io::CheckpointReader& checkpoint, const std::string& group) {
  std::map<std::string, LastEntry> entries;
  if (!checkpoint.has_values(group)) return entries;
  const io::Values values = checkpoint.values(group);
  for (const auto& [name, step] : values.all()) {
    if (!name.ends_with(names::hash_suffix)) entries[name] = *entry(values, name, name + names::hash_suffix);
  }
  return entries;
}

std::optional<LastEntry> last_block_of(const io::Values& open_block) {
  return entry(open_block, names::last_block, names::last_block_hash);
}

Companions companions_of(const io::CheckpointReader& checkpoint) {
  Companions companions;
  companions.time_series = last_row_of(checkpoint);
  for (const SampledOutput& output : sampled_outputs) {
    if (checkpoint.has_values(output.open_block_group))
      companions.*output.last_entry = last_block_of(checkpoint.values(output.open_block_group, io::Lists::skip));
  }
  companions.slices = last_entries_of(checkpoint, names::slices_group);
  companions.probes = last_entries_of(checkpoint, names::probes_group);
  return companions;
}

Mismatch compare(const std::string& file, const FoundEntry& found, const LastEntry& expected,
                 const std::string& checkpoint) {
  using Kind = Mismatch::Kind;
  if (!found.exists && expected.step > 0) {
    return {Kind::lost, fmt::format("{}: the file is missing, but reached step {} when the checkpoint {} was written",
                                    file, expected.step, checkpoint)};
  }
  if (found.last < expected.step) {
    return {Kind::lost, fmt::format("{}: ends at step {}, but reached step {} when the checkpoint {} was written: what "
                                    "was written in between is lost",
                                    file, found.last, expected.step, checkpoint)};
  }
  const bool same_hash = !expected.hash || !found.hash || *found.hash == *expected.hash;
  if (expected.step > 0 && !(found.has_expected && same_hash)) {
    return {Kind::foreign, fmt::format("{}: what it holds for step {} is not what the run of the checkpoint {} wrote: "
                                       "the file belongs to another run, or was changed",
                                       file, expected.step, checkpoint)};
  }
  return {};
}

std::string case_difference(const std::string& stored, const io::Case& of_checkpoint) {
  try {
    const io::Case other = io::parse_stored_case(stored, "resolved_case");
    std::string list;
    for (const std::string& change : io::physical_changes(of_checkpoint, other)) list += "; " + change;
    return list.empty() ? "" : "; its case differs from the checkpoint's" + list;
  } catch (const Error&) {
    return "";  // the message that this would extend is complete without it
  }
}

}  // namespace sluice
