#include "poisson/fft/distributed_fft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "core/decomp/communicator.hpp"
#include "core/device/buffer.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "poisson/fft/fft_in_pieces.hpp"
#include "poisson/fft/redistribution.hpp"

namespace sluice {

namespace {

using Complex = std::complex<real>;
using Triple = std::array<std::int64_t, 3>;

/// The axes of an array from the fastest to the slowest in memory: {0, 1, 2} is x, y, z.
using AxisOrder = std::array<std::size_t, 3>;

constexpr std::array axis_names{'x', 'y', 'z'};

constexpr AxisOrder fastest(std::size_t axis) {
  return {axis, (axis + 1) % 3, (axis + 2) % 3};
}

/// The axis that is split over py ranks, and the one over pz ranks. Slabs have py = 1.
struct Split {
  std::size_t over_py, over_pz;
  friend bool operator==(const Split&, const Split&) = default;
};

/// How the array is split during the transforms along x, y and z. Between two transforms whose splits differ, the array
/// is redistributed.
std::array<Split, 3> splits_of(FftDecomposition decomposition) {
  constexpr std::size_t x = 0, y = 1, z = 2;
  switch (decomposition) {
    case FftDecomposition::slab_2d_1d:
      return {{{x, z}, {x, z}, {x, y}}};
    case FftDecomposition::slab_1d_2d:
      return {{{y, z}, {y, x}, {y, x}}};
    default:
      return {{{y, z}, {x, z}, {x, y}}};
  }
}

/// What a rank owns of an array of these extents; may be empty.
Box3 owned_box(const Triple& extents, const Split& split, const ProcessGrid& processes, int rank) {
  Box3 box = box_of(extents[0], extents[1], extents[2]);
  const auto keep = [&box](std::size_t axis, int part, int parts) {
    const std::vector<std::int64_t> bounds = split_evenly(box.hi[axis], parts);
    box.lo[axis] = bounds[static_cast<std::size_t>(part)];
    box.hi[axis] = bounds[static_cast<std::size_t>(part) + 1];
  };
  keep(split.over_py, processes.y_index(rank), processes.py);
  keep(split.over_pz, processes.z_index(rank), processes.pz);
  return box;
}

/// The box with its axes in memory order.
Box3 in_memory(const Box3& box, const AxisOrder& order) {
  Box3 reordered;
  for (std::size_t n = 0; n < 3; ++n) {
    reordered.lo[n] = box.lo[order[n]];
    reordered.hi[n] = box.hi[order[n]];
  }
  return reordered;
}

/// The stride along each axis.
Triple strides(const Box3& box, const AxisOrder& order) {
  Triple stride{};
  std::int64_t elements = 1;
  for (const std::size_t axis : order) {
    stride[axis] = elements;
    elements *= box.extent(static_cast<int>(axis));
  }
  return stride;
}

/// One side of a transform: the stride along each axis of a field, and the distance between fields.
struct Placement {
  Triple stride;
  std::int64_t distance;
};

FftBatch batch_along(std::size_t axis, const Box3& box, const Placement& in, const Placement& out, int fields) {
  const std::size_t first = axis == 0 ? 1 : 0;
  const std::size_t second = axis == 2 ? 1 : 2;
  const auto loop = [&](std::size_t over) {
    return FftLoop{box.extent(static_cast<int>(over)), in.stride[over], out.stride[over]};
  };
  return {box.extent(static_cast<int>(axis)),
          in.stride[axis],
          out.stride[axis],
          {loop(first), loop(second), FftLoop{fields, in.distance, out.distance}}};
}

/// The process grid. Slabs have whole planes, so py = 1. The same result on all ranks.
ProcessGrid processes_of(MPI_Comm world, FftDecomposition decomposition, const ProcessGrid& pencils) {
  const int ranks = size_of(world);
  if (decomposition != FftDecomposition::pencil) return {1, ranks};
  if (pencils.py < 1 || pencils.pz < 1 || pencils.size() != ranks) {
    throw Error(ExitCode::usage, fmt::format("a Fourier transform in pencils on {} x {} ranks, but there are {}",
                                             pencils.py, pencils.pz, ranks));
  }
  return pencils;
}

void require_cells(const Triple& cells, const FftFields& fields) {
  if (cells[0] > 0 && cells[1] > 0 && cells[2] > 0 && fields.count > 0) return;
  throw Error(ExitCode::usage,
              fmt::format("a Fourier transform of {} x {} x {} cells, {} field(s): every number must be positive",
                          cells[0], cells[1], cells[2], fields.count));
}

/// A real field's values begin at even elements, as transforms of several fields on a GPU require.
std::int64_t distance_of(const FftFields& fields, const Box3& box) {
  const std::int64_t values = box.volume();
  return fields.type == FftType::real_to_complex && fields.count > 1 ? values + values % 2 : values;
}

/// Divides the planes of this box into pieces, all equal except the last: one is exchanged while the next are
/// transformed. With n pieces, 1 / n of the exchange does not overlap with transforms, and each piece costs the time of
/// `overhead` bytes. So the best n is the square root of the bytes of the box over `overhead`.
std::vector<PlaneRange> pieces_of(const Box3& box, double overhead) {
  constexpr std::int64_t unit = 4;  // planes, so that each piece is aligned to 16 bytes
  const std::int64_t planes = box.extent(2);
  const std::int64_t units = (planes + unit - 1) / unit;
  const double bytes = static_cast<double>(box.volume()) * sizeof(Complex);
  const std::int64_t count = std::max<std::int64_t>(1, std::llround(std::sqrt(bytes / overhead)));
  const std::int64_t size = std::max<std::int64_t>(1, (units + count - 1) / count) * unit;
  std::vector<PlaneRange> pieces;
  for (std::int64_t first = 0; first == 0 || first < planes; first += size)
    pieces.push_back({first, std::min(planes, first + size)});
  return pieces;
}

/// The type of transforms from and to such values.
template <class Value>
constexpr FftType type_of = std::is_same_v<Value, real> ? FftType::real_to_complex : FftType::complex_to_complex;

const char* values_of(FftType type) {
  return type == FftType::real_to_complex ? "real" : "complex";
}

}  // namespace

/// The transforms along x, y and z, each with the redistribution that follows it. The results are in the caller's
/// complex array or in a work array, because a transform that changes the order of memory cannot work in place.
struct DistributedFft::Pipeline {
  struct TimedTransform {
    FftInPieces fft;
    PhaseTimers timers;
  };
  struct Step {
    TimedTransform forward, backward;
    std::optional<Redistribution> to_next, from_next;
    const Exchange* exchange = nullptr;  ///< of both redistributions
    std::size_t result = 0;              ///< array to which `forward` writes: 0 the caller's, 1 the work array
    std::size_t array = 0;               ///< array that holds the result after `to_next`
  };

