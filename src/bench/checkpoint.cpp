// How fast checkpoints are written, beside a plain parallel write of as many bytes to the same directory.
#include <fmt/format.h>
#include <mpi.h>
#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/decomp/decomposition.hpp"
#include "core/support/collective.hpp"
#include "core/support/random.hpp"
#include "core/support/real.hpp"
#include "io/files/checkpoint_directory.hpp"
#include "io/files/hdf5_parallel.hpp"
#include "io/files/posix_file.hpp"
#include "model/field_descriptor.hpp"
#include "src/bench/bench.hpp"
#include "src/bench/result.hpp"
#include "src/run/stop_control.hpp"

namespace sluice {

namespace {

/// A new directory in the one given, which rank 0 removes at the end. Construction is collective. From then on, signals
/// that stop a run do not end the process.
class ScratchDirectory {
 public:
  explicit ScratchDirectory(const std::string& parent) : path_(parent + "/sluice-bench-XXXXXX") {
    StopControl::catch_signals();
    run_on_root(MPI_COMM_WORLD, [&] {
      if (::mkdtemp(path_.data()) == nullptr) throw io::file_error(parent, "create a directory in it", errno);
      created_ = true;
    });
    broadcast(path_, MPI_COMM_WORLD);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    if (created_) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool created_ = false;  ///< by this rank
};

/// As a case has them in output.
io::WriterSpec writer_of(const BenchOptions& options) {
  io::WriterSpec writer{*io::from_name<io::WriterKind>(options.writer), options.alignment, {}};
  for (const std::string& hint : options.hints) {
    const auto equals = hint.find('=');
    if (equals == 0 || equals == std::string::npos || equals + 1 == hint.size())
      throw Error(ExitCode::usage, fmt::format("bench checkpoint: the hint '{}' is not of the form NAME=VALUE", hint));
    writer.hints.push_back({hint.substr(0, equals), hint.substr(equals + 1)});
    for (const io::HintFault& fault : io::faults_of_hint(writer.hints, writer.hints.size() - 1))
      throw Error(ExitCode::usage, fmt::format("bench checkpoint: the {} of a hint: {}", fault.part, fault.text));
  }
  if (writer.kind == io::WriterKind::hdf5 && !io::h5::is_parallel())
    throw Error(ExitCode::usage, fmt::format("bench checkpoint: the writer hdf5: {}", io::h5::no_parallel_hdf5));
  if (!writer.hints.empty() && writer.kind != io::WriterKind::hdf5)
    throw Error(ExitCode::usage, "bench checkpoint: hints for MPI-IO need the writer hdf5");
  return writer;
}

/// The fields of a checkpoint, with random values, on z slabs or the process grid that was asked for.
class CheckpointBenchmark {
 public:
  explicit CheckpointBenchmark(const BenchOptions& options)
      : options_(options),
        writer_(writer_of(options)),
        processes_(options.process_grid.empty() ? ProcessGrid{1, size_of(MPI_COMM_WORLD)}
                                                : ProcessGrid{options.process_grid[0], options.process_grid[1]}),
        scratch_(options.directory) {
    const auto& [nx, ny, nz] = options.cells();
    const int z_blocks = options.z_blocks > 0 ? options.z_blocks : ZBlocks::default_count(nz);
    const Decomposition decomposition(options.cells(), processes_, std::max(z_blocks, processes_.pz));
    block_ = {{nz, ny, nx}, decomposition.x_pencil(rank_of(MPI_COMM_WORLD))};
    values_.resize(block_.box.volume());
    const std::uint64_t seed = rank_of(MPI_COMM_WORLD);
    for (std::size_t n = 0; n < values_.size(); ++n) values_[n] = static_cast<real>(uniform01(seed, n) - 0.5);
    for (std::int64_t k = 0; k <= nz; ++k) z_nodes_.push_back(2 * static_cast<double>(k) / static_cast<double>(nz));
    for (const FieldDescriptor& field : base_fields()) {
      if (field.outputs.checkpoint) fields_.push_back(field);
    }
  }

  /// Of all fields together.
  double bytes() const {
    const auto& [nx, ny, nz] = options_.cells();
    return static_cast<double>(nx * ny * nz) * static_cast<double>(fields_.size() * sizeof(real));
  }

