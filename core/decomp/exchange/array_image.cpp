#include "core/decomp/exchange/array_image.hpp"

#include <algorithm>

#include "core/decomp/host_access.hpp"
#include "core/device/memory.hpp"

namespace sluice {

ArrayImage::~ArrayImage() {
  if (host_ != nullptr) device::release_host(host_);
}

void ArrayImage::assume(const std::vector<ArrayPart>& parts) {
  lowest_ = nullptr;
  std::byte* end = nullptr;
  for (const ArrayPart& part : parts) {
    if (part.empty()) continue;
    std::byte* const part_end =
        part.data + (part.planes - 1) * part.plane_stride + (part.rows - 1) * part.row_stride + part.row_bytes;
    lowest_ = lowest_ == nullptr ? part.data : std::min(lowest_, part.data);
    end = std::max(end, part_end);
  }
  span_ = static_cast<std::size_t>(end - lowest_);
  if (mpi_takes_device_pointers() || span_ <= room_) return;
  if (host_ != nullptr) device::release_host(host_);
  host_ = nullptr;
  host_ = static_cast<std::byte*>(device::allocate_host(span_));
  room_ = span_;
}

void ArrayImage::fetch() {
  if (host_ != nullptr) device::copy(host_, lowest_, span_);
}

void ArrayImage::flush(const ArrayPart& part) {
  if (host_ == nullptr) return;
  device::copy_rows(part.data, host_ + offset(part), part.row_bytes, part.rows, part.row_stride, part.planes,
                    part.plane_stride);
}

}  // namespace sluice
