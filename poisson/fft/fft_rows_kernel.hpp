#pragma once
// Fourier transforms along x on an NVIDIA GPU between nx real values and nx / 2 + 1 coefficients, in place, each row
// read and written once. The row is treated as N = nx / 2 complex numbers z_m = x_2m + i x_2m+1. Their transform Z
// gives that of the row, with w = exp(-2 pi i / nx):
//   X_k = E_k + w^k O_k and X_N-k = conj(E_k - w^k O_k), E_k = (Z_k + conj Z_N-k) / 2, O_k = -i (Z_k - conj Z_N-k) / 2,
// where Z_N = Z_0. A thread block takes a few whole rows and transforms them in shared memory in three stages: with N =
// R1 R2 R3, m = (n1 R2 + n2) R3 + n3 and k = k1 + R1 (k2 + R2 k3),
//   (1) over n1, times exp(-2 pi i k1 (n2 R3 + n3) / N),
//   (2) over n2, times exp(-2 pi i k2 n3 / (R2 R3)); skipped if R2 = 1,
//   (3) over n3.
// Each stage writes its results in the place of its input. Backward, Z is formed first; the inverse transform is a
// forward one with real and imaginary parts exchanged before and after.
#include <cstdint>

#include "core/device/launch_cuda.hpp"
#include "core/device/tuning.hpp"
#include "poisson/fft/fft_arguments_cuda.hpp"
#include "poisson/fft/row_stages.hpp"
#include "poisson/fft/small_dft.hpp"

