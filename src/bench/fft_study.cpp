// `sluice bench fft --study`: many combinations, listed in a file, whose results a job that was cut off resumes.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "core/decomp/cuda_aware_mpi.hpp"
#include "core/device/select.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "io/case/keys.hpp"
#include "io/case/map_reader.hpp"
#include "io/files/posix_file.hpp"
#include "src/bench/bench.hpp"
#include "src/bench/round_trip.hpp"
#include "src/run/simulation.hpp"

namespace sluice {

namespace {

struct Study {
  std::vector<Cells> grids;
  std::vector<std::string> values, kinds, layouts, exchanges;
  std::vector<int> fields;
  std::vector<std::vector<int>> process_grids;  ///< of pencils; none: all
  std::vector<bool> cuda_aware_mpi;             ///< none: as MPI says
};

/// Reads a study. Takes repeats, warm-up, time limit and pairs over into `options`. Throws Error(usage).
Study parse_study(const std::string& text, BenchOptions& options) {
  io::Problems problems(options.study, {}, "study");
  const std::optional<io::YamlNode> root = io::read_yaml(text, io::Place::file, "", problems);
  if (root) io::note_control_characters(*root, "", problems);
  problems.raise();
  io::MapReader reader(*root, "", problems);
  const auto texts = [&](const char* key, const std::vector<std::string>& allowed,
                         const std::vector<std::string>& usual) {
    std::vector<std::string> list = reader.texts(key, allowed);
    return list.empty() ? usual : list;
  };
  Study study;
  for (const std::vector<std::int64_t>& cells : reader.lists_of_counts("grids", 3, true))
    study.grids.push_back({cells[0], cells[1], cells[2]});
  study.values = texts("values", {"real", "complex"}, {"real"});
  for (const std::int64_t count : reader.counts("fields")) study.fields.push_back(static_cast<int>(count));
  if (study.fields.empty()) study.fields = {1};
  study.kinds =
      texts("kinds", {"slab_2d_1d", "slab_1d_2d", "pencil", "cufft", "fftw"}, {"slab_2d_1d", "slab_1d_2d", "pencil"});
  study.layouts = texts("layouts", {"contiguous", "realigned"}, {"contiguous", "realigned"});
  for (const std::vector<std::int64_t>& grid : reader.lists_of_counts("process_grids", 2, false))
    study.process_grids.push_back({static_cast<int>(grid[0]), static_cast<int>(grid[1])});
  study.exchanges = texts("exchanges", {}, {"auto"});
  for (const std::string& exchange : study.exchanges) {
    const ExchangeMethods methods = ExchangeMethods::from_text(exchange);
    for (const auto& kind : ExchangeMethods::kinds()) {
      const std::string& method = methods.*kind.method;
      if (method == "auto" || io::contains(exchange_methods(), method)) continue;
      problems.add(
          root->find("exchanges")->place, "exchanges",
          fmt::format("this build has no method '{}'; it has {}", method, fmt::join(exchange_methods(), ", ")));
      break;
    }
  }
  study.cuda_aware_mpi = reader.booleans("cuda_aware_mpi");
  options.pairs = reader.boolean("pairs", false).value_or(false);
  options.repeats = static_cast<int>(reader.count("repeats", false).value_or(options.repeats));
  if (const auto warm_up = reader.number("warm_up", false, 0, false)) {
    constexpr double max_warm_up = 1e6;
    options.warm_up = static_cast<int>(std::min(*warm_up, max_warm_up));
    if (*warm_up != *options.warm_up)
      problems.add(root->find("warm_up")->place, "warm_up", "must be an integer from 0 to 1000000");
  }
  options.time_limit = reader.number("time_limit", false).value_or(options.time_limit);
  reader.refuse_others();
  problems.raise();
  return study;
}

/// The setups that one choice of everything but the exchange methods leaves open: several for pencils.
std::vector<RoundTripSetup> setups_of(const Study& study, BenchOptions options) {
  const int ranks = size_of(MPI_COMM_WORLD);
  if (options.kind != "pencil" || study.process_grids.empty()) return fft_setups(options, options.cells(), ranks);
  std::vector<RoundTripSetup> setups;
  for (const std::vector<int>& grid : study.process_grids) {
    if (std::int64_t{grid[0]} * grid[1] != ranks) continue;  // for another number of ranks
    options.process_grid = grid;
    for (RoundTripSetup& setup : fft_setups(options, options.cells(), ranks)) setups.push_back(std::move(setup));
  }
  return setups;
}

struct Combination {
  BenchOptions options;
  RoundTripSetup setup;
  bool cuda_aware_mpi;
  std::string identity;
};

/// What makes the row of a combination different from those of others.
std::string identity_of(const Json& row) {
  Json names;
  for (const char* key : {"what", "precision", "ranks", "cells", "values", "fields", "kind", "layout", "process_grid",
                          "exchange", "cuda_aware_mpi"}) {
    if (row.contains(key)) names[key] = row[key];
  }
  return names.dump();
}

/// All combinations on these ranks, each once. With a CUDA-aware MPI only if there is one.
std::vector<Combination> combinations_of(const Study& study, const BenchOptions& given) {
  std::vector<Combination> list;
  std::set<std::string> known;
  BenchOptions options = given;
  options.all = true;
  const auto add = [&](bool cuda_aware) {
    for (const RoundTripSetup& setup : setups_of(study, options)) {
      for (const std::string& exchange : study.exchanges) {
        options.exchange = exchange;
        for (const RoundTripSetup& with_methods : with_every_method(options, setup)) {
          const std::string identity = identity_of(description_of(options, with_methods));
          if (known.insert(identity).second) list.push_back({options, with_methods, cuda_aware, identity});
        }
      }
    }
  };
  const bool is_aware = mpi_is_cuda_aware();
  for (const bool cuda_aware : study.cuda_aware_mpi.empty() ? std::vector<bool>{is_aware} : study.cuda_aware_mpi) {
    if (cuda_aware && !is_aware) continue;
    use_device_pointers_in_mpi(cuda_aware);
    for (const Cells& cells : study.grids) {
      options.grids = {cells};
      for (const std::string& values : study.values) {
        options.values = values;
        for (const int fields : study.fields) {
          options.fields = fields;
          for (const std::string& kind : study.kinds) {
            options.kind = kind;
            for (const std::string& layout : study.layouts) {
              options.layout = layout;
              add(cuda_aware);
            }
          }
        }
      }
    }
  }
  return list;
}

/// So many jobs may end while a combination is measured; then it counts as one that cannot be measured.
constexpr std::int64_t max_beginnings = 3;

/// How a combination was measured.
enum Outcome : std::int64_t { not_measured, good, failed, wrong };

Outcome outcome_of(const Json& row) {
  if (is_wrong(row)) return wrong;
  return row.contains("fault") ? failed : good;
}

/// The rows in a file by their identities; none if there is no file. Removes a last line that is not complete, because
/// the job that wrote it was cut off. Throws Error(io). Local.
std::map<std::string, Json> rows_of_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {};
  const std::string text = io::read_text(path);
  const std::size_t complete = text.find_last_of('\n') + 1;  // npos + 1 is 0
  std::map<std::string, Json> rows;
  int number = 0;
  const auto require_own = [&](bool own) {
    if (own) return;
    throw Error(ExitCode::io, fmt::format("{}, line {}: is no result of bench fft; a study continues only its own "
                                          "file",
                                          path, number));
  };
  for (std::size_t begin = 0; begin < complete;) {
    const std::size_t end = text.find('\n', begin);
    ++number;
    Json row = Json::parse(text.substr(begin, end - begin), nullptr, false);
    require_own(row.is_object() && row.value("what", Json()) == "fft");
    const std::string identity = identity_of(row);
    rows[identity] = std::move(row);
    begin = end + 1;
  }
  if (complete == text.size()) return rows;
  ++number;
  require_own(text[complete] == '{');
  std::filesystem::resize_file(path, complete, error);
  if (error) throw Error(ExitCode::io, fmt::format("{}: could not be shortened ({})", path, error.message()));
  fmt::print("{}: the last line was not complete and has been removed\n", path);
  return rows;
}

/// The file that lists the combination being measured and those during which earlier jobs ended, a line for each time.
/// None of them has a row.
std::string file_of_beginnings(const std::string& path) {
  return path + ".begun";
}

/// How often each identity is in a file of beginnings. Removes a last line that is not complete. Throws Error(io).
/// Local.
std::map<std::string, std::int64_t> beginnings_in(const std::string& path) {
  std::map<std::string, std::int64_t> counts;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return counts;
  const std::string text = io::read_text(path);
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    ++counts[text.substr(begin, end - begin)];
  if (begin < text.size()) std::filesystem::resize_file(path, begin, error);
  if (error) throw Error(ExitCode::io, fmt::format("{}: could not be shortened ({})", path, error.message()));
  return counts;
}

/// Writes a file of beginnings; removes it if there are none. Throws Error(io). Local.
void write_beginnings(const std::string& path, const std::map<std::string, std::int64_t>& counts) {
  std::error_code error;
  if (counts.empty()) {
    std::filesystem::remove(path, error);
    return;
  }
  std::string text;
  for (const auto& [identity, number] : counts) {
    for (std::int64_t n = 0; n < number; ++n) text += identity + '\n';
  }
  io::write_atomically(path, text);
}

std::string text_of(const Json& row) {
  std::string text = fmt::format("{} {}, {} x {}, {}", row["kind"].get<std::string>(), row["layout"].get<std::string>(),
                                 row["process_grid"][0].get<int>(), row["process_grid"][1].get<int>(),
                                 row["exchange"].get<std::string>());
  if (row.contains("cuda_aware_mpi")) text += row["cuda_aware_mpi"].get<bool>() ? " (CUDA-aware)" : " (through host)";
  text += fmt::format(", {} {} field(s) on {}: ", row["fields"].get<int>(), row["values"].get<std::string>(),
                      fmt::join(row["cells"].get<std::vector<std::int64_t>>(), " x "));
  return text + (row.contains("fault") ? row["fault"].get<std::string>()
                                       : fmt::format("{:.3f} ms", row["milliseconds"].get<double>()));
}

}  // namespace

