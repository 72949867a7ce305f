#include <hdf5.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "core/support/error.hpp"
#include "io/files/hdf5_drivers.hpp"

namespace sluice::io::h5 {

namespace {

constexpr std::size_t header_bytes = 16;  // of a heap, and of each object in it

/// HDF5 calls the driver's functions without an argument of ours; hence one state per process.
struct DriverState {
  H5FD_class_t posix{};
  H5FD_class_t driver{};  ///< a copy of it with one function replaced
  hid_t id = H5I_INVALID_HID;
};

DriverState& state() {
  static DriverState instance;
  return instance;
}

/// A little-endian number.
std::uint64_t number_at(const std::byte* data, std::size_t bytes) {
  std::uint64_t number = 0;
  for (std::size_t n = bytes; n > 0; --n) number = number << 8 | std::to_integer<std::uint64_t>(data[n - 1]);
  return number;
}

bool begins_heap(const std::byte* data, std::size_t bytes) {
  constexpr std::array<char, 8> signature{'G', 'C', 'O', 'L', 1, 0, 0, 0};
  return bytes >= header_bytes && std::memcmp(data, signature.data(), signature.size()) == 0;
}

/// Walks over the objects behind the header: index, size and data of each. Index 0 is the free space at the end.
bool intact(const std::vector<std::byte>& heap) {
  std::size_t position = header_bytes;
  while (position + header_bytes <= heap.size()) {
    const std::uint64_t index = number_at(heap.data() + position, 2);
    const std::uint64_t size = number_at(heap.data() + position + 8, 8);
    const std::size_t left = heap.size() - position;
    if (index == 0) return size == left;
    if (size > left - header_bytes) return false;
    position += header_bytes + (size + 7) / 8 * 8;
  }
  return position <= heap.size();
}

herr_t read(H5FD_t* file, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size, void* data) {
  const H5FD_class_t& posix = state().posix;
  const herr_t status = posix.read(file, type, transfer, address, size, data);
  const auto* bytes = static_cast<const std::byte*>(data);
  if (status < 0 || !begins_heap(bytes, size)) return status;
  // HDF5 first reads the smallest size of a heap, whatever its size.
  const std::uint64_t heap_bytes = number_at(bytes + 8, 8);
  const haddr_t file_end = posix.get_eof(file, type);
  if (heap_bytes < header_bytes || address > file_end || heap_bytes > file_end - address) return -1;
  std::vector<std::byte> heap(heap_bytes);
  if (posix.read(file, type, transfer, address, heap.size(), heap.data()) < 0 || !intact(heap)) return -1;
  return status;
}

void register_driver() {
  DriverState& s = state();
  s.posix = posix_driver();
  s.driver = s.posix;
  s.driver.name = "sluice reader";
  s.driver.read = read;
  s.id = H5FDregister(&s.driver);
  if (s.id < 0) throw Error(ExitCode::internal, "HDF5: the file driver cannot be registered");
}

}  // namespace

void use_read_driver(std::int64_t access_list) {
  if (state().id < 0) register_driver();
  if (H5Pset_driver(access_list, state().id, nullptr) < 0)
    throw Error(ExitCode::internal, "HDF5: the file driver cannot be used");
}

}  // namespace sluice::io::h5
