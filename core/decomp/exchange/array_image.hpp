#pragma once
#include <cstddef>

#include "core/decomp/exchange/array_part.hpp"

namespace sluice {

/// Parts of one array where MPI can reach them: in the array itself, or in page-locked host memory with the same
/// strides, which grows to the largest array that it was used for.
class ArrayImage {
 public:
  ArrayImage() = default;
  ArrayImage(const ArrayImage&) = delete;
  ArrayImage& operator=(const ArrayImage&) = delete;
  ~ArrayImage();

  /// Looks at these parts from now on.
  void assume(const Parts& parts);
  std::byte* base() const { return host_ != nullptr ? host_ : lowest_; }
  /// How far behind base() a part starts.
  std::ptrdiff_t offset(const ArrayPart& part) const { return part.data - lowest_; }
  void fetch();                       ///< device to image, all that lies between the first part and the last
  void flush(const ArrayPart& part);  ///< image to device, this part alone

 private:
  std::byte* lowest_ = nullptr;  ///< device address of the first part
  std::size_t span_ = 0;         ///< bytes from there to the end of the last
  std::byte* host_ = nullptr;
  std::size_t room_ = 0;
};

}  // namespace sluice
