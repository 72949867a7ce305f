#pragma once
// The subcommands. Each takes its own options and returns the exit code, or throws Error.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/support/error.hpp"

namespace sluice {

/// What to run, and how to change the case from the command line.
struct CaseOptions {
  std::string file;                   ///< CASE.yaml
  std::vector<std::string> settings;  ///< each --set KEY=VALUE
};

struct RunOptions {
  CaseOptions input;
  std::string output;   ///< --output DIR; empty: the case's
  std::string restart;  ///< --restart auto|FILE; empty: none
  bool allow_change = false;
  bool overwrite = false;
  bool reproducible = false;
  std::optional<std::int64_t> steps;
  std::string walltime;  ///< H:M:S; empty: the case's
};

struct CheckOptions {
  CaseOptions input;
  int ranks = 1;
};

struct BenchOptions {
  std::string what;  ///< step, poisson, tridiagonal, transpose, fft or links
  std::vector<std::int64_t> cells{192, 128, 128};
  std::string diffusion = "explicit";
  std::string tridiagonal = "ptdma";
  std::string exchange = "auto";
  std::vector<int> process_grid;  ///< py, pz; empty: auto
  int z_blocks = 0;               ///< 0: auto
  int repeats = 20;
  std::string json;  ///< file; empty: none

  // transpose and fft
  bool all = false;                              ///< every way that the other options leave open
  std::string kind;                              ///< xy, yz or xz; slab_2d_1d, slab_1d_2d or pencil; empty: any
  std::string layout;                            ///< fft: contiguous or realigned; empty: both
  int warm_up = 3;                               ///< pairs before those that count
  double time_limit = 10;                        ///< seconds for a way
  std::int64_t bytes = std::int64_t{256} << 20;  ///< links: of a block
};

ExitCode run_command_line(int argc, char** argv);

ExitCode command_run(const RunOptions& options);
ExitCode command_check(const CheckOptions& options);
ExitCode command_info(const std::string& file);
ExitCode command_init(const std::string& name);
ExitCode command_bench(const BenchOptions& options);

}  // namespace sluice
