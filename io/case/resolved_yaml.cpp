// A Case as text: the resolved case file, and the lines that tell two cases apart.
#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "io/case/case_file.hpp"
#include "io/case/names.hpp"

namespace sluice::io {

namespace {

template <class Values, class Format>
std::string list_text(const Values& values, Format format) {
  std::vector<std::string> items;
  items.reserve(values.size());
  for (const auto& value : values) items.push_back(format(value));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string reals_text(const std::array<double, 3>& values) {
  return list_text(values, format_real);
}

std::string integer_text(std::int64_t value) {
  return fmt::format("{}", value);
}

std::string reynolds_text(const ReynoldsSpec& reynolds) {
  return fmt::format("{}: {}", name(reynolds.kind), format_real(reynolds.value));
}

std::string forcing_text(const ForcingParameters& forcing) {
  if (forcing.kind == ForcingKind::none) return "none";
  return fmt::format("{{{}: {}}}", name(forcing.kind), format_real(forcing.value));
}

std::string stretching_text(const StretchingSpec& stretching) {
  std::string rest;
  switch (stretching.kind) {
    case StretchingKind::uniform:
      break;
    case StretchingKind::tanh:
      rest = ", factor: " + format_real(stretching.factor);
      break;
    case StretchingKind::natural:
      rest = ", re_tau: " + format_real(stretching.re_tau);
      break;
    case StretchingKind::file:
      rest = ", file: " + quoted_yaml(stretching.file);
      break;
  }
  return fmt::format("{{type: {}{}}}", name(stretching.kind), rest);
}

std::string wall_text(const WallCondition& wall) {
  if (wall.kind == WallKind::free_slip) return "{type: free_slip}";
  return fmt::format("{{type: no_slip, velocity: {}}}", reals_text({wall.u, wall.v, 0}));
}

std::string initial_text(const InitialSpec& initial) {
  std::string rest;
  if (initial.kind == InitialKind::turbulent) rest = fmt::format(", seed: {}", initial.seed);
  if (!initial.file.empty()) rest = ", file: " + quoted_yaml(initial.file);
  return fmt::format("{{type: {}{}}}", name(initial.kind), rest);
}

std::string time_text(const TimeSpec& time, Diffusion diffusion) {
  std::string text = "time:\n";
  text += time.steps ? fmt::format("  steps: {}\n", *time.steps)
                     : fmt::format("  end: {}\n", format_real(time.end.value_or(0)));
  if (time.dt) {
    text += fmt::format("  dt: {}\n", format_real(*time.dt));
  } else {
    text += fmt::format("  cfl: {}\n", format_real(time.cfl.value_or(0)));
    text += fmt::format("  dt_max: {}\n", time.dt_max ? format_real(*time.dt_max) : "none");
  }
  return text + fmt::format("  diffusion: {}\n", name(diffusion));
}

std::string slice_text(const SliceSpec& slice) {
  return fmt::format("    - {{normal: {}, at: {}, every: {}, fields: [{}]}}\n", slice.normal, format_real(slice.at),
                     format_real(slice.every), fmt::join(slice.fields, ", "));
}

std::string output_text(const OutputSpec& output) {
  std::string text = "output:\n";
  text += fmt::format("  directory: {}\n", quoted_yaml(output.directory));
  text += fmt::format("  log: {{every: {}}}\n", output.log_every);
  text += fmt::format("  timeseries: {{every: {}}}\n", output.timeseries_every);
  text += output.checkpoint_every ? fmt::format("  checkpoint: {{every: {}, keep: {}}}\n",
                                                format_real(*output.checkpoint_every), output.checkpoint_keep)
                                  : "  checkpoint: none\n";
  text += output.statistics
              ? fmt::format("  statistics: {{start: {}, every: {}, block: {}}}\n", format_real(output.statistics_start),
                            output.statistics_every, format_real(output.statistics_block))
              : "  statistics: none\n";
  text += output.slices.empty() ? "  slices: []\n" : "  slices:\n";
  for (const auto& slice : output.slices) text += slice_text(slice);
  return text;
}

// The values that decide the flow and its bits, each with its key.
std::vector<std::pair<std::string, std::string>> physical_values(Case settings) {
  for (std::string* file : {&settings.stretching.file, &settings.initial.file}) {
    *file = std::filesystem::path(*file).filename().string();
  }
  return {{"flow.type", std::string(name(settings.flow_type))},
          {"flow.forcing", forcing_text(settings.flow.forcing)},
          {"domain.size", reals_text(settings.size)},
          {"grid.cells", list_text(settings.cells, integer_text)},
          {"grid.stretching", stretching_text(settings.stretching)},
          {"walls.bottom", wall_text(settings.flow.bottom)},
          {"walls.top", wall_text(settings.flow.top)},
          {"time.diffusion", std::string(name(settings.flow.diffusion))},
          {"initial", initial_text(settings.initial)},
          {"solver.tridiagonal", std::string(name(settings.flow.tridiagonal))},
          {"solver.z_blocks", integer_text(settings.z_blocks)}};
}

}  // namespace

std::string quoted_yaml(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      quoted += fmt::format("\\x{:02x}", byte);
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

std::string resolved_yaml(const Case& settings) {
  std::string text = "# The case as resolved: every default filled in, every path absolute.\n";
  text += fmt::format("title: {}\n", quoted_yaml(settings.title));
  text += fmt::format("flow:\n  type: {}\n", name(settings.flow_type));
  text += fmt::format("  reynolds: {{{}}}\n", reynolds_text(settings.reynolds));
  text += fmt::format("  forcing: {}\n", forcing_text(settings.flow.forcing));
  text += fmt::format("domain:\n  size: {}\n", reals_text(settings.size));
  text += fmt::format("grid:\n  cells: {}\n", list_text(settings.cells, integer_text));
  text += fmt::format("  stretching: {}\n", stretching_text(settings.stretching));
  text += fmt::format("walls:\n  bottom: {}\n", wall_text(settings.flow.bottom));
  text += fmt::format("  top: {}\n", wall_text(settings.flow.top));
  text += time_text(settings.time, settings.flow.diffusion);
  text += fmt::format("initial: {}\n", initial_text(settings.initial));
  text += fmt::format("solver:\n  tridiagonal: {}\n", name(settings.flow.tridiagonal));
  text += fmt::format("  z_blocks: {}\n", settings.z_blocks);
  const auto& processes = settings.process_grid;
  text += fmt::format("parallel:\n  grid: {}\n",
                      processes ? fmt::format("[{}, {}]", (*processes)[0], (*processes)[1]) : "auto");
  text += fmt::format("  exchange: {}\n", settings.exchange);
  text += output_text(settings.output);
  text += fmt::format("walltime: {}\n", settings.walltime ? format_real(*settings.walltime) : "none");
  return text;
}

std::vector<std::string> physical_changes(const Case& stored, const Case& now) {
  std::vector<std::string> changes;
  // The same viscosity by another definition is the same flow: what differs besides is seen in the forcing.
  if (stored.flow.viscosity != now.flow.viscosity) {
    const bool same_kind = stored.reynolds.kind == now.reynolds.kind;
    changes.push_back(fmt::format("flow.reynolds: {} -> {}",
                                  same_kind ? format_real(stored.reynolds.value) : reynolds_text(stored.reynolds),
                                  same_kind ? format_real(now.reynolds.value) : reynolds_text(now.reynolds)));
  }
  const auto before = physical_values(stored);
  const auto after = physical_values(now);
  for (std::size_t n = 0; n < before.size(); ++n) {
    if (before[n].second == after[n].second) continue;
    changes.push_back(fmt::format("{}: {} -> {}", before[n].first, before[n].second, after[n].second));
  }
  return changes;
}

}  // namespace sluice::io
