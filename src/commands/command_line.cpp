#include <CLI/CLI.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <sstream>

#include "io/case/keys.hpp"
#include "solver/physics/terms.hpp"
#include "src/commands/commands.hpp"
#include "src/run/mpi_session.hpp"
#include "src/run/precisions.hpp"
#include "src/run/provenance.hpp"
#include "src/run/stop_control.hpp"

namespace sluice {

namespace {

void add_case_options(CLI::App& app, CaseOptions& input) {
  app.add_option("CASE.yaml", input.file, "Case file; `sluice init` prints one to start from")->required();
  app.add_option("--set", input.settings, "Change one key of the case: KEY=VALUE, VALUE in YAML; may be repeated")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::App* add_run(CLI::App& app, RunOptions& options) {
  CLI::App* run = app.add_subcommand("run", "Run a case");
  add_case_options(*run, options.input);
  run->add_option("--output", options.output, "Output directory, instead of the case's output.directory")
      ->type_name("DIR");
  CLI::Option* restart =
      run->add_option("--restart", options.restart,
                      "Go on from a checkpoint: auto (the newest intact one, else a fresh start) or a file");
  restart->type_name("auto|FILE");
  run->add_flag("--allow-change", options.allow_change,
                "On restart, accept physical keys and a precision that differ from the checkpoint's, and lost output");
  run->add_flag("--overwrite", options.overwrite, "Start afresh in a directory that holds results, and remove them")
      ->excludes(restart);
  run->add_option("--steps", options.steps, "End at this step, counted from the start of the case")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
  run->add_option("--walltime", options.walltime, "Stop cleanly, with a checkpoint, within this time")
      ->type_name("H:M:S|4h|90m");
  run->add_flag("--reproducible", options.reproducible, "Promise the same bits on every process grid");
  run->footer("Example: mpirun -n 4 sluice run cases/retau180/case.yaml --restart auto --walltime 4:00:00");
  return run;
}

CLI::App* add_check(CLI::App& app, CheckOptions& options) {
  CLI::App* check = app.add_subcommand(
      "check", "Validate a case; print its resolution, memory, time step, accuracy, wall time and disk space");
  add_case_options(*check, options.input);
  check->add_option("--np", options.ranks, "Number of processes to plan for")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  CLI::Option* speed =
      check->add_option("--speed", options.speed,
                        "Nanoseconds per point and step on these processes, as the log of a run or `bench step` "
                        "prints, for the wall time; without it, a usual speed");
  speed->type_name("NS_PER_POINT")->check(CLI::PositiveNumber);
  check
      ->add_option("--machine", options.machine,
                   "Forecast the time of a step on --np devices of the machine that this file describes, such as "
                   "machines/h200.yaml, and with it the wall time")
      ->type_name("FILE")
      ->excludes(speed);
  check->footer("Example: sluice check cases/retau180/case.yaml --np 4");
  return check;
}

CLI::App* add_verify(CLI::App& app, VerifyOptions& options) {
  CLI::App* verify = app.add_subcommand(
      "verify", "Verify all files of an output directory, and that they belong together; also while a run is going on");
  verify->add_option("DIR", options.directory, "The output directory of a run")->required();
  verify->add_flag("--json", options.json, "Print the result as JSON");
  verify->footer("Example: sluice verify retau180");
  return verify;
}

/// The arguments, the last first, as CLI11 takes them; `help run` as `run --help`.
std::vector<std::string> arguments(int argc, char** argv) {
  std::vector<std::string> list(argv + std::min(1, argc), argv + argc);
  if (!list.empty() && list.front() == "help") {
    list.erase(list.begin());
    list.emplace_back("--help");
  }
  std::ranges::reverse(list);
  return list;
}

/// A text that a hidden command prints.
using Generated = std::function<std::string()>;

/// `help`, and hidden commands that print the completion script and the manual page for the installation.
void add_generators(CLI::App& app, Generated& generated) {
  app.add_subcommand("help", "Print the help of a command: sluice help run");  // parse() answers it
  const auto add = [&](const char* name, const char* description, const Generated& text) {
    app.add_subcommand(name, description)->group("")->callback([&generated, text] { generated = text; });
  };
  add("completion", "Print a completion script for bash", [&app] { return bash_completion(app); });
  add("man", "Print the manual page", [&app] { return manual_page(app, version()); });
}

/// None if a subcommand is to run. CLI11 has its own exit codes for a refused command line; ours is 2. Of the processes
/// that a launcher started, only the first prints.
std::optional<ExitCode> parse(CLI::App& app, int argc, char** argv, bool prints) {
  std::ostringstream out;
  std::ostringstream err;
  try {
    app.parse(arguments(argc, argv));
    if (app.get_subcommands().empty())
      throw CLI::RequiredError("A subcommand (run, check, info, verify, init or bench)");
    const CLI::App* chosen = app.get_subcommands().front();
    if (chosen->get_name() == "bench" && chosen->get_subcommands().empty()) {
      std::vector<std::string> names;
      for (const CLI::App* one : chosen->get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(one->get_name());
      throw CLI::RequiredError(fmt::format("A benchmark ({})", fmt::join(names, ", ")));
    }
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    const bool asked = app.exit(error, out, err) == 0;  // --help and --version
    if (!prints) return ExitCode::success;              // so that a launcher does not end the first before it has
    StopControl::release_signals();
    fmt::print("{}", out.str());
    fmt::print(stderr, "{}", err.str());
    return asked ? ExitCode::success : ExitCode::usage;
  }
}

}  // namespace

ExitCode run_command_line(int argc, char** argv, MpiSession& mpi) {
  io::introduce(all_physics());
  CLI::App app("Sluice: direct numerical simulation of incompressible turbulent channel flow", "sluice");
  app.require_subcommand(0, 1);  // parse() reports a missing subcommand, because a wrong one can be named there
  app.failure_message([](const CLI::App* /*app*/, const CLI::Error& error) {
    return fmt::format("sluice: {}\nRun with --help for more information.\n", error.what());
  });
  app.set_version_flag("-V,--version", [] { return version_text(); });
  app.footer("Example: sluice init > case.yaml && mpirun -n 4 sluice run case.yaml");

  RunOptions run;
  CheckOptions check;
  BenchOptions bench;
  std::string info_file;
  InitOptions init_options;
  const CLI::App* run_command = add_run(app, run);
  const CLI::App* check_command = add_check(app, check);
  CLI::App* info = app.add_subcommand(
      "info", "Show what a file holds and whether it is intact, or how far the run in a directory has come");
  info->add_option("FILE.h5", info_file, "The file, or the output directory of a run")->required();
  info->footer("Example: sluice info retau180/checkpoints/step_0001200.h5");
  VerifyOptions verify;
  const CLI::App* verify_command = add_verify(app, verify);
  CLI::App* init = app.add_subcommand("init", "Print a commented case file to start from");
  init->add_option("NAME", init_options.name,
                   "One of the cases that come with Sluice; without it: a template with every key");
  init->add_flag("--schema", init_options.schema, "Print a JSON schema of the case file instead, for editors");
  init->footer(
      [] { return fmt::format("Cases: {}\nExample: sluice init > case.yaml", fmt::join(shipped_cases(), ", ")); });
  const CLI::App* bench_command = add_bench(app, bench);
  Generated generated;
  add_generators(app, generated);

  const bool first = launched_rank() == 0;
  if (const auto answered = parse(app, argc, argv, first)) return *answered;
  if (run_command->parsed()) {
    use_program_of(run.input, argv);
    mpi.start();
    return command_run(run);
  }
  StopControl::release_signals();
  if (bench_command->parsed()) {
    if (!bench.precision.empty()) use_program_of(bench.precision, argv);
    mpi.start();
    if (!bench.precision.empty()) require_precision(bench.precision, "--precision", MPI_COMM_WORLD);
    return command_bench(bench);
  }
  // What follows needs one process, and no MPI: it works on login nodes and in programs that have started MPI.
  if (!first) return ExitCode::success;
  if (check_command->parsed()) use_program_of(check.input, argv);
  if (check_command->parsed()) return command_check(check);
  if (info->parsed()) return command_info(info_file);
  if (verify_command->parsed()) return command_verify(verify);
  if (init->parsed()) return command_init(init_options);
  if (generated) fmt::print("{}", generated());
  return ExitCode::success;
}

}  // namespace sluice
