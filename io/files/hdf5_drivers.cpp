#include "io/files/hdf5_drivers.hpp"

#include <hdf5.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

#include "core/support/error.hpp"

namespace sluice::io::h5 {

namespace {

/// HDF5 calls a driver's functions without an argument of ours; hence one of each per process.
struct Driver {
  H5FD_class_t posix{};     ///< HDF5's own POSIX driver
  H5FD_class_t replaced{};  ///< a copy of it with some functions replaced
  hid_t id = H5I_INVALID_HID;

  /// Selects it in a file access property list. `replace` changes the copy, once.
  void use(hid_t access_list, void (*replace)(H5FD_class_t& functions)) {
    if (id < 0) {
      posix = posix_driver();
      replaced = posix;
      replace(replaced);
      id = H5FDregister(&replaced);
      if (id < 0) throw Error(ExitCode::internal, "HDF5: the file driver cannot be registered");
    }
    if (H5Pset_driver(access_list, id, nullptr) < 0)
      throw Error(ExitCode::internal, "HDF5: the file driver cannot be used");
  }

 private:
  /// Its function table, which HDF5 exposes only through an open file.
  static H5FD_class_t posix_driver() {
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_sec2(access);
    H5FD_t* probe = H5FDopen("/dev/null", H5F_ACC_RDONLY, access, HADDR_UNDEF);
    H5Pclose(access);
    if (probe == nullptr) throw Error(ExitCode::internal, "HDF5: its POSIX file driver cannot be opened");
    const H5FD_class_t functions = *probe->cls;
    H5FDclose(probe);
    return functions;
  }
};

Driver reader;
Driver writer;
thread_local int first_error = 0;  ///< of a write; each file is written by one thread

constexpr std::size_t header_bytes = 16;  // of a heap, and of each object in it

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
  const H5FD_class_t& posix = reader.posix;
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

herr_t remember_failure(herr_t status) {
  if (status < 0 && first_error == 0) first_error = errno != 0 ? errno : EIO;
  return 0;
}

herr_t write(H5FD_t* file, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t size, const void* data) {
  errno = 0;
  return remember_failure(writer.posix.write(file, type, transfer, address, size, data));
}

herr_t truncate(H5FD_t* file, hid_t transfer, hbool_t closing) {
  errno = 0;
  return remember_failure(writer.posix.truncate(file, transfer, closing));
}

herr_t close(H5FD_t* file) {
  errno = 0;
  return remember_failure(writer.posix.close(file));
}

}  // namespace

void use_read_driver(std::int64_t access_list) {
  reader.use(access_list, [](H5FD_class_t& functions) {
    functions.name = "sluice reader";
    functions.read = read;
  });
}

void use_write_driver(std::int64_t access_list) {
  first_error = 0;
  writer.use(access_list, [](H5FD_class_t& functions) {
    functions.name = "sluice";
    functions.write = write;
    functions.truncate = truncate;
    functions.close = close;
  });
}

int write_error() {
  return first_error;
}

}  // namespace sluice::io::h5
