#include "poisson/fft/distributed_fft.hpp"

#include <fmt/format.h>

#include "core/decomp/communicator.hpp"
#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "poisson/fft/fft_pipeline.hpp"

namespace sluice {

namespace {

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

void require_cells(const std::array<std::int64_t, 3>& cells) {
  if (cells[0] > 0 && cells[1] > 0 && cells[2] > 0) return;
  throw Error(ExitCode::usage, fmt::format("a Fourier transform of {} x {} x {} cells: every number must be positive",
                                           cells[0], cells[1], cells[2]));
}

}  // namespace

DistributedFft::DistributedFft(MPI_Comm world, std::array<std::int64_t, 3> cells, FftDecomposition decomposition,
                               FftLayout layout, ProcessGrid processes, Exchange& exchange) {
  require_cells(cells);
  comm_ = std::make_unique<Communicator>(world, processes_of(world, decomposition, processes));
  const FftSplitting splitting(cells, comm_->processes());
  const FftPlace place{*comm_, splitting, exchange, timers_};
  pipeline_ =
      layout == FftLayout::contiguous ? make_contiguous(decomposition, place) : make_realigned(decomposition, place);
}

DistributedFft::~DistributedFft() = default;

const Box3& DistributedFft::real_box() const {
  return pipeline_->values();
}

const Box3& DistributedFft::complex_box() const {
  return pipeline_->coefficients();
}

std::size_t DistributedFft::complex_elements() const {
  return pipeline_->room();
}

void DistributedFft::forward(const real* in, std::complex<real>* out) {
  pipeline_->forward(in, out);
}

void DistributedFft::backward(std::complex<real>* in, real* out) {
  pipeline_->backward(in, out);
}

std::size_t DistributedFft::bytes() const {
  return pipeline_->bytes();
}

}  // namespace sluice
