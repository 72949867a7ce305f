#include "core/decomp/exchange/array_image.hpp"

#include "core/decomp/host_access.hpp"
#include "core/device/memory.hpp"

namespace sluice {

ArrayImage::~ArrayImage() {
  if (host_ != nullptr) device::release_host(host_);
}

void ArrayImage::assume(const Parts& parts) {
  const AddressRange range = range_of(parts);
  lowest_ = range.begin;
  span_ = static_cast<std::size_t>(range.end - range.begin);
  if (mpi_takes_device_pointers() || span_ <= room_) return;
  if (host_ != nullptr) device::release_host(host_);
  host_ = nullptr;
  room_ = 0;
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