  Pipeline(const Triple& cells, FftDecomposition decomposition, FftLayout layout, const Communicator& comm,
           const ExchangeSet& exchanges, const FftFields& of)
      : fields(of) {
    const bool from_real = fields.type == FftType::real_to_complex;
    may_be_in_place = !from_real && layout == FftLayout::contiguous;
    const std::array<Split, 3> splits = splits_of(decomposition);
    const Triple modes{from_real ? cells[0] / 2 + 1 : cells[0], cells[1], cells[2]};
    const auto box_of_step = [&](std::size_t n, int rank) {
      return owned_box(modes, splits[n], comm.processes(), rank);
    };
    values = owned_box(cells, splits[0], comm.processes(), comm.rank());
    coefficients = box_of_step(2, comm.rank());

    // Before the transforms along x, y and z, and after the last. Realigned, a transform before a redistribution makes
    // the next axis the fastest.
    std::array<AxisOrder, 4> orders;
    orders.fill(fastest(0));
    for (std::size_t n = 0; n < 2; ++n) {
      if (splits[n] == splits[n + 1]) continue;
      if (layout == FftLayout::realigned) orders[n + 1] = fastest(n + 1);
      const bool over_py = splits[n].over_py != splits[n + 1].over_py;
      const auto boxes = [&](std::size_t step) {
        const auto box = [&](int rank) { return in_memory(box_of_step(step, rank), orders[n + 1]); };
        return over_py ? comm.row_boxes(box) : comm.column_boxes(box);
      };
      const MPI_Comm ranks = over_py ? comm.row() : comm.column();
      if (size_of(ranks) == 1) continue;
      Exchange& exchange = over_py ? exchanges.rows : exchanges.columns;
      Step& step = steps[n];
      step.exchange = &exchange;
      step.to_next.emplace(ranks, boxes(n), boxes(n + 1), fields.count, Redistribution::Shared::to, exchange);
      step.from_next.emplace(ranks, boxes(n + 1), boxes(n), fields.count, Redistribution::Shared::from, exchange);
    }
    if (layout == FftLayout::contiguous && fields.count == 1 && !steps[0].to_next && steps[1].to_next &&
        steps[1].to_next->is_remote()) {
      pieces = pieces_of(box_of_step(1, comm.rank()), steps[1].to_next->piece_overhead());
    }
    // The last result is in the caller's array. A transform that changes the order goes from one array to the other,
    // and so does a redistribution without buffers.
    bool two_arrays = false;
    for (std::size_t n = 2; n-- > 0;) {
      const std::size_t next = steps[n + 1].result;
      steps[n].array = orders[n + 1] == orders[n + 2] ? next : 1 - next;
      const bool switches = steps[n].to_next && steps[n].to_next->needs_two_arrays();
      steps[n].result = switches ? 1 - steps[n].array : steps[n].array;
      two_arrays = two_arrays || switches;
    }

    run_collectively(comm.world(), [&] {
      for (std::size_t n = 0; n < 3; ++n) {
        const Box3 own = box_of_step(n, comm.rank());
        const bool real_side = n == 0 && from_real;
        const Box3& in_space = n == 0 ? values : own;
        const Placement before{strides(in_space, orders[n]), n == 0 ? distance_of(fields, values) : own.volume()};
        const Placement after{strides(own, orders[n + 1]), own.volume()};
        const auto make = [&](FftKind kind, const Placement& in, const Placement& out) {
          const FftBatch batch = batch_along(n, in_space, in, out, fields.count);
          return FftInPieces(kind, batch, n < 2 ? pieces : std::vector<PlaneRange>{}, of_library);
        };
        steps[n].forward.fft = make(real_side ? FftKind::real_to_complex : FftKind::forward, before, after);
        steps[n].backward.fft = make(real_side ? FftKind::complex_to_real : FftKind::backward, after, before);
        elements = std::max(elements, static_cast<std::size_t>(fields.count * own.volume()));
      }
      if (layout == FftLayout::realigned || two_arrays) work = Buffer<Complex>(elements);
    });
  }

