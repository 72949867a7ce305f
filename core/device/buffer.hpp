#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "core/device/memory.hpp"

namespace sluice {

/// Owns an array in device memory, zeroed at first. Move-only.
template <class T>
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t size)
      : data_(size > 0 ? static_cast<T*>(device::allocate(size * sizeof(T))) : nullptr), size_(size) {}
  explicit Buffer(const std::vector<T>& host) : Buffer(host.size()) { upload(host); }
  Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (data_ != nullptr) device::release(data_);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

  /// Replaces the array by a larger one, zeroed, if it has fewer than `size` elements. The old one is freed first.
  /// Returns whether it was replaced.
  bool enlarge(std::size_t size) {
    if (size <= size_) return false;
    *this = Buffer();
    *this = Buffer(size);
    return true;
  }

  /// Copies the whole host array in; sizes must match.
  void upload(const std::vector<T>& host) { device::copy(data_, host.data(), bytes()); }
  std::vector<T> download() const {
    std::vector<T> host(size_);
    device::copy(host.data(), data_, bytes());
    return host;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace sluice
