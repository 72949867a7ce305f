#pragma once
#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include "core/support/error.hpp"
#include "poisson/fft/batched_fft.hpp"
#include "poisson/fft/common.hpp"

namespace sluice {

/// A batch of transforms, whole or in pieces of the planes of an array.
class FftInPieces {
 public:
  FftInPieces() = default;  ///< transforms nothing
  /// `batch`: its second loop is over the planes. `pieces`: none for the whole batch at once. Throws as BatchedFft
  /// does.
  FftInPieces(FftKind kind, FftBatch batch, const std::vector<PlaneRange>& pieces, const FftWork& work)
      : planes_(batch.loops[1]) {
    if (pieces.empty()) plans_.push_back({planes_.count, BatchedFft(kind, batch, work)});
    for (const PlaneRange& piece : pieces) {
      if (find(piece) != plans_.end()) continue;
      batch.loops[1].count = piece.count();
      plans_.push_back({piece.count(), BatchedFft(kind, batch, work)});
    }
  }

  /// The whole batch, if it was not made for pieces.
  template <class In, class Out>
  void run(In* in, Out* out) {
    plans_.front().transforms.run(in, out);
  }
  /// One of the pieces, of whole arrays. `elsewhere`: between complex values.
  template <class In, class Out>
  void run(const PlaneRange& piece, In* in, Out* out) {
    transforms_of(piece).run(in + piece.first * planes_.distance_in, out + piece.first * planes_.distance_out);
  }
  void run(const PlaneRange& piece, const std::complex<real>* in, std::complex<real>* out,
           const RowsElsewhere& elsewhere) {
    transforms_of(piece).run(in + piece.first * planes_.distance_in, out + piece.first * planes_.distance_out,
                             elsewhere.part_of(0, piece.first));
  }
  bool takes_rows_elsewhere() const {
    return std::ranges::all_of(plans_, [](const Plan& plan) { return plan.transforms.takes_rows_elsewhere(); });
  }

 private:
  struct Plan {
    std::int64_t planes;
    BatchedFft transforms;
  };

  std::vector<Plan>::iterator find(const PlaneRange& piece) {
    return std::ranges::find(plans_, piece.count(), &Plan::planes);
  }
  BatchedFft& transforms_of(const PlaneRange& piece) {
    const auto plan = find(piece);
    SLUICE_REQUIRE(plan != plans_.end(), "no transforms of a piece of this size");
    return plan->transforms;
  }

  FftLoop planes_;
  std::vector<Plan> plans_;  ///< one for each number of planes
};

}  // namespace sluice
