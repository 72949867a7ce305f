#pragma once
#include <algorithm>
#include <complex>
#include <cstdint>

#include "poisson/fft/batched_fft.hpp"

namespace sluice {

/// Planes of an array, in pieces of `size` planes, but for the last.
struct PlanePieces {
  std::int64_t planes = 0, size = 0;

  /// At least one, which may be empty.
  std::size_t count() const { return planes > size ? static_cast<std::size_t>((planes + size - 1) / size) : 1; }
  std::int64_t first(std::size_t piece) const { return static_cast<std::int64_t>(piece) * size; }
  std::int64_t last(std::size_t piece) const { return std::min(planes, first(piece + 1)); }
};

/// A batch of transforms in pieces of the planes of an array.
class FftInPieces {
 public:
  FftInPieces() = default;  ///< transforms nothing
  /// `batch`: its second loop is over the planes. Throws as BatchedFft does.
  FftInPieces(FftKind kind, FftBatch batch, const PlanePieces& pieces, const FftWork& work)
      : pieces_(pieces), planes_(batch.loops[1]) {
    const std::size_t last = pieces.count() - 1;
    batch.loops[1].count = pieces.last(last) - pieces.first(last);
    last_ = BatchedFft(kind, batch, work);
    batch.loops[1].count = pieces.size;
    if (last > 0) others_ = BatchedFft(kind, batch, work);
  }

  /// Transforms a piece of whole arrays, all between complex values with the same rows elsewhere.
  template <class In, class Out>
  void run(std::size_t piece, In* in, Out* out) {
    plan(piece).run(in + pieces_.first(piece) * planes_.distance_in, out + pieces_.first(piece) * planes_.distance_out);
  }
  template <class In>
  void run(std::size_t piece, In* in, std::complex<real>* out, RowsElsewhere elsewhere) {
    if (elsewhere.data != nullptr) elsewhere.data += pieces_.first(piece) * elsewhere.plane;
    plan(piece).run(in + pieces_.first(piece) * planes_.distance_in, out + pieces_.first(piece) * planes_.distance_out,
                    elsewhere);
  }
  bool takes_rows_elsewhere() const { return last_.takes_rows_elsewhere(); }

 private:
  BatchedFft& plan(std::size_t piece) { return piece + 1 == pieces_.count() ? last_ : others_; }

  PlanePieces pieces_;
  FftLoop planes_;
  BatchedFft others_, last_;
};

}  // namespace sluice
