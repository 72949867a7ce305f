// The momentum sweep on a GPU. One thread per cell would keep too few loads in flight to use the memory
// bandwidth. So a thread block owns a column of cells and marches up in z: asynchronous copies, or the registers of
// GPUs that have none, prefetch the next planes into shared memory while one plane is computed, and each value of u, v,
// w and p is loaded from memory once. Where the last substep left its correction, these are u* and phi, and plane k + 2
// is corrected in shared memory while plane k is computed.
#include <algorithm>
#include <limits>

#include "core/device/check_cuda.hpp"
#include "core/device/copy_ahead.hpp"
#include "core/device/parallel_for.hpp"
#include "core/device/together.hpp"
#include "solver/momentum/advective_rate.hpp"
#include "solver/momentum/march_tiles.hpp"
#include "solver/momentum/momentum_sweep.hpp"

namespace sluice {

namespace {

using namespace march;

/// The fields around a cell.
template <int row>
struct Surroundings {
  Window<row> u, v, w, p;
};

/// Computes R and u* of one cell, and p where the sweep updates it. old: its old tendencies; at: its offset in all
/// arrays.
template <class Kind, int row>
__device__ void update_cell(const MomentumArrays& a, const Surroundings<row>& near, const PlaneMetrics& m,
                            const real (&old)[3], std::ptrdiff_t at) {
  constexpr Order order = Kind::order;
  const auto& [u, v, w, p] = near;
  const auto here = inner_cell<op::CellFor<order>>(0, 0, 0);
  const auto of_u = op::transports_of<order, Location::x_face>(u, v, here, m);
  const auto of_v = op::transports_of<order, Location::y_face>(u, v, here, m);
  const auto of_w = op::transports_of<order, Location::z_face>(u, v, here, m);
  const Prediction results[] = {predict<Kind, Location::x_face>(a, of_u, u, w, p, here, m, old[0]),
                                predict<Kind, Location::y_face>(a, of_v, v, w, p, here, m, old[1]),
                                predict<Kind, Location::z_face>(a, of_w, w, w, p, here, m, old[2])};
  if (Kind::implicit_z && a.velocity.left().with_pressure) a.updated_p.origin[at] = p(0, 0, 0);
  SLUICE_UNROLL
  for (int n = 0; n < 3; ++n) {
    if (a.keeps_tendency) a.tendency[n].origin[at] = results[n].tendency;
    a.star[n].origin[at] = results[n].star;
  }
}

template <Order order, int row>
__device__ cuda::Word rate_bits(const Surroundings<row>& near, const PlaneMetrics& m) {
  return cuda::ordered_bits(advective_rate<order>(near.u(0, 0, 0), near.v(0, 0, 0), near.w(0, 0, 0), 0, m));
}

/// largest_rate: null, or the bits of the largest advective rate, as MaxOfCells finds them. Flows that may leave
/// corrections always run this one kernel, with or without a correction to apply, so that their bits do not depend on
/// which step left one.
template <class Kind, class TileOf>
struct MarchInZ {
  static constexpr cuda::Bounds bounds{TileOf::threads, TileOf::chosen.resident};
  static constexpr std::size_t shared_bytes = SharedLayout<TileOf, Kind::implicit_z>::bytes;

  MomentumArrays a;
  int nx, ny, nz, planes_in_column;
  cuda::Word* largest_rate;