  /// Throws Error(io) after a signal, so that the directory is removed.
  std::vector<Json> measure() {
    StopControl control(MPI_COMM_WORLD, scratch_.path(), std::nullopt, 0);
    std::vector<double> plain, whole, reading, writing;
    for (int n = 0; n <= options_.repeats; ++n) {  // the first one does not count
      if (control.poll().stop != StopReason::none) throw Error(ExitCode::io, "bench checkpoint: stopped by a signal");
      const double plain_seconds = seconds_of_new_file([&] { write_plainly(); });
      std::string path;
      const double seconds = seconds_of_new_file([&] { path = write_checkpoint(); });
      const double read_seconds = seconds_of([&] { io::verify_checkpoint(MPI_COMM_WORLD, path); });
      if (n == 0) continue;
      plain.push_back(plain_seconds);
      whole.push_back(seconds);
      reading.push_back(read_seconds);
      writing.push_back(seconds - read_seconds);
    }
    const double plain_median = spread_of(plain).median;
    std::vector<Json> rows{row("plain write", plain), row("checkpoint", whole), row("without verification", writing),
                           row("verification", reading)};
    for (Json& row : rows) row["fraction_of_plain"] = plain_median * 1e3 / row["milliseconds"].get<double>();
    return rows;
  }

  const ProcessGrid& processes() const { return processes_; }

 private:
  /// Files of earlier repeats are removed before the time begins.
  double seconds_of_new_file(const std::function<void()>& write) const {
    run_on_root(MPI_COMM_WORLD, [&] {
      for (const auto& entry : std::filesystem::directory_iterator(scratch_.path())) {
        std::filesystem::remove_all(entry.path());
      }
    });
    return seconds_of(write);
  }

  /// Every rank writes its values as one piece of a common file, and flushes them to disk.
  void write_plainly() {
    const std::string path = scratch_.path() + "/plain";
    run_on_root(MPI_COMM_WORLD, [&] { io::PosixFile(path, io::PosixFile::Mode::create).close(); });
    const std::int64_t bytes = values_.size() * sizeof(real);
    std::int64_t before = 0;  // bytes of lower ranks
    check_mpi(MPI_Exscan(&bytes, &before, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD), "MPI_Exscan");
    run_collectively(MPI_COMM_WORLD, [&] {
      io::PosixFile file(path, io::PosixFile::Mode::existing);
      std::uint64_t offset = before * fields_.size();
      for (std::size_t field = 0; field < fields_.size(); ++field, offset += bytes) {
        file.write_at(offset, reinterpret_cast<const std::byte*>(values_.data()), bytes);
      }
      file.sync();
      file.close();
    });
  }

  std::string write_checkpoint() {
    const auto& [nx, ny, nz] = options_.cells();
    io::CheckpointWriter writer(
        MPI_COMM_WORLD,
        {scratch_.path(), 1, 0.0, {}, io::grid_lines(nx, 2.0, ny, 1.0, z_nodes_), io::h5::type_of<real>, writer_},
        block_);
    for (const FieldDescriptor& field : fields_) writer.write_field(field, values_.data());
    writer.write_values("/state", {});
    return writer.commit(1).path;
  }

  Json row(const std::string& name, const std::vector<double>& seconds) const {
    Json row = new_result("checkpoint");
    row["name"] = name;
    row["cells"] = options_.cells();
    row["process_grid"] = {processes_.py, processes_.pz};
    row["writer"] = options_.writer;
    row["alignment"] = options_.alignment;
    row["hints"] = options_.hints;
    row["repeats"] = options_.repeats;
    row["bytes"] = static_cast<std::int64_t>(bytes());
    const Spread spread = spread_of(seconds);
    add_milliseconds(row, spread);
    row["gb_per_s"] = bytes() / spread.median * 1e-9;
    return row;
  }

  const BenchOptions& options_;
  io::WriterSpec writer_;
  ProcessGrid processes_;
  ScratchDirectory scratch_;
  io::LocalBlock block_;
  std::vector<real> values_;
  std::vector<double> z_nodes_;
  std::vector<FieldDescriptor> fields_;
};

}  // namespace

ExitCode bench_checkpoint(const BenchOptions& options) {
  if (options.grids.size() > 1) throw Error(ExitCode::usage, "bench checkpoint: one --grid at a time");
  JsonLines json(options.json);
  CheckpointBenchmark benchmark(options);
  const std::vector<Json> rows = benchmark.measure();
  for (const Json& row : rows) json.write(row);
  run_on_root(MPI_COMM_WORLD, [&] {
    const auto& [nx, ny, nz] = options.cells();
    fmt::print("checkpoint of {} x {} x {} ({:.0f} MB, {} precision), {} rank(s) as {} x {}, writer {}\n", nx, ny, nz,
               benchmark.bytes() * 1e-6, precision_name, size_of(MPI_COMM_WORLD), benchmark.processes().py,
               benchmark.processes().pz, options.writer);
    print_table(rows, {text_column("", 24, "name"), time_column(), number_column("GB/s", 10, "gb_per_s", 2),
                       number_column("of plain", 10, "fraction_of_plain", 2)});
  });
  return ExitCode::success;
}

}  // namespace sluice