ExitCode bench_fft_study(const BenchOptions& given) {
  device::select(MPI_COMM_WORLD);
  BenchOptions options = given;
  std::string text;
  run_on_root(MPI_COMM_WORLD, [&] { text = io::read_input(options.study, "study", io::max_yaml_bytes); });
  broadcast(text, MPI_COMM_WORLD);
  const Study study = parse_study(text, options);
  const std::vector<Combination> combinations = combinations_of(study, options);
  const int ranks = size_of(MPI_COMM_WORLD);
  if (combinations.empty()) {
    throw Error(ExitCode::usage,
                fmt::format("{}: nothing to measure on {} rank(s): pencils need process_grids of as many ranks, or "
                            "ranks that split both ways; cufft needs a GPU build, fftw one rank of a CPU build; a "
                            "CUDA-aware MPI must say that it is",
                            options.study, ranks));
  }

  std::vector<std::int64_t> outcomes(combinations.size(), not_measured);
  std::vector<std::int64_t> beginnings(combinations.size(), 0);
  const std::string begun = file_of_beginnings(options.json);
  std::map<std::string, std::int64_t> begun_so_far;  // on rank 0, also those of other numbers of ranks
  run_on_root(MPI_COMM_WORLD, [&] {
    const std::map<std::string, Json> before = rows_of_file(options.json);
    begun_so_far = beginnings_in(begun);
    for (std::size_t n = 0; n < combinations.size(); ++n) {
      if (const auto row = before.find(combinations[n].identity); row != before.end())
        outcomes[n] = outcome_of(row->second);
      if (const auto number = begun_so_far.find(combinations[n].identity); number != begun_so_far.end())
        beginnings[n] = number->second;
    }
  });
  broadcast(outcomes, MPI_COMM_WORLD);
  broadcast(beginnings, MPI_COMM_WORLD);
  const auto count = [&](Outcome outcome) { return std::ranges::count(outcomes, std::int64_t{outcome}); };
  const auto to_measure = count(not_measured);
  JsonLines json(options.json, true);
  run_on_root(MPI_COMM_WORLD, [&] {
    fmt::print("study {}: {} combinations on {} rank(s), of which {} has {}\n", options.study, combinations.size(),
               ranks, options.json, std::ssize(combinations) - to_measure);
  });
  // Combinations during which a job ended come last, so that one on which the program hangs or crashes does not keep
  // the others from being measured.
  std::vector<std::size_t> order;
  for (std::size_t n = 0; n < combinations.size(); ++n) {
    if (outcomes[n] == not_measured) order.push_back(n);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t n) { return beginnings[n]; });
  const auto given_up = std::ranges::count_if(order, [&](std::size_t n) { return beginnings[n] >= max_beginnings; });
  for (const std::size_t n : order) {
    const Combination& combination = combinations[n];
    use_device_pointers_in_mpi(combination.cuda_aware_mpi);
    Json row;
    if (beginnings[n] < max_beginnings) {
      run_on_root(MPI_COMM_WORLD, [&] {
        ++begun_so_far[combination.identity];
        write_beginnings(begun, begun_so_far);
      });
      row = measure_setup(combination.options, combination.setup);
    } else {
      row = description_of(combination.options, combination.setup);
      row["fault"] = fmt::format("{} jobs ended while it was measured", beginnings[n]);
    }
    json.write(row);
    outcomes[n] = outcome_of(row);
    run_on_root(MPI_COMM_WORLD, [&] {
      begun_so_far.erase(combination.identity);
      write_beginnings(begun, begun_so_far);
    });
    run_on_root(MPI_COMM_WORLD, [&] {
      fmt::print("{} of {}: {}\n", n + 1, combinations.size(), text_of(row));
      std::fflush(stdout);
    });
  }
  run_on_root(MPI_COMM_WORLD, [&] {
    fmt::print("study {}: {} measured now; of all {}, {} could not be measured\n", options.study, to_measure - given_up,
               combinations.size(), count(failed));
  });
  if (count(wrong) > 0) {
    throw Error(ExitCode::numerics, fmt::format("bench fft: {} of {} combinations gave wrong results; {} shows which",
                                                count(wrong), combinations.size(), options.json));
  }
  if (count(good) == 0)
    throw Error(ExitCode::resources, fmt::format("bench fft: no combination worked; {} says why", options.json));
  return ExitCode::success;
}

}  // namespace sluice
