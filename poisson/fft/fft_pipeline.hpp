#pragma once
// The steps of a distributed transform: one class for each sequence of transforms and redistributions, contiguous in
// fft_contiguous.cpp, realigned in fft_realigned.cpp.
#include <complex>
#include <initializer_list>
#include <memory>
#include <vector>

#include "core/decomp/communicator.hpp"
#include "core/device/buffer.hpp"
#include "poisson/fft/axis_fft.hpp"
#include "poisson/fft/distributed_fft.hpp"
#include "poisson/fft/fft_splitting.hpp"
#include "poisson/fft/redistribution.hpp"

namespace sluice {

using FftStage = Box3 (FftSplitting::*)(int) const;  ///< what a rank owns

/// Short names for the steps.
namespace fft_steps {

using Complex = std::complex<real>;
using Loops = Redistribution::Loops;

inline constexpr FftStage rows = &FftSplitting::rows;
inline constexpr FftStage columns = &FftSplitting::columns;
inline constexpr FftStage lines = &FftSplitting::lines;
inline constexpr FftStage sheets = &FftSplitting::sheets;

}  // namespace fft_steps

/// The ranks of a pipeline, and how these exchange data.
struct FftPlace {
  const Communicator& comm;
  const FftSplitting& splitting;
  Exchange& exchange;
  PhaseTimers& timers;

  Box3 own(FftStage stage) const { return (splitting.*stage)(comm.rank()); }
  /// The box of any rank, in memory order.
  auto boxes_of(FftStage stage, const AxisOrder& order) const {
    return [this, stage, order](int rank) { return in_memory((splitting.*stage)(rank), order); };
  }
  /// Within the py ranks that share planes.
  Redistribution within_planes(FftStage from, FftStage to, const AxisOrder& order, Redistribution::Loops loops) const;
  /// Within the pz ranks, one for each range of planes.
  Redistribution across_planes(FftStage from, FftStage to, const AxisOrder& order, Redistribution::Loops loops) const;
};

class FftPipeline {
 public:
  virtual ~FftPipeline() = default;
  virtual void forward(const real* in, std::complex<real>* out) = 0;
  virtual void backward(std::complex<real>* in, real* out) = 0;

  const Box3& values() const { return values_; }
  const Box3& coefficients() const { return coefficients_; }
  std::size_t room() const { return room_; }  ///< elements of the largest part between the steps
  std::size_t bytes() const;

 protected:
  /// `stages`: what the rank owns between the steps; the last one, what it owns afterwards.
  FftPipeline(const FftPlace& place, std::initializer_list<FftStage> stages);

  virtual std::vector<const Redistribution*> redistributions() const = 0;

  AxisFft x_, y_, z_;
  Buffer<std::complex<real>> work_;

 private:
  Box3 values_, coefficients_;
  std::size_t room_ = 0;
};

std::unique_ptr<FftPipeline> make_contiguous(FftDecomposition decomposition, const FftPlace& place);
std::unique_ptr<FftPipeline> make_realigned(FftDecomposition decomposition, const FftPlace& place);

}  // namespace sluice
