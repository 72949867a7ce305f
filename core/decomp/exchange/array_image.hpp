#pragma once
#include <cstddef>

#include "core/decomp/exchange/array_part.hpp"

namespace sluice {

/// Parts of one array where MPI can reach them: in the array itself, or in page-locked host memory with the same
/// strides. The host memory grows to the size of the largest array used.
class ArrayImage {
 public:
  ArrayImage() = default;
  ArrayImage(const ArrayImage&) = delete;
  ArrayImage& operator=(const ArrayImage&) = delete;
  ~ArrayImage();

  /// Represents these parts from now on.
  void assume(const Parts& parts);
  std::byte* base() const { return host_ != nullptr ? host_ : lowest_; }
  /// Bytes from base() to the start of a part.
  std::ptrdiff_t offset(const ArrayPart& part) const { return part.data - lowest_; }
  void fetch();                       ///< device to image, everything from the first part to the last
  void flush(const ArrayPart& part);  ///< image to device, this part alone

 private:
  std::byte* lowest_ = nullptr;  ///< lowest device address of the parts
  std::size_t span_ = 0;         ///< bytes from there to the end of the last part
  std::byte* host_ = nullptr;
  std::size_t room_ = 0;
};

}  // namespace sluice
