#pragma once
#include <mpi.h>

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/decomp/decomposition.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/support/box3.hpp"
#include "core/support/phases.hpp"
#include "core/support/real.hpp"

namespace sluice {

class Communicator;

/// How the array is split over P ranks before and after, and between which transforms it is exchanged:
/// - slab_2d_1d: z split; transforms along x and y, one exchange, along z; ky split afterwards.
/// - slab_1d_2d: z split; transform along x, one exchange, along y and z; kx split afterwards.
/// - pencil: y split over py ranks, z over pz; transform along x, exchange within the py ranks that share planes, along
///   y, exchange within the pz ranks that share wavenumbers in x, along z; kx split over py and ky over pz afterwards.
/// Egger (2021), sections 4.2 to 4.4, whose z, y and x are our x, y and z.
enum class FftDecomposition { slab_2d_1d, slab_1d_2d, pencil };

/// The memory layout of the array between the transforms:
/// - contiguous ("default" in Egger): x is the fastest axis throughout; methods that send blocks pack them.
/// - realigned: a transform before an exchange writes its result with the next axis fastest, so that the blocks are
///   consecutive and need no packing. Received blocks are unpacked, and the last transform, or the one after the only
///   exchange, makes x the fastest axis again. Backward is the mirror image: unpacking becomes packing.
enum class FftLayout { contiguous, realigned };

/// From real values in space, or from complex ones; each with its inverse.
enum class FftType { real_to_complex, complex_to_complex };

/// The fields that are transformed together: `count` of the same type, one after another in each array.
struct FftFields {
  FftType type = FftType::real_to_complex;
  int count = 1;
};

/// The three-dimensional Fourier transform of real or complex fields that are split over ranks,
///
///   c(kx, ky, kz) = sum of f(x, y, z) exp(-2 pi i (kx x / nx + ky y / ny + kz z / nz)),   x = 0 ... nx - 1 etc.,
///
/// and its inverse; kx = 0 ... nx - 1, of real fields 0 ... nx / 2, because the others are conjugates of these.
/// Unscaled: backward(forward(f)) = nx ny nz f. Any size on any number of ranks: parts differ by at most one, and ranks
/// beyond the number of planes own nothing. No array has halos or padding between its rows.
///
/// Several fields share each exchange: one message for each pair of ranks, if the method packs. Methods that send
/// without packing send field by field.
///
/// Memory besides the caller's arrays, in words (real numbers per grid point; a complex array of a real field has 1 + 2
/// / nx) for each field, twice as many if its values are complex. Contiguous needs 2, for the send and receive buffers
/// of the exchange; realigned needs 3, because it has a work array, too. With an exchange that accesses other ranks'
/// memory, they need 1 and 2; with an exchange that sends without packing, 1 each, for a work array; on one rank, 0 and
/// 1. cuFFT adds work memory for lengths without a kernel, one area for all transforms. The two exchanges of pencils
/// share the buffers only if they are the same Exchange.
class DistributedFft {
 public:
  /// `cells`: nx, ny, nz. `processes`: py x pz ranks, for pencils; slabs ignore it. Throws on all ranks: Error(usage)
  /// if these are not the ranks of `world` or there are no cells or fields, Error(resources) if memory is short.
  /// `exchanges`: one Exchange, or an ExchangeSet. Of a set, pencils use `rows` for their first exchange and `columns`
  /// for the second; slabs use `columns`. All must be made for `world` and outlive this object. Collective.
  DistributedFft(MPI_Comm world, std::array<std::int64_t, 3> cells, FftDecomposition decomposition, FftLayout layout,
                 ProcessGrid processes, const ExchangeSet& exchanges, FftFields fields = {});
  ~DistributedFft();
  DistributedFft(const DistributedFft&) = delete;
  DistributedFft& operator=(const DistributedFft&) = delete;

  /// The rank's part of real space, in global indices: the values of a field, real or complex. Contiguous, x fastest,
  /// then y, then z.
  const Box3& real_box() const;
  /// Elements from the beginning of a field in real space to the beginning of the next: real_box().volume(), for
  /// several real fields rounded up to an even number.
  std::size_t real_distance() const;
  /// Elements of an array of all fields in real space.
  std::size_t real_elements() const;
  /// The rank's part of Fourier space: the coefficients of a field. Contiguous, x fastest, then y, then z, in both
  /// layouts; the next field follows after complex_box().volume() elements.
  const Box3& complex_box() const;
  /// Elements that arrays of coefficients must have: at least those of all fields, more if the parts of earlier steps
  /// are larger. The rest behind the last field is scratch memory.
  std::size_t complex_elements() const;

  // Arrays are device memory that begins at multiples of 16 bytes; a rank that owns nothing may pass null pointers. On
  // return the work has been issued. Collective. Throws Error(usage) if this object was made for the other kind of
  // values, or if `in` is `out` where that is not allowed. Each rank compares its own pointers, so work in place
  // on all ranks or on none.

  /// `in`: real_elements(), not changed. `out`: complex_elements(), which begin with the coefficients.
  void forward(const real* in, std::complex<real>* out);
  /// The same for complex values. `in` may be `out`, of complex_elements(), in the contiguous layout.
  void forward(const std::complex<real>* in, std::complex<real>* out);
  /// The inverse, except for the factor nx ny nz. `in`: complex_elements(), destroyed; it must begin with the
  /// coefficients of real functions, otherwise the result depends on the library. `out`: real_elements().
  void backward(std::complex<real>* in, real* out);
  /// The same for complex values, from any coefficients. `in`, destroyed, may be `out` in the contiguous layout.
  void backward(std::complex<real>* in, std::complex<real>* out);

  /// Memory allocated for this object, in bytes: its work array, the work area of cuFFT's plans, which share
  /// one, and the buffers of the exchanges, which other users share.
  std::size_t bytes() const;

  /// The time of one part of the transforms on this rank.
  struct Part {
    std::string name;  ///< such as "forward fft x" or "backward communication z to y"
    TimedPhase phase;  ///< fft, packing (which includes unpacking) or communication
    double seconds;
  };
  /// All parts of a forward transform, then of a backward one, in the order of the data, the same on all ranks: each
  /// transform, and packing, communication and unpacking of each redistribution, some of which take no time. Sums since
  /// reset_timers(), without what overlaps with transforms. What a rank keeps counts as packing or unpacking. Waits for
  /// the device.
  std::vector<Part> parts();
  void enable_timers();  ///< GPU builds measure only afterwards
  void reset_timers();

 private:
  struct Pipeline;

  std::unique_ptr<Communicator> comm_;
  std::unique_ptr<Pipeline> pipeline_;
};

}  // namespace sluice
