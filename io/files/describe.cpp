#include "io/files/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include "io/case/numbers.hpp"
#include "io/files/grid_lines.hpp"
#include "io/files/probe_series.hpp"
#include "io/files/snapshot.hpp"
#include "io/files/stored_blocks.hpp"

namespace sluice::io {

namespace {

constexpr std::array<std::string_view, 6> known_formats{format::checkpoint, format::statistics, format::slice,
                                                        format::fields,     format::probe,      format::probe_part};

/// Builds a description; damage in one part does not hide damage in others.
class Describer {
 public:
  Describer(const std::string& path, Parts parts) : file_(h5::File::open(path, ExitCode::restart)), parts_(parts) {
    result_.lines.push_back("file: " + path);
  }

  FileDescription run() {
    result_.format = "unreadable";
    guarded([&] { result_.format = stated_format(); });
    add("format: " + result_.format);
    const bool ours = result_.format != "HDF5";
    if (ours && result_.intact()) guarded([&] { describe_root(); });
    if (result_.format == format::statistics) {
      guarded([&] { describe_statistics(); });
    } else if (result_.format == format::probe || result_.format == format::probe_part) {
      guarded([&] { describe_probe(); });
    } else {
      describe_fields(ours);
    }
    describe_groups();
    return std::move(result_);
  }

 private:
  /// "HDF5" for files of other programs, which may have an attribute `format`, too.
  std::string stated_format() const {
    const h5::Group root = file_.group("/");
    for (const auto& [name, kind] : root.attributes()) {
      if (name != "format" || kind != h5::Object::Kind::text) continue;
      const std::string format = root.text(name);
      if (holds_values(root) || format.starts_with("Sluice ")) return format;
    }
    return holds_values(root) ? "none stated" : "HDF5";
  }

  void add(std::string line) { result_.lines.push_back(std::move(line)); }

  void guarded(const std::function<void()>& part) {
    try {
      part();
    } catch (const Error& error) {
      result_.problems.emplace_back(error.what());
    }
  }

  void describe_root() {
    const Values root = check_root(file_, result_.format.c_str());
    if (!std::ranges::count(known_formats, result_.format))
      throw Error(ExitCode::restart, file_.path() + ": Sluice has no files of format '" + result_.format + "'");
    add("format version: " + std::to_string(root.integer("format_version")));
    add("written by: Sluice " + root.text("sluice_version") + ", git " + root.text("git_revision"));
    add(fmt::format("resolved case: {} bytes", root.text("resolved_case").size()));
    const Values told = root_values("", {});
    for (const auto& [name, value] : root.all()) {
      if (!told.has(name)) add_value(name, value);
    }
    if (result_.format == format::slice) read_grid_lines(file_);
    if (result_.format == format::checkpoint || result_.format == format::fields)
      contents_ = CheckpointReader(MPI_COMM_SELF, file_.path(), result_.format.c_str()).contents();
  }

  void add_value(const std::string& name, const Value& value) {
    struct Printer {
      std::string operator()(std::int64_t v) const { return std::to_string(v); }
      std::string operator()(double v) const { return format_real(v); }
      std::string operator()(const std::string& v) const {
        return v.size() <= 80 && v.find('\n') == std::string::npos ? v : fmt::format("{} bytes of text", v.size());
      }
      std::string operator()(const std::vector<std::int64_t>& v) const { return fmt::format("{} integers", v.size()); }
      std::string operator()(const std::vector<double>& v) const { return fmt::format("{} numbers", v.size()); }
    };
    add(name + ": " + std::visit(Printer{}, value));
  }

  void describe_fields(bool ours) {
    std::vector<std::string> names;
    guarded([&] { names = file_.group("/").datasets(); });
    for (const std::string& name : names) guarded([&] { describe_field(name, ours); });
  }

  void describe_field(const std::string& name, bool ours) {
    const h5::Dataset dataset = file_.dataset("/" + name);
    const h5::Shape shape = dataset.shape();
    if (ours && shape.size() != 3) return;  // coordinates
    std::string line = fmt::format("/{}: ({}), {}-byte {}", name, h5::text_of(shape), dataset.element_bytes(),
                                   dataset.is_floating() ? "floating point" : "other type");
    if (dataset.has("long_name")) line += ", " + dataset.text("long_name");
    add(line);
    if (ours) verify_field(dataset, {shape[0], shape[1], shape[2]});
  }

  void verify_field(const h5::Dataset& dataset, const Extents& shape) {
    if (*std::ranges::min_element(shape) < 1)
      throw Error(ExitCode::restart, file_.path() + ": the field " + dataset.name() + " is empty");
    const PieceLayout layout(shape, h5::bytes_of(dataset.real_type()));
    const std::uint64_t hash = hash_of_pieces(dataset, layout, 0, layout.count());
    const auto recorded = contents_.find(dataset.name().substr(1));
    const bool same_name = recorded == contents_.end() || recorded->second.value_or(hash) == hash;
    if (dataset.hash(format::hash) != hash || !same_name) {
      throw Error(ExitCode::restart,
                  file_.path() + ": the field " + dataset.name() + " does not have the hash that was stored with it");
    }
  }

  void describe_statistics() {
    const StoredBlocks stored = read_stored_blocks(file_.path(), Sums::skip);
    std::int64_t samples = 0;
    for (const StatisticsBlock& block : stored.blocks) samples += block.samples;
    add(fmt::format("blocks: {}, samples: {}", stored.blocks.size(), samples));
    if (stored.in_journal > 0) add(fmt::format("of them in {}: {}", journal_path(file_.path()), stored.in_journal));
    if (!stored.blocks.empty())
      add("time: " + format_real(stored.blocks.front().time_begin) + " to " +
          format_real(stored.blocks.back().time_end));
    std::vector<std::string> profiles;
    for (const ProfileInfo& profile : stored.profiles) profiles.push_back(profile.name);
    add(fmt::format("profiles: {}", fmt::join(profiles, " ")));
    verify_statistics(file_);
  }

  /// The values of a probe are in its parts, which have their hashes.
  void describe_probe() {
    for (const std::string& name : file_.group("/").datasets()) {
      const h5::Dataset dataset = file_.dataset("/" + name);
      add(fmt::format("/{}: ({}), {}", name, h5::text_of(dataset.shape()), dataset.text("long_name")));
    }
    if (result_.format == format::probe_part) verify_probe_part(file_);
    if (result_.format != format::probe || parts_ == Parts::skip) return;
    for (const std::string& problem : problems_of_parts(file_)) result_.problems.push_back(problem);
  }

  void describe_groups() {
    std::vector<std::string> names;
    guarded([&] { names = file_.group("/").groups(); });
    for (const std::string& name : names) {
      guarded([&] {
        if (!holds_values(file_.group("/" + name))) return;
        const Values values = read_values(file_, "/" + name);
        for (const auto& [key, value] : values.all()) add_value("/" + name + "/" + key, value);
      });
    }
  }

  h5::File file_;
  Parts parts_;
  Contents contents_;  ///< of a checkpoint
  FileDescription result_;
};

}  // namespace

std::string FileDescription::text() const {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  for (const std::string& problem : problems) text += "DAMAGED: " + problem + "\n";
  if (format == "HDF5") return text + "not written by Sluice: no hashes to verify\n";
  return text + (intact() ? "intact\n" : "not intact\n");
}

FileDescription describe(const std::string& path, Parts parts) {
  return Describer(path, parts).run();
}

}  // namespace sluice::io