  std::array<Complex*, 2> arrays(Complex* of_caller) { return {of_caller, work.size() > 0 ? work.data() : of_caller}; }

  template <class... Arguments>
  static void transform(TimedTransform& timed, Arguments... arguments) {
    const PhaseTimers::Scope scope(timed.timers, TimedPhase::fft);
    timed.fft.run(arguments...);
  }

  /// A transform to `result` and the redistribution, if there is one, to `out`. Returns where the values are.
  template <class In>
  static Complex* advance(TimedTransform& timed, In* in, Complex* result, std::optional<Redistribution>& redistribution,
                          Complex* out) {
    Complex* const blocks = redistribution ? redistribution->open(result) : result;
    transform(timed, in, blocks);
    return redistribution ? redistribution->run(blocks, out) : result;
  }

  /// Rows of the transforms along y that stay on this rank and need not be moved.
  RowsElsewhere own_rows(const Redistribution& redistribution) const {
    return steps[1].forward.fft.takes_rows_elsewhere() ? redistribution.own_rows() : RowsElsewhere{};
  }

  /// Transforms along x and y in pieces: the exchange moves each piece while the next ones are transformed.
  template <class Value>
  Complex* forward_in_pieces(const Value* in, Complex* array) {
    auto& [x, y, z] = steps;
    Redistribution& exchange = *y.to_next;
    const RowsElsewhere own = own_rows(exchange);
    for (const PlaneRange& piece : pieces) {
      transform(x.forward, piece, in, array);
      transform(y.forward, piece, array, array, own);
      if (piece.first == 0) exchange.begin();  // waits for the other ranks
      exchange.move(array, piece, own.data == nullptr);
    }
    exchange.end();
    return exchange.shared();
  }

