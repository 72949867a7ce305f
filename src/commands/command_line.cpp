#include <CLI/CLI.hpp>

#include <fmt/format.h>
#include <mpi.h>

#include <iostream>
#include <sstream>

#include "core/support/collective.hpp"
#include "io/case/names.hpp"
#include "src/commands/commands.hpp"
#include "src/run/provenance.hpp"

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
  run->add_option("--walltime", options.walltime, "Stop in good order, with a checkpoint, within this time")
      ->type_name("H:M:S");
  run->add_flag("--reproducible", options.reproducible, "Promise the same bits on every process grid");
  run->footer("Example: mpirun -n 4 sluice run cases/retau180/case.yaml --restart auto --walltime 4:00:00");
  return run;
}

CLI::App* add_check(CLI::App& app, CheckOptions& options) {
  CLI::App* check =
      app.add_subcommand("check", "Validate a case; print grid, resolution, decomposition, memory, time step");
  add_case_options(*check, options.input);
  check->add_option("--np", options.ranks, "Number of processes to plan for")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
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

void add_bench(CLI::App& app, BenchOptions& options) {
  CLI::App* bench = app.add_subcommand("bench", "Measure speed and memory");
  bench->add_option("WHAT", options.what, "step, samples, poisson, tridiagonal, transpose, fft, links or checkpoint")
      ->required()
      ->check(CLI::IsMember({"step", "samples", "poisson", "tridiagonal", "transpose", "fft", "links", "checkpoint"}));
  bench->add_option("--grid", options.grids, "Cells in x, y, z; transpose, fft: may be repeated")
      ->type_name("NX,NY,NZ")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::PositiveNumber);
  bench->add_option("--diffusion", options.diffusion, "explicit or implicit_z")
      ->check(CLI::IsMember(io::all_names<Diffusion>()));
  bench->add_option("--order", options.order, "step, samples, poisson: order of accuracy along x and y, 2 or 4")
      ->check(CLI::IsMember({2, 4}));
  bench->add_option("--tridiagonal", options.tridiagonal, "ptdma or transpose")
      ->check(CLI::IsMember(io::all_names<TridiagonalMethod>()));
  bench->add_option(
      "--exchange", options.exchange,
      "Exchange method, or auto, or such as halos=peer,rows=nccl,columns=peer. transpose, fft: auto takes "
      "the default; for pencils it measures and chooses a method for rows and one for columns");
  bench->add_option("--process-grid", options.process_grid, "py,pz; without it: as `run` would choose")
      ->delimiter(',')
      ->expected(2)
      ->check(CLI::PositiveNumber);
  bench->add_option("--z-blocks", options.z_blocks, "Number of z blocks; 0: auto")->check(CLI::NonNegativeNumber);
  bench->add_option("--repeats", options.repeats, "Steps, samples, solves, round trips or checkpoints to measure")
      ->check(CLI::PositiveNumber);
  CLI::Option* all =
      bench->add_flag("--all", options.all, "transpose, fft: every way that the other options leave open");
  bench->add_flag("--pairs", options.pairs, "With --all: pencils also with a method each for rows and columns")
      ->needs(all);
  bench
      ->add_option("--kind", options.kind,
                   "transpose: xy, yz or xz; fft: slab_2d_1d, slab_1d_2d, pencil, or cufft or fftw (the library's own "
                   "transform); without it the first of them")
      ->check(CLI::IsMember({"xy", "yz", "xz", "slab_2d_1d", "slab_1d_2d", "pencil", "cufft", "fftw"}));
  bench->add_option("--layout", options.layout, "fft: contiguous or realigned; without it the first")
      ->check(CLI::IsMember({"contiguous", "realigned"}));
  bench->add_option("--bytes", options.bytes, "links: bytes of a block")->check(CLI::PositiveNumber);
  bench->add_option("--directory", options.directory, "checkpoint: where to write; removed afterwards")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  bench
      ->add_option("--warm-up", options.warm_up,
                   "transpose, fft, links: round trips or blocks before those that count; without it 3, or as many as "
                   "mpi_pipelined needs to choose its pieces")
      ->check(CLI::NonNegativeNumber);
  bench
      ->add_option("--time-limit", options.time_limit,
                   "transpose, fft: seconds for each way; links: seconds for choosing pieces")
      ->check(CLI::PositiveNumber);
  bench
      ->add_option(
          "--json", options.json,
          "Write the result to this file as JSON; transpose, fft, links, checkpoint: an object a line for each row")
      ->type_name("FILE");
  bench->footer("Example: mpirun -n 2 sluice bench step --grid 192,128,128 --diffusion explicit");
}

/// None if a subcommand is to run. CLI11 has its own exit codes for a refused command line; ours is 2. Only rank 0
/// prints.
std::optional<ExitCode> parse(CLI::App& app, int argc, char** argv) {
  std::ostringstream out;
  std::ostringstream err;
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty())
      throw CLI::RequiredError("A subcommand (run, check, info, verify, init or bench)");
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    const bool asked = app.exit(error, out, err) == 0;  // --help and --version
    if (rank_of(MPI_COMM_WORLD) == 0) {
      std::cout << out.str();
      std::cerr << err.str();
    }
    return asked ? ExitCode::success : ExitCode::usage;
  }
}

}  // namespace

ExitCode run_command_line(int argc, char** argv) {
  CLI::App app("Sluice: direct numerical simulation of incompressible turbulent channel flow", "sluice");
  app.require_subcommand(0, 1);  // parse() reports a missing subcommand, because a wrong one can be named there
  app.failure_message([](const CLI::App* /*app*/, const CLI::Error& error) {
    return fmt::format("sluice: {}\nRun with --help for more information.\n", error.what());
  });
  app.set_version_flag("--version", [] { return version_text(); });
  app.footer("Example: sluice init > case.yaml && mpirun -n 4 sluice run case.yaml");

  RunOptions run;
  CheckOptions check;
  BenchOptions bench;
  std::string info_file;
  std::string init_name;
  const CLI::App* run_command = add_run(app, run);
  const CLI::App* check_command = add_check(app, check);
  CLI::App* info = app.add_subcommand(
      "info", "Tell what a file holds and whether it is intact, or how far the run of a directory is");
  info->add_option("FILE.h5", info_file, "The file, or the output directory of a run")->required();
  info->footer("Example: sluice info retau180/checkpoints/step_0001200.h5");
  VerifyOptions verify;
  const CLI::App* verify_command = add_verify(app, verify);
  CLI::App* init = app.add_subcommand("init", "Print a commented case file to start from");
  init->add_option("NAME", init_name, "One of the cases that come with Sluice; without it: a template with every key");
  init->footer("Example: sluice init > case.yaml");
  add_bench(app, bench);

  if (const auto answered = parse(app, argc, argv)) return *answered;
  if (run_command->parsed()) return command_run(run);
  if (check_command->parsed()) return command_check(check);
  if (info->parsed()) return command_info(info_file);
  if (verify_command->parsed()) return command_verify(verify);
  if (init->parsed()) return command_init(init_name);
  return command_bench(bench);
}

}  // namespace sluice
