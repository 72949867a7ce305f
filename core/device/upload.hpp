#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "core/device/buffer.hpp"
#include "core/device/event.hpp"
#include "core/support/error.hpp"

namespace sluice {

/// Copies small host arrays to device arrays in order with the loops, without waiting for these: by way of page-locked
/// memory, each piece of which is filled again when the device has read it.
template <class T>
class Upload {
 public:
  Upload() = default;
  /// For arrays of `size` elements.
  explicit Upload(std::size_t size) : size_(size) {
    for (Piece& piece : pieces_)
      piece.memory =
          device::HostPointer<T>(static_cast<T*>(device::allocate_host(std::max<std::size_t>(1, size) * sizeof(T))));
  }

  void operator()(const std::vector<T>& host, Buffer<T>& to) {
    SLUICE_REQUIRE(host.size() == size_ && to.size() == size_, "arrays must have the size of the upload");
    Piece& piece = pieces_[next_];
    next_ = (next_ + 1) % pieces_.size();
    piece.copied.wait();
    std::copy(host.begin(), host.end(), piece.memory.get());
    device::copy_async(to.data(), piece.memory.get(), to.bytes());
    piece.copied.record();
  }

 private:
  struct Piece {
    device::HostPointer<T> memory;
    device::Event copied;
  };
  std::size_t size_ = 0;
  std::array<Piece, 4> pieces_;
  std::size_t next_ = 0;
};

}  // namespace sluice