  /// Along z, then along y and x while the exchange moves the next pieces.
  template <class Value>
  void backward_in_pieces(Complex* array, Value* out) {
    auto& [x, y, z] = steps;
    Redistribution& exchange = *y.from_next;
    const RowsElsewhere own = own_rows(exchange);
    transform(z.backward, array, exchange.shared());
    exchange.begin();
    for (const PlaneRange& piece : pieces) exchange.move(array, piece, own.data == nullptr);
    for (std::size_t n = 0; n < pieces.size(); ++n) {
      exchange.await(n);
      transform(y.backward, pieces[n], array, array, own);
      transform(x.backward, pieces[n], array, out);
    }
    exchange.end();
  }

  /// Throws Error(usage) if this object does not transform such arrays.
  void require(FftType given, const void* in, const void* out) const {
    if (given != fields.type) {
      throw Error(ExitCode::usage, fmt::format("a Fourier transform made for {} values, called with {} values",
                                               values_of(fields.type), values_of(given)));
    }
    const auto aligned = [](const void* data) { return reinterpret_cast<std::uintptr_t>(data) % 16 == 0; };
    if (!aligned(in) || !aligned(out))
      throw Error(ExitCode::usage, "arrays of a Fourier transform must begin at multiples of 16 bytes");
    if (in == out && in != nullptr && !may_be_in_place)
      throw Error(ExitCode::usage, "only Fourier transforms of complex values in the contiguous layout run in place");
  }

  template <class Value>
  void forward(const Value* in, Complex* out) {
    require(type_of<Value>, in, out);
    const std::array<Complex*, 2> array = arrays(out);
    auto& [x, y, z] = steps;
    Complex* modes = nullptr;
    if (pieces.empty()) {
      modes = advance(x.forward, in, array[x.result], x.to_next, array[x.array]);
      modes = advance(y.forward, modes, array[y.result], y.to_next, array[y.array]);
    } else {
      modes = forward_in_pieces(in, out);
    }
    transform(z.forward, modes, out);
  }

  template <class Value>
  void backward(Complex* in, Value* out) {
    require(type_of<Value>, in, out);
    if (!pieces.empty()) {
      backward_in_pieces(in, out);
      return;
    }
    const std::array<Complex*, 2> array = arrays(in);
    auto& [x, y, z] = steps;
    Complex* modes = advance(z.backward, in, array[y.array], y.from_next, array[y.result]);
    modes = advance(y.backward, modes, array[x.array], x.from_next, array[x.result]);
    transform(x.backward, modes, out);
  }

  /// Of the buffers that this step needs for sending or receiving.
  static std::size_t buffer_bytes(const Step& step, bool sending) {
    if (!step.to_next) return 0;
    return std::max(step.to_next->buffer_bytes(sending), step.from_next->buffer_bytes(sending));
  }

  std::size_t bytes() const {
    const auto& [x, y, z] = steps;
    std::size_t total = work.bytes() + of_library.bytes();
    for (const bool sending : {true, false}) {
      const std::size_t first = buffer_bytes(x, sending);
      const std::size_t second = buffer_bytes(y, sending);
      total += x.exchange == y.exchange ? std::max(first, second) : first + second;
    }
    return total;
  }

  /// Of every transform and redistribution.
  std::vector<PhaseTimers*> timers() {
    std::vector<PhaseTimers*> list;
    for (Step& step : steps) {
      for (TimedTransform* timed : {&step.forward, &step.backward}) list.push_back(&timed->timers);
      for (std::optional<Redistribution>* redistribution : {&step.to_next, &step.from_next}) {
        if (!*redistribution) continue;
        for (PhaseTimers* of_side : (*redistribution)->timers()) list.push_back(of_side);
      }
    }
    return list;
  }

