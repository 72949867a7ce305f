// The options of `sluice bench`: one list for all benchmarks, of which each takes some.
#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <array>
#include <functional>

#include "io/case/case.hpp"
#include "src/commands/commands.hpp"

namespace sluice {

namespace {

/// Benchmarks, as bits.
enum : unsigned {
  step = 1,
  samples = 2,
  poisson = 4,
  tridiagonal = 8,
  transpose = 16,
  fft = 32,
  links = 64,
  checkpoint = 128,
  solve = 256,
  solvers = step | samples | poisson | tridiagonal,
  round_trips = transpose | fft,
  all_benchmarks = 511,
};

struct Benchmark {
  unsigned bit;
  const char* name;
  const char* description;
  const char* example;
};

constexpr std::array benchmarks{
    Benchmark{step, "step", "A time step, as `run` takes it",
              "mpirun -n 2 sluice bench step --grid 192,128,128 --diffusion explicit"},
    Benchmark{samples, "samples", "Samples of statistics, spectra and densities beside a step",
              "sluice bench samples --grid 192,128,96"},
    Benchmark{solve, "solve",
              "The solves of a substep with implicit diffusion along z, by P-TDMA and by full transposes",
              "mpirun -n 4 sluice bench solve --grid 192,128,128 --process-grid 2,2"},
    Benchmark{poisson, "poisson", "A solve of the Poisson equation", "sluice bench poisson --order 2"},
    Benchmark{tridiagonal, "tridiagonal", "A solve of tridiagonal systems along z",
              "sluice bench tridiagonal --z-blocks 1"},
    Benchmark{transpose, "transpose", "Transposes between pencils",
              "mpirun -n 4 sluice bench transpose --grid 256,256,256 --all"},
    Benchmark{fft, "fft", "Distributed three-dimensional transforms",
              "mpirun -n 4 sluice bench fft --grid 256,256,256 --all"},
    Benchmark{links, "links", "Transfer rates between ranks, and between host and GPU",
              "mpirun -n 2 sluice bench links --bytes 268435456"},
    Benchmark{checkpoint, "checkpoint", "Checkpoints, and plain files of the same size",
              "mpirun -n 2 sluice bench checkpoint --directory /scratch"},
};

struct BenchOption {
  unsigned benchmarks;
  std::function<void(CLI::App&, BenchOptions&)> add;
};

const std::vector<BenchOption>& bench_options() {
  static const std::vector<BenchOption> list{
      {all_benchmarks & ~links,
       [](CLI::App& app, BenchOptions& options) {
         app.add_option("--grid", options.grids, "Cells in x, y, z; transpose, fft: may be repeated")
             ->type_name("NX,NY,NZ")
             ->delimiter(',')
             ->allow_extra_args(false)
             ->check(CLI::PositiveNumber);
       }},
      {all_benchmarks,
       [](CLI::App& app, BenchOptions& options) {
         app.add_option("--precision", options.precision, "Precision of the fields; default: that of `sluice`")
             ->check(CLI::IsMember({"double", "single"}));
       }},
      {step | samples,
       [](CLI::App& app, BenchOptions& options) {
         app.add_option("--diffusion", options.diffusion, "How diffusion is advanced")
             ->check(CLI::IsMember(io::all_names<Diffusion>()));
       }},
      {solvers,
       [](CLI::App& app, BenchOptions& options) {
         app.add_option("--tridiagonal", options.tridiagonal, "Method for tridiagonal systems along z")
             ->check(CLI::IsMember(io::all_names<TridiagonalMethod>()));
       }},
      {step | samples | poisson | solve,
       [](CLI::App& app, BenchOptions& options) {
         app.add_option("--order", options.order, "Order of accuracy along x and y")->check(CLI::IsMember({2, 4}));
       }},
      {step,
       [](CLI::App& app, BenchOptions& options) {
         app.add_option("--members", options.members, "Number of flows that are stepped together, on one process")
             ->check(CLI::PositiveNumber);
         app.add_option("--scalars", options.scalars, "How many scalars the flow transports")
             ->check(CLI::NonNegativeNumber);
       }},
      {all_benchmarks & ~(links | checkpoint),
       [](CLI::App& app, BenchOptions& options) {
         app.add_option("--exchange", options.exchange,
                        "Exchange method, or auto, or such as halos=peer,rows=nccl,columns=peer. transpose, fft: auto "
                        "takes the default; for pencils it measures and chooses a method for rows and one for columns");
       }},
      {all_benchmarks & ~links,
       [](CLI::App& app, BenchOptions& options) {
         app.add_option("--process-grid", options.process_grid, "py,pz; without it: as `run` would choose")
             ->delimiter(',')
             ->expected(2)
             ->check(CLI::PositiveNumber);
       }},
      {all_benchmarks & ~(links | fft),
       [](CLI::App& app, BenchOptions& options) {
         app.add_option("--z-blocks", options.z_blocks, "Number of z blocks; 0: auto")->check(CLI::NonNegativeNumber);
       }},
      {all_benchmarks,
       [](CLI::App& app, BenchOptions& options) {
         app.add_option("--repeats", options.repeats, "Steps, samples, solves, round trips or checkpoints to measure")
             ->check(CLI::PositiveNumber);
       }},
      {round_trips,
       [](CLI::App& app, BenchOptions& options) {
         CLI::Option* all = app.add_flag("--all", options.all, "Every combination that the other options leave open");
         app.add_flag("--pairs", options.pairs, "With --all: pencils also with a method each for rows and columns")
             ->needs(all);
       }},
      {transpose,
       [](CLI::App& app, BenchOptions& options) {
         app.add_option("--kind", options.kind, "Pencils between which to transpose; default: the first")
             ->check(CLI::IsMember({"xy", "yz", "xz"}));
       }},
      {fft,
       [](CLI::App& app, BenchOptions& options) {
         app.add_option("--kind", options.kind,
                        "Decomposition; cufft and fftw: the library's own transform; default: the first")
             ->check(CLI::IsMember({"slab_2d_1d", "slab_1d_2d", "pencil", "cufft", "fftw"}));
         app.add_option("--layout", options.layout, "Layout of the transformed field; default: the first")
             ->check(CLI::IsMember({"contiguous", "realigned"}));
         app.add_option("--values", options.values, "Values in space")->check(CLI::IsMember({"real", "complex"}));
         app.add_option("--fields", options.fields, "How many fields are transformed together")
             ->check(CLI::Range(1, 1000));
       }},
      {links,
       [](CLI::App& app, BenchOptions& options) {
         app.add_option("--bytes", options.bytes, "Bytes of a block")->check(CLI::PositiveNumber);
       }},
      {checkpoint,
       [](CLI::App& app, BenchOptions& options) {
         app.add_option("--directory", options.directory, "Where to write; removed afterwards")
             ->type_name("DIR")
             ->check(CLI::ExistingDirectory);
         app.add_option("--writer", options.writer, "How the ranks write, as output.writer of a case")
             ->check(CLI::IsMember(io::all_names<io::WriterKind>()));
         app.add_option("--alignment", options.alignment, "Bytes, as output.alignment")->check(CLI::Range(1, 1 << 30));
         app.add_option("--hint", options.hints, "A hint for MPI-IO, with --writer hdf5; may be repeated")
             ->type_name("NAME=VALUE")
             ->allow_extra_args(false);
       }},
      {round_trips,
       [](CLI::App& app, BenchOptions& options) {
         app.add_option("--series", options.series,
                        "Measure this many round trips in a row, whatever time they take, and keep the time of each in "
                        "the JSON result")
             ->check(CLI::PositiveNumber)
             ->excludes(app.get_option("--repeats"));
       }},
      {round_trips | links,
       [](CLI::App& app, BenchOptions& options) {
         app.add_option("--warm-up", options.warm_up,
                        "Unmeasured round trips or blocks at the start; default: 3, or as many as mpi_pipelined "
                        "needs to choose its pieces")
             ->check(CLI::NonNegativeNumber);
         app.add_option("--time-limit", options.time_limit, "Seconds for each way; links: for choosing pieces")
             ->check(CLI::PositiveNumber);
       }},
      {all_benchmarks,
       [](CLI::App& app, BenchOptions& options) {
         app.add_option("--json", options.json,
                        "Write the result to this file as JSON; samples, solve, transpose, fft, links, checkpoint: an "
                        "object a line for each row")
             ->type_name("FILE");
       }},
      {fft,
       [](CLI::App& app, BenchOptions& options) {
         CLI::Option* study =
             app.add_option("--study", options.study,
                            "Measure the combinations that this file lists, and append their results to that of "
                            "--json; combinations that it holds already are not repeated")
                 ->type_name("FILE")
                 ->needs(app.get_option("--json"));
         for (const char* other : {"--grid", "--exchange", "--process-grid", "--repeats", "--all", "--kind", "--layout",
                                   "--values", "--fields", "--series", "--warm-up", "--time-limit"})
           study->excludes(app.get_option(other));
       }},
  };
  return list;
}

}  // namespace

CLI::App* add_bench(CLI::App& app, BenchOptions& options) {
  CLI::App* bench = app.add_subcommand("bench", "Measure speed and memory");
  bench->require_subcommand(0, 1);  // as for the program
  bench->footer(
      "Example: mpirun -n 2 sluice bench step --grid 192,128,128 --diffusion explicit\n"
      "Options of a benchmark: sluice bench step --help");
  for (const Benchmark& benchmark : benchmarks) {
    CLI::App* what = bench->add_subcommand(benchmark.name, benchmark.description);
    for (const BenchOption& option : bench_options()) {
      if ((option.benchmarks & benchmark.bit) != 0) option.add(*what, options);
    }
    what->footer(std::string("Example: ") + benchmark.example);
    what->callback([&options, name = benchmark.name] { options.what = name; });
  }
  return bench;
}

}  // namespace sluice