  __device__ void operator()(const uint3& block) const {
    extern __shared__ __align__(piece_bytes) unsigned char memory[];
    real* tiles = reinterpret_cast<real*>(memory);
    constexpr Order order = Kind::order;
    constexpr bool first = Kind::first;
    constexpr bool implicit_z = Kind::implicit_z;
    using Layout = SharedLayout<TileOf, implicit_z>;
    real* const u = tiles;
    real* const v = tiles + Layout::v;
    real* const w = tiles + Layout::w;
    real* const p = tiles + Layout::p;
    real* const phi = tiles + Layout::phi;

    const int x0 = static_cast<int>(block.x) * TileOf::nx;
    const int y0 = static_cast<int>(block.y) * TileOf::ny;
    const int begin = static_cast<int>(block.z) * planes_in_column;
    const int end = min(begin + planes_in_column, nz);
    const int i = x0 + static_cast<int>(threadIdx.x);
    const int j = y0 + static_cast<int>(threadIdx.y);
    const bool inside = i < nx && j < ny;
    const int thread = static_cast<int>(threadIdx.y) * TileOf::nx + static_cast<int>(threadIdx.x);
    const View3<const real>& stored_u = a.velocity.stored_u();
    const bool correcting = a.velocity.any();
    const Copier<TileOf> copier(stored_u, thread, x0, y0, nx, ny);
    const PhiCopier<TileOf> phi_copier(a.velocity, thread, x0, y0, nx);
    const TileCorrector<order, TileOf, implicit_z> corrector(a.velocity.left(), thread, y0);
    const ColumnMetrics<TileOf::threads> column(a, begin, end - begin, nz, thread, tiles + Layout::metrics);

    // Planes k - 1 to k + 3 of the velocity. The loop begins with k = begin - 1, a plane that it does not compute.
    Places<TileOf, velocity_slots> at_velocity(1);
    const auto p_place = [](int k) { return place<pressure_slots, TileOf::size_of_p>(k); };
    const auto phi_place = [](int k) { return place<phi_slots, PhiTile<TileOf>::size>(k); };
    // Calls do_piece(n, from, to) for the pieces of plane k that this thread copies.
    const auto for_pieces = [&](int k, int to, const auto& do_piece) {
      SLUICE_UNROLL
      for (int n = 0; n < copier.count; ++n) {
        if (!copier.velocity[n]) continue;
        const auto one = [&](int of, const View3<const real>& f, real* tile) {
          do_piece(4 * n + of, copier.source(n, f, k), copier.target(n, tile));
        };
        one(0, stored_u, u + to);
        one(1, a.velocity.stored_v(), v + to);
        one(2, a.velocity.stored_w(), w + to);
        if (implicit_z && copier.pressure[n]) one(3, a.p, p + p_place(k) - TileOf::before_p);
      }
    };
    const auto for_pairs = [&](int k, const auto& do_pair) {
      phi_copier.for_pairs(k, phi + phi_place(k), thread, do_pair);
    };
    const auto bring = [&](int k, int to) {
      for_pieces(k, to, [](int, const real* from, real* tile) { copy_ahead<piece_bytes>(tile, from); });
    };
    const auto bring_phi = [&](int k) {
      for_pairs(k, [](int, const real* from, real* tile) { copy_ahead<sizeof(Pair)>(tile, from); });
    };
    // What a thread has of the next planes and of its next cell, where copies are not asynchronous.
    TakenAhead<Piece, 4 * Copier<TileOf>::count> next;
    TakenAhead<Pair, PhiCopier<TileOf>::count> next_phi;
    real next_old[3] = {};
    const auto take_phi = [&](int k) { for_pairs(k, [&](int n, const real* from, real*) { next_phi.take(n, from); }); };
    const auto correct = [&](int k, int at) {
      corrector.correct(a.velocity.left(), column, a.m, k, thread, {u + at, v + at, w + at, p + p_place(k)}, phi);
    };
    for (int n = 1; n <= 3; ++n) bring(begin + n - 2, at_velocity.of[n]);
    if (correcting) {
      for (int k = begin - 2; k < begin - 2 + phi_slots; ++k) bring_phi(k);
    }
    wait_for_copies();
    __syncthreads();
    if (correcting) {
      correct(begin - 1, at_velocity.of[1]);
      if constexpr (copies_are_asynchronous) {
        correct(begin, at_velocity.of[2]);
        __syncthreads();
        bring_phi(begin + 2);
      } else {
        __syncthreads();
        bring_phi(begin + 1);
        __syncthreads();
        correct(begin, at_velocity.of[2]);
        take_phi(begin + 2);
      }
    }
    end_group_of_copies();

    const int cell = (static_cast<int>(threadIdx.y) + TileOf::halo) * TileOf::row + static_cast<int>(threadIdx.x) +
                     TileOf::halo_pieces * piece;
    std::ptrdiff_t at = i + j * stored_u.stride_y + begin * stored_u.stride_z;
    real* const old = tiles + Layout::old + thread;
    const auto bring_old = [&] {
      SLUICE_UNROLL
      for (int n = 0; n < 3; ++n) {
        if constexpr (copies_are_asynchronous) {
          copy_ahead<sizeof(real)>(old + n * TileOf::threads, a.star[n].origin + at);
        } else {
          next_old[n] = a.star[n].origin[at];
        }
      }
    };
    if (!first && inside) bring_old();
    end_group_of_copies();

    cuda::Word largest = 0;
    for (int k = begin - 1; k < end; ++k, at_velocity.march()) {
      wait_for_earlier_groups();  // plane k + 2; the old tendencies may still be on their way
      __syncthreads();
      if constexpr (copies_are_asynchronous) {
        if (k + 3 <= end) {
          bring(k + 3, at_velocity.of[4]);
          if (correcting) bring_phi(k + 4);
        }
      } else {
        if (k + 2 <= end) {
          if (k >= begin) {
            for_pieces(k + 2, at_velocity.of[3], [&](int n, const real*, real* tile) { next.put(n, tile); });
          }
          if (correcting) for_pairs(k + 3, [&](int n, const real*, real* tile) { next_phi.put(n, tile); });
        }
        __syncthreads();
        if (k + 3 <= end) {
          for_pieces(k + 3, 0, [&](int n, const real* from, real*) { next.take(n, from); });
          if (correcting) take_phi(k + 4);
        }
      }
      end_group_of_copies();
      if (correcting && k + 2 <= end) correct(k + 2, at_velocity.of[3]);
      if (inside && k >= begin) {
        const auto around = [&](const real* of) {
          return Window<TileOf::row>{of + at_velocity.of[0] + cell, of + at_velocity.of[1] + cell,
                                     of + at_velocity.of[2] + cell};
        };
        const real* const p_cell = p + cell - TileOf::before_p;
        const Surroundings<TileOf::row> near{
            around(u), around(v), around(w), {nullptr, p_cell + p_place(k), p_cell + p_place(k + 1)}};
        const PlaneMetrics m = column.around(a.m, k);
        wait_for_earlier_groups();  // the old tendencies
        const auto old_of = [&](int n) { return copies_are_asynchronous ? old[n * TileOf::threads] : next_old[n]; };
        if (largest_rate != nullptr) largest = cuda::larger(largest, rate_bits<order>(near, m));
        update_cell<Kind>(a, near, m, {old_of(0), old_of(1), old_of(2)}, at);
        at += stored_u.stride_z;
        if (!first && k + 1 < end) bring_old();
      }
      end_group_of_copies();
    }
    if (largest_rate != nullptr) cuda::keep_largest(largest, largest_rate);
  }
};

template <class TileOf, bool implicit_z>
bool fits() {
  return SharedLayout<TileOf, implicit_z>::bytes <= device::multiprocessors().max_shared_bytes_of_block;
}

/// The columns of cells that thread blocks march through.
template <class TileOf>
struct Columns {
  int x, y;     ///< how many
  int planes;   ///< of each
  double busy;  ///< share of the threads in a plane that have a cell