namespace sluice::cuda {

struct RowArray {
  ComplexPair* data;
  std::ptrdiff_t stride;  ///< between rows, in complex numbers
  std::int64_t count;     ///< rows
};

struct RowArguments {
  RowArray array;
  Twiddles twiddles;  ///< exp(-2 pi i n / nx)
};

/// How a row of `Length` real values is transformed. A benchmark may use other stages instead.
template <int Length>
struct ChosenRowStages {
  static constexpr RowStages stages = row_stages_of(Length);
};

SLUICE_INLINE ComplexPair by_half(ComplexPair a) {
  return {static_cast<real>(0.5) * a.re, static_cast<real>(0.5) * a.im};
}

/// A block's rows: `count` of them in memory, from `memory` on, and in shared memory.
struct BlockOfRows {
  ComplexPair* memory;
  std::ptrdiff_t stride;
  ComplexPair* shared;
  int count;
};

using tuning::fft::pairs_at_once;

/// X_k and X_N-k to memory, from Z in the order of (3). `twiddles`: exp(-2 pi i n / nx).
template <class Choice>
__device__ __forceinline__ void write_coefficients(const BlockOfRows& block, Twiddles twiddles) {
  constexpr RowStages s = Choice::stages;
  constexpr int N = s.length();
  constexpr int half = N / 2;
#pragma unroll 1
  for (int first = threadIdx.x; first < block.count * half; first += pairs_at_once * s.threads) {
    ComplexPair at_k[pairs_at_once], mirror[pairs_at_once];
    SLUICE_UNROLL
    for (int p = 0; p < pairs_at_once; ++p) {
      const int pair = first + p * s.threads;
      if (pair >= block.count * half) break;
      const int k = pair % half;
      const ComplexPair* const z = block.shared + pair / half * s.row();
      at_k[p] = z[s.place_after(k)];
      mirror[p] = conjugate(z[k == 0 ? 0 : s.place_after(N - k)]);
    }
    SLUICE_UNROLL
    for (int p = 0; p < pairs_at_once; ++p) {
      const int pair = first + p * s.threads;
      if (pair >= block.count * half) break;
      const int row = pair / half;
      const int k = pair % half;
      ComplexPair* const x = block.memory + row * block.stride;
      const ComplexPair even = by_half(at_k[p] + mirror[p]);
      const ComplexPair odd = twiddles[k] * quarter_turn(by_half(at_k[p] - mirror[p]));
      x[k] = even + odd;
      x[N - k] = conjugate(even - odd);
      if (k == 0) x[half] = conjugate(block.shared[row * s.row() + s.place_after(half)]);
    }
  }
}

/// 2 Z_k and 2 Z_N-k, real and imaginary parts exchanged, in the order of (1), from X_k and X_N-k in memory. Ignores
/// the imaginary parts of X_0 and X_N.
template <class Choice>
__device__ __forceinline__ void read_coefficients(const BlockOfRows& block, Twiddles twiddles) {
  constexpr RowStages s = Choice::stages;
  constexpr int N = s.length();
  constexpr int half = N / 2;
#pragma unroll 1
  for (int first = threadIdx.x; first < block.count * half; first += pairs_at_once * s.threads) {
    ComplexPair at_k[pairs_at_once], mirror[pairs_at_once];
    SLUICE_UNROLL
    for (int p = 0; p < pairs_at_once; ++p) {
      const int pair = first + p * s.threads;
      if (pair >= block.count * half) break;
      const int k = pair % half;
      const ComplexPair* const x = block.memory + pair / half * block.stride;
      at_k[p] = x[k];
      mirror[p] = conjugate(x[N - k]);
    }
    SLUICE_UNROLL
    for (int p = 0; p < pairs_at_once; ++p) {
      const int pair = first + p * s.threads;
      if (pair >= block.count * half) break;
      const int row = pair / half;
      const int k = pair % half;
      ComplexPair* const z = block.shared + row * s.row();
      if (k == 0) {
        at_k[p].im = mirror[p].im = 0;
        const ComplexPair middle = block.memory[row * block.stride + half];
        z[s.place_before(half)] = exchanged(ComplexPair{2 * middle.re, -2 * middle.im});
      }
      const ComplexPair even = at_k[p] + mirror[p];
      const ComplexPair odd = quarter_turn(conjugate(twiddles[k]) * (at_k[p] - mirror[p]));
      z[s.place_before(k)] = exchanged(even - odd);
      if (k > 0) z[s.place_before(N - k)] = exchanged(conjugate(even + odd));
    }
  }
}

/// Reads z from memory or, in the order of (1), from shared memory.
template <class Choice, bool FromShared>
__device__ __forceinline__ void first_stage(const BlockOfRows& block, Twiddles twiddles) {
  constexpr RowStages s = Choice::stages;
  constexpr int tasks = s.R2 * s.R3;
#pragma unroll 1
  for (int task = threadIdx.x; task < block.count * tasks; task += s.threads) {
    const int row = task / tasks;
    const int n = task % tasks;
    ComplexPair* const at = block.shared + row * s.row() + n;
    const ComplexPair* const from = FromShared ? at : block.memory + row * block.stride + n;
    constexpr int step = FromShared ? s.layer() : tasks;
    ComplexPair v[s.R1];
    SLUICE_UNROLL
    for (int m = 0; m < s.R1; ++m) v[m] = from[m * step];
    SmallDft<s.R1>::run(v);
    apply_twiddles<s.R1>(v, twiddles[2 * n]);
    SLUICE_UNROLL
    for (int m = 0; m < s.R1; ++m) at[m * s.layer()] = v[m];
  }
}

template <class Choice>
__device__ __forceinline__ void second_stage(const BlockOfRows& block, Twiddles twiddles) {
  constexpr RowStages s = Choice::stages;
  constexpr int tasks = s.R1 * s.R3;
#pragma unroll 1
  for (int task = threadIdx.x; task < block.count * tasks; task += s.threads) {
    const int k1 = task % tasks % s.R1;
    const int n3 = task % tasks / s.R1;
    ComplexPair* const at = block.shared + task / tasks * s.row() + k1 * s.layer() + n3;
    ComplexPair v[s.R2];
    SLUICE_UNROLL
    for (int m = 0; m < s.R2; ++m) v[m] = at[m * s.R3];
    SmallDft<s.R2>::run(v);
    apply_twiddles<s.R2>(v, twiddles[2 * s.R1 * n3]);
    SLUICE_UNROLL
    for (int m = 0; m < s.R2; ++m) at[m * s.R3] = v[m];
  }
}

/// Writes to shared memory, or with `Backward` to memory, in natural order and with real and imaginary parts exchanged.
template <class Choice, bool Backward>
__device__ __forceinline__ void third_stage(const BlockOfRows& block) {
  constexpr RowStages s = Choice::stages;
  constexpr int tasks = s.R1 * s.R2;
#pragma unroll 1
  for (int task = threadIdx.x; task < block.count * tasks; task += s.threads) {
    const int row = task / tasks;
    const int k = task % tasks;
    ComplexPair* const at = block.shared + row * s.row() + k % s.R1 * s.layer() + k / s.R1 * s.R3;
    ComplexPair v[s.R3];
    SLUICE_UNROLL
    for (int m = 0; m < s.R3; ++m) v[m] = at[m];
    SmallDft<s.R3>::run(v);
    ComplexPair* const to = block.memory + row * block.stride + k;
    SLUICE_UNROLL
    for (int m = 0; m < s.R3; ++m) {
      if constexpr (Backward) {
        to[m * tasks] = exchanged(v[m]);
      } else {
        at[m] = v[m];
      }
    }
  }
}

/// The stages of a block from z in memory, or with `FromShared` in shared memory, to Z, in the order of (3) in shared
/// memory, or with `Backward` in memory.
template <class Choice, bool FromShared, bool Backward>
__device__ __forceinline__ void run_stages(const BlockOfRows& block, Twiddles twiddles) {
  first_stage<Choice, FromShared>(block, twiddles);
  __syncthreads();
  if constexpr (Choice::stages.R2 > 1) {
    second_stage<Choice>(block, twiddles);
    __syncthreads();
  }
  third_stage<Choice, Backward>(block);
}

/// A block writes to memory only after its threads have read its rows.
template <class Choice, bool Backward>
struct TransformRows {
  static constexpr Bounds bounds{Choice::stages.threads, Choice::stages.resident};
  static constexpr bool merges = merges_length(2 * Choice::stages.length());

  RowArguments arguments;

  __device__ void operator()(const uint3& place) const {
    const auto& [array, twiddles] = arguments;
    constexpr RowStages s = Choice::stages;
    extern __shared__ __align__(16) unsigned char shared[];
    const std::int64_t first = std::int64_t{place.x} * s.rows;
    const std::int64_t left = array.count - first;
    const BlockOfRows block{array.data + first * array.stride, array.stride, reinterpret_cast<ComplexPair*>(shared),
                            left < s.rows ? static_cast<int>(left) : s.rows};
    if constexpr (Backward) {
      read_coefficients<Choice>(block, twiddles);
      __syncthreads();
    }
    run_stages<Choice, Backward, Backward>(block, twiddles);
    if constexpr (!Backward) {
      __syncthreads();
      write_coefficients<Choice>(block, twiddles);
    }
  }
};

}  // namespace sluice::cuda