  std::vector<Part> parts() {
    std::vector<Part> list;
    const auto add_transform = [&list](const char* direction, std::size_t axis, PhaseTimers& of_transform) {
      double seconds = 0;
      for (const PhaseTimers::Total& total : of_transform.phases()) seconds += total.seconds;
      list.push_back({fmt::format("{} fft {}", direction, axis_names[axis]), TimedPhase::fft, seconds});
    };
    const auto add_redistribution = [&list](const char* direction, std::size_t from, std::size_t to,
                                            Redistribution& redistribution) {
      const auto add = [&](const char* what, TimedPhase phase, double seconds) {
        list.push_back(
            {fmt::format("{} {} {} to {}", direction, what, axis_names[from], axis_names[to]), phase, seconds});
      };
      const Redistribution::Times times = redistribution.times();
      add("packing", TimedPhase::packing, times.packing);
      add("communication", TimedPhase::communication, times.communication);
      add("unpacking", TimedPhase::packing, times.unpacking);
    };
    for (std::size_t n = 0; n < 3; ++n) {
      add_transform("forward", n, steps[n].forward.timers);
      if (steps[n].to_next) add_redistribution("forward", n, n + 1, *steps[n].to_next);
    }
    for (std::size_t n = 3; n-- > 0;) {
      if (steps[n].from_next) add_redistribution("backward", n + 1, n, *steps[n].from_next);
      add_transform("backward", n, steps[n].backward.timers);
    }
    return list;
  }

  FftFields fields;
  bool may_be_in_place = false;  ///< rows keep their length, and no transform changes the order of memory
  std::array<Step, 3> steps;
  std::vector<PlaneRange> pieces;  ///< of the planes; empty if transforms and exchange do not overlap
  Buffer<Complex> work;
  FftWork of_library;  ///< of all six transforms
  Box3 values, coefficients;
  std::size_t elements = 0;  ///< of all fields, in the rank's largest part between the steps
};

DistributedFft::DistributedFft(MPI_Comm world, std::array<std::int64_t, 3> cells, FftDecomposition decomposition,
                               FftLayout layout, ProcessGrid processes, const ExchangeSet& exchanges,
                               FftFields fields) {
  require_cells(cells, fields);
  comm_ = std::make_unique<Communicator>(world, processes_of(world, decomposition, processes));
  pipeline_ = std::make_unique<Pipeline>(cells, decomposition, layout, *comm_, exchanges, fields);
}

DistributedFft::~DistributedFft() = default;

const Box3& DistributedFft::real_box() const {
  return pipeline_->values;
}

const Box3& DistributedFft::complex_box() const {
  return pipeline_->coefficients;
}

std::size_t DistributedFft::real_distance() const {
  return static_cast<std::size_t>(distance_of(pipeline_->fields, pipeline_->values));
}

std::size_t DistributedFft::real_elements() const {
  return static_cast<std::size_t>(pipeline_->fields.count) * real_distance();
}

std::size_t DistributedFft::complex_elements() const {
  return pipeline_->elements;
}

void DistributedFft::forward(const real* in, Complex* out) {
  pipeline_->forward(in, out);
}

void DistributedFft::forward(const Complex* in, Complex* out) {
  pipeline_->forward(in, out);
}

void DistributedFft::backward(Complex* in, real* out) {
  pipeline_->backward(in, out);
}

void DistributedFft::backward(Complex* in, Complex* out) {
  pipeline_->backward(in, out);
}

std::vector<DistributedFft::Part> DistributedFft::parts() {
  return pipeline_->parts();
}

void DistributedFft::enable_timers() {
  for (PhaseTimers* timers : pipeline_->timers()) timers->enable();
}

void DistributedFft::reset_timers() {
  for (PhaseTimers* timers : pipeline_->timers()) timers->reset();
}

std::size_t DistributedFft::bytes() const {
  return pipeline_->bytes();
}

}  // namespace sluice