  explicit Columns(const Box3& box)
      : x((box.nx() + TileOf::nx - 1) / TileOf::nx), y((box.ny() + TileOf::ny - 1) / TileOf::ny) {
    using namespace tuning::march;
    const auto cells = static_cast<long long>(x) * y * box.nz();
    const auto tasks = static_cast<long long>(device::tasks_together());
    planes = static_cast<int>(std::clamp(tasks > 1 ? cells * tasks / blocks_wanted_together : cells / blocks_wanted,
                                         static_cast<long long>(min_planes), static_cast<long long>(max_planes)));
    if (tasks > 1) {  // of equal length
      const int columns = (box.nz() + planes - 1) / planes;
      planes = (box.nz() + columns - 1) / columns;
    }
    busy = static_cast<double>(box.nx()) * box.ny() / (static_cast<double>(x) * y * TileOf::threads);
  }
};

/// Whether large tiles are faster for this sweep, on GPUs that have the shared memory.
template <class Kind>
inline constexpr bool may_be_large = (Kind::order == Order::fourth) && Kind::implicit_z &&
                                     (sizeof(real) == sizeof(double));

template <class Kind>
bool takes_large_tiles(const Box3& box, SweepTiles tiles) {
  const Columns<Tile<Kind::order, true>> large(box);
  const Columns<Tile<Kind::order, false>> small(box);
  const bool faster =
      large.planes >= tuning::march::min_planes_of_large && large.busy >= small.busy - tuning::march::most_idle;
  return fits<Tile<Kind::order, true>, Kind::implicit_z>() &&
         (tiles == SweepTiles::fastest ? faster : tiles == SweepTiles::large);
}

/// Pieces must be aligned and not straddle the period; one offset must serve all arrays; tiles must fit.
template <Order order>
bool suits_march(const MomentumArrays& a, const Box3& box, bool implicit_z) {
  const View3<const real>& u = a.velocity.stored_u();
  if (box.nx() < Tile<order, false>::left || box.nx() % piece != 0 || u.stride_y % piece != 0 ||
      u.stride_z > std::numeric_limits<int>::max()) {
    return false;
  }
  if (!(implicit_z ? fits<Tile<order, false>, true>() : fits<Tile<order, false>, false>())) return false;
  const auto alike = [&](const auto& f) { return f.stride_y == u.stride_y && f.stride_z == u.stride_z; };
  return alike(a.velocity.stored_v()) && alike(a.velocity.stored_w()) && (!implicit_z || alike(a.p)) &&
         (a.updated_p.origin == nullptr || alike(a.updated_p)) && std::ranges::all_of(a.tendency, alike) &&
         std::ranges::all_of(a.star, alike);
}

template <class Kind, class TileOf>
void launch_march(const MomentumArrays& arrays, const Box3& box, cuda::Word* largest_rate) {
  const Columns<TileOf> columns(box);
  const dim3 blocks(static_cast<unsigned>(columns.x), static_cast<unsigned>(columns.y),
                    static_cast<unsigned>((box.nz() + columns.planes - 1) / columns.planes));
  using Kernel = MarchInZ<Kind, TileOf>;
  cuda::launch("momentum", {blocks, dim3(TileOf::nx, TileOf::ny), Kernel::shared_bytes},
               Kernel{arrays, box.nx(), box.ny(), box.nz(), columns.planes, largest_rate});
}

}  // namespace

void sweep_momentum(const MomentumArrays& arrays, const Box3& box, const SweepForm& form, const RowTasks& tasks,
                    Deferred<double>* largest_rate) {
  SLUICE_REQUIRE(tasks.empty(), "a GPU has no rows in cache");
  SLUICE_REQUIRE(!arrays.velocity.left().with_pressure || arrays.updated_p.origin != nullptr, "p needs a second array");
  with_constants(form, [&](auto kind) {
    using Kind = decltype(kind);
    if (!box.empty() && suits_march<Kind::order>(arrays, box, form.implicit_z)) {
      cuda::Word* const largest = largest_rate != nullptr ? cuda::result_scratch(1) : nullptr;
      bool large = false;
      if constexpr (may_be_large<Kind>) {
        large = takes_large_tiles<Kind>(box, form.tiles);
        if (large) launch_march<Kind, Tile<Kind::order, true>>(arrays, box, largest);
      }
      if (!large) launch_march<Kind, Tile<Kind::order, false>>(arrays, box, largest);
      if (largest_rate != nullptr) largest_rate->fetch(largest);
      return;
    }
    // Only a sweep that marches corrects the velocity.
    const CorrectedVelocity velocity = arrays.velocity.corrected();
    parallel_for("momentum", box, UpdateVelocity<Kind>{arrays, velocity});
    if (largest_rate == nullptr) return;
    reduce_max("advective rate", box, AdvectiveRate<Kind::order>{velocity.u, velocity.v, velocity.w, arrays.m},
               *largest_rate);
  });
}

bool can_correct(const MomentumArrays& arrays, const View3<const real>& phi, const Box3& box, const SweepForm& form) {
  if (box.empty() || phi.stride_y % 2 != 0 || reinterpret_cast<std::uintptr_t>(phi.origin) % sizeof(Pair) != 0) {
    return false;
  }
  return form.order == Order::fourth ? suits_march<Order::fourth>(arrays, box, form.implicit_z)
                                     : suits_march<Order::second>(arrays, box, form.implicit_z);
}

}  // namespace sluice
