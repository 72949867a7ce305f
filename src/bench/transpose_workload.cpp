// The transposes of the solvers in a run: coefficients between x and y pencils within rows of ranks and between y and z
// pencils within columns, fields between x and z pencils within columns.
#include <fmt/format.h>

#include <complex>

#include "core/decomp/communicator.hpp"
#include "core/decomp/transpose.hpp"
#include "core/device/buffer.hpp"
#include "core/support/collective.hpp"
#include "src/bench/known_field.hpp"
#include "src/bench/round_trip.hpp"

namespace sluice {

namespace {

using Pencil = Box3 (Decomposition::*)(int) const;

struct Kind {
  std::string name;
  Pencil from, to;
  bool in_row;
  bool complex;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> list{
      {"xy", &Decomposition::spectral_x_pencil, &Decomposition::spectral_y_pencil, true, true},
      {"yz", &Decomposition::spectral_y_pencil, &Decomposition::spectral_z_pencil, false, true},
      {"xz", &Decomposition::x_pencil, &Decomposition::z_pencil, false, false},
  };
  return list;
}

/// The boxes of all ranks in this rank's row or column.
std::vector<Box3> boxes(const Decomposition& decomposition, const Communicator& comm, Pencil pencil, bool in_row) {
  const auto box = [&](int rank) { return (decomposition.*pencil)(rank); };
  return in_row ? comm.row_boxes(box) : comm.column_boxes(box);
}

int z_blocks(const BenchOptions& options, const RoundTripSetup& setup) {
  return std::max(setup.processes.pz, options.z_blocks > 0 ? options.z_blocks : ZBlocks::default_count(setup.cells[2]));
}

template <class T>
class TransposeWorkload : public RoundTrip {
 public:
  TransposeWorkload(const BenchOptions& options, const RoundTripSetup& setup, const Kind& kind,
                    const ExchangeSet& exchanges)
      : cells_(setup.cells),
        exchange_(kind.in_row ? exchanges.rows : exchanges.columns),
        comm_(MPI_COMM_WORLD, setup.processes),
        decomposition_(cells_, setup.processes, z_blocks(options, setup)),
        from_((decomposition_.*kind.from)(comm_.rank())),
        to_((decomposition_.*kind.to)(comm_.rank())),
        source_(allocated(from_.volume())),
        transpose_(kind.in_row ? comm_.row() : comm_.column(), boxes(decomposition_, comm_, kind.from, kind.in_row),
                   boxes(decomposition_, comm_, kind.to, kind.in_row), exchange_) {}

  /// Nothing is computed, so every bit must be right: after one direction and, with the source overwritten in between,
  /// after the other.
  Check check(std::uint64_t seed) override {
    const KnownField field(2 * seed, cells_), other(2 * seed + 1, cells_);
    field.write(source(), from_);
    forward();
    const Deviation there = field.deviation(transpose_.transposed(), to_);
    other.write(source(), from_);
    backward();
    const Deviation back = field.deviation(source(), from_);
    Check check{std::max(there.error, back.error), ""};
    if (check.error > 0) {
      const auto& [error, where] = there.error > 0 ? there : back;
      check.fault = fmt::format("wrong value {}: error {:.2g} at ({}, {}, {})",
                                there.error > 0 ? "in the transposed array" : "after the round trip", error, where[0],
                                where[1], where[2]);
    }
    return check;
  }
  void forward() override { transpose_.forward(source()); }
  void backward() override { transpose_.backward(source()); }
  double bytes_sent() const override { return bytes_between(from_, to_, sizeof(T)); }
  std::vector<PieceTuning> piece_tuning() const override { return exchange_.piece_tuning(); }

 private:
  static Buffer<T> allocated(std::size_t size) {
    Buffer<T> buffer;
    run_collectively(MPI_COMM_WORLD, [&] { buffer = Buffer<T>(size); });
    return buffer;
  }
  View3<T> source() { return contiguous_view(source_.data(), from_.nx(), from_.ny(), from_.nz()); }

  Cells cells_;
  Exchange& exchange_;
  Communicator comm_;
  Decomposition decomposition_;
  Box3 from_, to_;
  Buffer<T> source_;
  Transpose<T> transpose_;
};

}  // namespace

std::vector<RoundTripSetup> transpose_setups(const BenchOptions& options, const Cells& cells, int ranks) {
  std::vector<RoundTripSetup> setups;
  for (const Kind& kind : kinds()) {
    if (!options.kind.empty() && kind.name != options.kind) continue;
    for (int py = 1; py <= ranks; ++py) {
      const ProcessGrid processes{py, ranks / py};
      if (ranks % py != 0 || (kind.in_row ? processes.py : processes.pz) == 1) continue;  // nothing would be exchanged
      if (!options.process_grid.empty() && (options.process_grid[0] != py || options.process_grid[1] != ranks / py))
        continue;
      setups.push_back({cells, kind.name, "", processes, kind.in_row, !kind.in_row, {}});
    }
  }
  return setups;
}

std::unique_ptr<RoundTrip> make_transpose(const BenchOptions& options, const RoundTripSetup& setup,
                                          const ExchangeSet& exchanges) {
  const auto kind = std::ranges::find(kinds(), setup.kind, &Kind::name);
  if (kind->complex) return std::make_unique<TransposeWorkload<std::complex<real>>>(options, setup, *kind, exchanges);
  return std::make_unique<TransposeWorkload<real>>(options, setup, *kind, exchanges);
}

}  // namespace sluice
