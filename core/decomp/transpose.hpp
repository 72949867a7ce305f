#pragma once
#include <complex>
#include <memory>
#include <vector>

#include "core/decomp/box3.hpp"
#include "core/decomp/exchange/exchange.hpp"
#include "core/decomp/view3.hpp"
#include "core/device/buffer.hpp"

namespace sluice {

/// Device buffers that several transposes share, since only one runs at a time.
class TransposeBuffers {
 public:
  /// Makes room for this many bytes each way. Called while a solver is set up, never in a step.
  void reserve(std::size_t send_bytes, std::size_t receive_bytes);
  std::byte* send() { return send_.data(); }
  std::byte* receive() { return receive_.data(); }
  HostImage& send_image() { return send_image_; }
  HostImage& receive_image() { return receive_image_; }

 private:
  Buffer<std::byte> send_, receive_;
  HostImage send_image_, receive_image_;
};

/// Moves an array of T between two ways of splitting the same global box over the ranks of a communicator: an
/// exact permutation. T is real or std::complex<real>. Neither side's halo is read or written. The rank's own
/// block is copied directly and never goes through MPI.
template <class T>
class Transpose {
 public:
  /// from[r] and to[r]: the boxes of rank r of `comm`, in global indices, the same list on all ranks. `comm`
  /// and `exchange` must outlive this object. Local.
  Transpose(MPI_Comm comm, std::vector<Box3> from, std::vector<Box3> to, Exchange& exchange,
            std::shared_ptr<TransposeBuffers> buffers);

  /// `source` is the rank's from-box, `target` its to-box. Collective over the communicator.
  void forward(View3<const T> source, View3<T> target);
  /// The inverse: from the to-box back to the from-box.
  void backward(View3<const T> source, View3<T> target);

 private:
  struct Direction {
    Box3 source, target;         ///< the rank's own boxes
    std::vector<Box3> outgoing;  ///< to each peer: part of source, global indices
    std::vector<Box3> incoming;  ///< from each peer: part of target
    BlockLayout send, receive;
  };

  static Direction plan(const std::vector<Box3>& from, const std::vector<Box3>& to, int rank);
  void run(const Direction& direction, View3<const T> source, View3<T> target);

  MPI_Comm comm_;
  int rank_ = 0;
  Exchange* exchange_;
  std::shared_ptr<TransposeBuffers> buffers_;
  Direction forward_, backward_;
};

}  // namespace sluice
