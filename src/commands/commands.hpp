#pragma once
// The subcommands. Each takes its own options and returns the exit code, or throws Error.
#include <mpi.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/support/error.hpp"
#include "src/bench/bench.hpp"
#include "src/run/setup.hpp"

namespace CLI {
class App;
}

namespace sluice {

/// The case to run and its changes from the command line.
struct CaseOptions {
  std::string file;                   ///< CASE.yaml
  std::vector<std::string> settings;  ///< each --set KEY=VALUE
};

/// Goes on as the program of the precision that the case asks for (src/run/precisions.hpp). A case that cannot be read
/// here, or is no regular file, has to ask by --set. Call it before MPI starts. Local.
void use_program_of(const CaseOptions& options, char** argv);

/// Reads the case file on rank 0, broadcasts it, and parses it on all ranks. Throws Error(usage) on every rank.
/// Collective.
CaseInput read_case(const CaseOptions& options, MPI_Comm comm);

/// The same for the text of a case file, which all ranks have. options.file: its name for messages; relative paths
/// start from its folder. Collective.
CaseInput parse_case(const std::string& text, const CaseOptions& options, MPI_Comm comm);

/// The cases of the members of an ensemble. `text` and `options` are those of `common`, the case that has the ensemble;
/// `last`: settings that replace also what members vary. Collective. Throws Error(usage).
std::vector<CaseInput> parse_members(const std::string& text, const CaseOptions& options, const CaseInput& common,
                                     const std::vector<std::string>& last, MPI_Comm comm);

/// A case, and those of its members if it has an ensemble.
struct EnsembleInput {
  CaseInput common;
  std::vector<CaseInput> members;
};

/// read_case() with the members. `last`: see parse_members().
EnsembleInput read_ensemble(const CaseOptions& options, const std::vector<std::string>& last, MPI_Comm comm);

struct RunOptions {
  CaseOptions input;
  std::string output;   ///< --output DIR; empty: the case's
  std::string restart;  ///< --restart auto|FILE; empty: none
  bool allow_change = false;
  bool overwrite = false;
  bool reproducible = false;
  std::optional<std::int64_t> steps;
  std::string walltime;  ///< as the key walltime; empty: the case's
};

struct CheckOptions {
  CaseOptions input;
  int ranks = 1;
  std::optional<double> speed;  ///< --speed, ns per point and step
  std::string machine;          ///< --machine FILE; empty: no forecast
};

struct InitOptions {
  std::string name;     ///< of a case; empty: the template
  bool schema = false;  ///< the JSON schema instead
};

struct VerifyOptions {
  std::string directory;
  bool json = false;  ///< print JSON instead of a table
};

class MpiSession;

/// Runs the subcommand that the arguments name. Starts MPI for `run` and `bench` alone.
ExitCode run_command_line(int argc, char** argv, MpiSession& mpi);

ExitCode command_run(const RunOptions& options);
ExitCode command_check(const CheckOptions& options);
ExitCode command_info(const std::string& file);
ExitCode command_verify(const VerifyOptions& options);
ExitCode command_init(const InitOptions& options);
/// The names of the cases that come with Sluice.
std::set<std::string> shipped_cases();
ExitCode command_bench(const BenchOptions& options);

/// Adds `bench` with a subcommand for each benchmark. `options` must outlive the app.
CLI::App* add_bench(CLI::App& app, BenchOptions& options);

/// A script that completes subcommands, options and their values in bash, and through bashcompinit in zsh.
std::string bash_completion(const CLI::App& app);

/// A manual page in roff: all subcommands with their options, as --help has them.
std::string manual_page(const CLI::App& app, const std::string& version);

}  // namespace sluice
