#pragma once
#include <mpi.h>

#include <array>
#include <complex>
#include <cstdint>
#include <memory>

#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/device/timers.hpp"
#include "core/support/box3.hpp"
#include "core/support/real.hpp"

namespace sluice {

class Communicator;
class FftPipeline;

/// How the array is split over P ranks before and after, and where between the transforms its parts travel:
/// - slab_2d_1d: z split, transforms along x and y, once through the network, along z; ky split;
/// - slab_1d_2d: z split, along x, once through the network, along y and z; kx split;
/// - pencil: y split over py ranks and z over pz, along x, through the network within the py ranks that share planes,
///   along y, again within the pz ranks that share wavenumbers in x, along z; kx split over py and ky over pz.
/// Egger (2021), sections 4.2 to 4.4, whose z, y and x are our x, y and z.
enum class FftDecomposition { slab_2d_1d, slab_1d_2d, pencil };

/// What the array between the transforms looks like:
/// - contiguous ("default" there): x is the fastest axis throughout; blocks for other ranks are packed;
/// - realigned: a transform before blocks travel writes its result with the next axis fastest, so that the blocks lie
///   one after another and leave without packing; the ones that come in are unpacked, and the last transform, or the
///   one after the only exchange, brings x back. Backward all of that is mirrored: unpacking becomes packing.
enum class FftLayout { contiguous, realigned };

/// The three-dimensional Fourier transform of a real array that is split over ranks: for kx = 0 ... nx / 2,
///
///   c(kx, ky, kz) = sum of f(x, y, z) exp(-2 pi i (kx x / nx + ky y / ny + kz z / nz)),   x = 0 ... nx - 1 etc.,
///
/// and back. Unscaled: backward(forward(f)) = nx ny nz f. Any size on any number of ranks: remainders make parts differ
/// by one, and ranks beyond the number of planes own nothing.
///
/// Memory beside the caller's real and complex array, in words (real numbers for each grid point; a complex array is
/// 1 + 2 / nx of them): contiguous 2, which are the buffers of the exchange, to send from and to receive in; realigned
/// 3, with one work array. With an exchange that writes into the receiver's memory, 1 and 2. On one rank, 0 and 1.
class DistributedFft {
 public:
  /// `cells`: nx, ny, nz. `processes`: py x pz ranks, for pencils; slabs do not look at it. Throws Error(usage) when
  /// they do not make up the ranks of `world` or when there are no cells, Error(resources) when memory does not
  /// suffice, on all ranks. `exchange`, made for `world`, must outlive this object. Collective.
  DistributedFft(MPI_Comm world, std::array<std::int64_t, 3> cells, FftDecomposition decomposition, FftLayout layout,
                 ProcessGrid processes, Exchange& exchange);
  ~DistributedFft();
  DistributedFft(const DistributedFft&) = delete;
  DistributedFft& operator=(const DistributedFft&) = delete;

  /// The rank's values in space, in indices of the grid. Contiguous, x fastest, then y, then z.
  const Box3& real_box() const;
  /// The rank's coefficients, kx = 0 ... nx / 2. Contiguous, x fastest, then y, then z, in both layouts.
  const Box3& complex_box() const;
  /// Elements for which complex arrays given to this object must have room: at least those of complex_box(), and more
  /// where the parts of earlier steps are larger. What lies behind complex_box() is scratch memory.
  std::size_t complex_elements() const;

  /// `in`: real_box(), not changed. `out`: complex_elements(), of which complex_box() are the result. Device memory
  /// that begins at multiples of 16 bytes. On return the work has been issued. Collective.
  void forward(const real* in, std::complex<real>* out);
  /// The inverse but for the factor nx ny nz. `in`: complex_elements(), destroyed; its complex_box() are coefficients
  /// of a real function, else what comes out depends on the library. `out`: real_box(). Collective.
  void backward(std::complex<real>* in, real* out);

  /// Memory allocated for this object, in bytes: its work array, the library's as far as that tells, and the
  /// buffers of the exchange, which other users of it share.
  std::size_t bytes() const;

  /// Time of "fft", "packing" (the rank's own block and unpacking included) and "communication". GPU builds measure it
  /// after enable().
  PhaseTimers& timers() { return timers_; }

 private:
  PhaseTimers timers_;
  std::unique_ptr<Communicator> comm_;
  std::unique_ptr<FftPipeline> pipeline_;
};

}  // namespace sluice
