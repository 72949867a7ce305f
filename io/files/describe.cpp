#include "io/files/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "io/case/numbers.hpp"
#include "io/files/checkpoint_format.hpp"
#include "io/files/grid_lines.hpp"
#include "io/files/statistics_file.hpp"

namespace sluice::io {

namespace {

/// Builds a description; damage in one part does not hide damage in others.
class Describer {
 public:
  explicit Describer(const std::string& path) : file_(h5::File::open(path, ExitCode::restart)) {
    result_.lines.push_back("file: " + path);
  }

  FileDescription run() {
    guarded([&] { result_.format = file_.group("/").has("format") ? file_.group("/").text("format") : "HDF5"; });
    add("format: " + result_.format);
    const bool ours = result_.format != "HDF5";
    if (ours) guarded([&] { describe_root(); });
    if (result_.format == format::statistics) {
      guarded([&] { describe_statistics(); });
    } else {
      describe_fields(ours);
    }
    describe_groups();
    return std::move(result_);
  }

 private:
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
    add("format version: " + std::to_string(root.integer("format_version")));
    add("written by: Sluice " + root.text("sluice_version") + ", git " + root.text("git_revision"));
    add(fmt::format("resolved case: {} bytes", root.text("resolved_case").size()));
    const Values told = root_values("", {});
    for (const auto& [name, value] : root.all()) {
      if (!told.has(name)) add_value(name, value);
    }
    if (result_.format != format::statistics) read_grid_lines(file_);
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
    const ChunkLayout layout(shape, h5::bytes_of(dataset.real_type()));
    if (dataset.hash(format::hash) != hash_of_chunks(dataset, layout, 0, layout.count())) {
      throw Error(ExitCode::restart,
                  file_.path() + ": the field " + dataset.name() + " does not have the hash that was stored with it");
    }
  }

  void describe_statistics() {
    const auto column = [&](const char* name) { return file_.dataset(name).values<double>(); };
    const std::vector<double> samples = column("/samples");
    const std::vector<double> begin = column("/t_begin");
    const std::vector<double> end = column("/t_end");
    add(fmt::format("blocks: {}, samples: {}", samples.size(), std::accumulate(samples.begin(), samples.end(), 0.0)));
    if (!samples.empty()) add("time: " + format_real(begin.front()) + " to " + format_real(end.back()));
    std::vector<std::string> profiles;
    for (const std::string& name : file_.group("/").datasets()) {
      if (file_.dataset("/" + name).shape().size() == 2) profiles.push_back(name);
    }
    add(fmt::format("profiles: {}", fmt::join(profiles, " ")));
    verify_statistics(file_);
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

FileDescription describe(const std::string& path) {
  return Describer(path).run();
}

}  // namespace sluice::io
