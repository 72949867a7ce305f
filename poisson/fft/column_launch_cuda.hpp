#pragma once
// The kernels that transform columns, for each length, and how they are launched.
#include <algorithm>
#include <cstddef>

#include "core/device/launch_cuda.hpp"
#include "core/device/traits.hpp"
#include "poisson/fft/fft_columns_kernel.hpp"
#include "poisson/fft/fft_launch_cuda.hpp"
#include "poisson/fft/kernel_lengths.hpp"
#include "poisson/fft/long_columns_kernel.hpp"

namespace sluice::cuda {

template <ColumnUse use>
struct ColumnKernels {
  using Kernel = ChosenKernel<ColumnArguments>;

  template <int Length>
  static constexpr Kernel of() {
    if constexpr (Length <= kernel_lengths::max_short && stages_of(Length).R1 > 0) {
      return Kernel::of<TransformColumns<Length, use>>();
    } else if constexpr (Length > kernel_lengths::max_short && long_stages_of(Length).R1 > 0) {
      return Kernel::of<TransformLongColumns<Length, use>>();
    } else {
      return {};
    }
  }
};

/// The thread blocks that transform columns of one length on this rank's GPU.
struct ColumnBlocks {
  int columns = 0;  ///< of a thread block, or of a cluster of `parts` thread blocks
  int parts = 0;    ///< 0 if the GPU has too little shared memory
  int threads = 0;
  std::size_t shared_bytes = 0;  ///< more than needed, if more thread blocks than planned would fit a multiprocessor

  /// For a length that has kernels.
  static ColumnBlocks of(int length) {
    const device::Multiprocessors& on = device::multiprocessors();
    const auto at_most = [&](int resident, std::size_t bytes) {
      return std::max(bytes, on.shared_bytes / static_cast<std::size_t>(resident + 1));
    };
    if (length <= kernel_lengths::max_short) {
      const ColumnStages s = stages_of(length);
      return {s.columns, 1, s.columns * s.threads, at_most(s.resident, s.shared_bytes())};
    }
    const LongColumnStages s = long_stages_of(length);
    const LongColumnLaunch launch = long_launch_of(s, on, device::max_thread_blocks_together());
    if (launch.parts == 0) return {};
    return {s.columns, launch.parts, s.columns * launch.threads,
            at_most(launch.resident, s.shared_bytes(launch.parts))};
  }
};

/// Transforms of columns of one length.
template <ColumnUse use>
class ColumnTransform {
 public:
  explicit ColumnTransform(int length) : kernel_(kernel_of_length<ColumnKernels<use>>(length)) {
    if (!kernel_) return;
    blocks_ = ColumnBlocks::of(length);
    if (blocks_.parts == 0 || !has_shared(blocks_.shared_bytes) || !holds_clusters()) kernel_ = {};
  }

  /// Whether there is a kernel for the length, for which this rank's GPU has enough shared memory.
  bool exists() const { return static_cast<bool>(kernel_); }
  /// Neighbours that are transformed together.
  int columns() const { return blocks_.columns; }

  /// Of `planes` planes. Sets array.tiles_per_plane. The other arguments are those of the kernel.
  void run(ColumnArray array, int planes, const ComplexPair* twiddles, bool backward, const PowerArrays& sums) const {
    array.tiles_per_plane = (array.per_plane + blocks_.columns - 1) / blocks_.columns;
    Blocks blocks = cluster();
    blocks.grid.x *= static_cast<unsigned>(array.tiles_per_plane) * static_cast<unsigned>(planes);
    kernel_.run("the transform of columns", blocks, {array, {twiddles}, backward, sums});
  }

 private:
  /// One cluster.
  Blocks cluster() const {
    const auto parts = static_cast<unsigned>(blocks_.parts);
    return {dim3(parts), dim3(static_cast<unsigned>(blocks_.threads)), blocks_.shared_bytes, parts};
  }

  /// A part of a GPU may have too few multiprocessors side by side.
  bool holds_clusters() const { return blocks_.parts == 1 || resident_blocks(kernel_.function(), cluster()) > 0; }

  typename ColumnKernels<use>::Kernel kernel_;
  ColumnBlocks blocks_;
};

}  // namespace sluice::cuda
