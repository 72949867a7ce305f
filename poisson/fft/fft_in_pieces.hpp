#pragma once
#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include "poisson/fft/batched_fft.hpp"
#include "poisson/fft/plane_range.hpp"

namespace sluice {

/// A batch of transforms in pieces of the planes of an array.
class FftInPieces {
 public:
  FftInPieces() = default;  ///< transforms nothing
  /// `batch`: its second loop is over the planes. Throws as BatchedFft does.
  FftInPieces(FftKind kind, FftBatch batch, const std::vector<PlaneRange>& pieces, const FftWork& work)
      : planes_(batch.loops[1]) {
    for (const PlaneRange& piece : pieces) {
      if (find(piece) != plans_.end()) continue;
      batch.loops[1].count = piece.count();
      plans_.push_back({piece.count(), BatchedFft(kind, batch, work)});
    }
  }
  /// All of them in one piece, `whole`.
  FftInPieces(FftKind kind, const FftBatch& batch, const FftWork& work) : planes_(batch.loops[1]) {
    plans_.push_back({whole.count(), BatchedFft(kind, batch, work)});
  }

  /// Transforms a piece of whole arrays. `elsewhere`: between complex values.
  template <class In, class Out>
  void run(const PlaneRange& piece, In* in, Out* out) {
    find(piece)->transforms.run(in + piece.first * planes_.distance_in, out + piece.first * planes_.distance_out);
  }
  void run(const PlaneRange& piece, const std::complex<real>* in, std::complex<real>* out,
           const RowsElsewhere& elsewhere) {
    find(piece)->transforms.run(in + piece.first * planes_.distance_in, out + piece.first * planes_.distance_out,
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

  FftLoop planes_;
  std::vector<Plan> plans_;  ///< one for each number of planes
};

}  // namespace sluice
