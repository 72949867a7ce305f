#include "io/files/hdf5_parallel.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"

namespace sluice::io::h5 {

namespace {

/// Owns an MPI_Info.
class Info {
 public:
  explicit Info(const std::vector<MpiIoHint>& hints) {
    check_mpi(MPI_Info_create(&info_), "MPI_Info_create");
    for (const auto& [name, value] : hints) check_mpi(MPI_Info_set(info_, name.c_str(), value.c_str()), "MPI_Info_set");
  }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  ~Info() { MPI_Info_free(&info_); }  // unchecked: destructor

  MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

/// `status`: an error of MPI.
[[noreturn]] void fail(const std::string& path, const char* what, int status) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  const bool known = MPI_Error_string(status, text.data(), &length) == MPI_SUCCESS;
  throw Error(ExitCode::io, fmt::format("{}: cannot {} through MPI-IO: {}", path, what,
                                        known ? text.data() : "MPI does not say why"));
}

}  // namespace

void create_with_hints(const std::string& path, const std::vector<MpiIoHint>& hints) {
  const Info info(hints);
  MPI_File file = MPI_FILE_NULL;
  const int opened = MPI_File_open(MPI_COMM_SELF, path.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, info.get(), &file);
  if (opened != MPI_SUCCESS) fail(path, "create the file", opened);
  const int closed = MPI_File_close(&file);
  if (closed != MPI_SUCCESS) fail(path, "close the file", closed);
}

#ifdef H5_HAVE_PARALLEL

namespace {

Handle open_on_all(const FileContext& context, MPI_Comm comm, const std::vector<MpiIoHint>& hints) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // its errors are in our messages
  const Info info(hints);
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (access.get() < 0 || H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG) < 0 ||
      H5Pset_fapl_mpio(access.get(), comm, info.get()) < 0 ||
      // One rank reads and writes metadata for all.
      H5Pset_all_coll_metadata_ops(access.get(), true) < 0 || H5Pset_coll_metadata_write(access.get(), true) < 0) {
    context.fail("prepare access");
  }
  Handle file(H5Fopen(context.path.c_str(), H5F_ACC_RDWR, access.get()), H5Fclose);
  if (file.get() < 0) context.fail("open the file through MPI-IO");
  return file;
}

/// A box of an array of this rank; all of them together.
struct Selection {
  explicit Selection(const Box3& box, hid_t dataset)
      : in_file(H5Dget_space(dataset), H5Sclose), in_memory(memory_space(box), H5Sclose) {
    if (box.empty()) {
      good = H5Sselect_none(in_file.get()) >= 0 && H5Sselect_none(in_memory.get()) >= 0;
      return;
    }
    const auto size = [](std::int64_t n) { return static_cast<hsize_t>(n); };
    const std::array<hsize_t, 3> start{size(box.lo[2]), size(box.lo[1]), size(box.lo[0])};
    const std::array<hsize_t, 3> count = extents(box);
    good = H5Sget_simple_extent_ndims(in_file.get()) == 3 &&
           H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0;
  }

  Handle in_file, in_memory;
  bool good = false;

 private:
  static std::array<hsize_t, 3> extents(const Box3& box) {
    if (box.empty()) return {1, 1, 1};
    const auto size = [&](int axis) { return static_cast<hsize_t>(box.extent(axis)); };
    return {size(2), size(1), size(0)};
  }
  static hid_t memory_space(const Box3& box) { return H5Screate_simple(3, extents(box).data(), nullptr); }
};

template <class Action>
Handle on_all(MPI_Comm comm, Action action) {
  std::optional<Handle> handle;
  run_collectively(comm, [&] { handle.emplace(action()); });
  return std::move(*handle);
}

}  // namespace

bool is_parallel() {
  return true;
}

ParallelFile::ParallelFile(MPI_Comm comm, const std::string& path, const std::vector<MpiIoHint>& hints)
    : comm_(comm), context_{path, ExitCode::io}, file_(on_all(comm, [&] {
        return open_on_all(context_, comm, hints);
      })) {}

void ParallelFile::write(const std::string& dataset, const Box3& box, const void* data) {
  run_collectively(comm_, [&] {
    const Handle opened(H5Dopen2(file_.get(), dataset.c_str(), H5P_DEFAULT), H5Dclose);
    const Handle type(opened.get() < 0 ? H5I_INVALID_HID : H5Dget_type(opened.get()), H5Tclose);
    if (type.get() < 0) context_.fail("open dataset " + dataset);
    const Selection selection(box, opened.get());
    const Handle transfer(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
    if (!selection.good || H5Pset_dxpl_mpio(transfer.get(), H5FD_MPIO_COLLECTIVE) < 0 ||
        H5Dwrite(opened.get(), type.get(), selection.in_memory.get(), selection.in_file.get(), transfer.get(), data) <
            0) {
      // MPI-IO need not say that the disk is full.
      std::error_code unknown;
      const std::uintmax_t free = std::filesystem::space(context_.path, unknown).available;
      context_.fail(
          fmt::format("write dataset {}{}", dataset, unknown ? "" : fmt::format(" ({} bytes are free there)", free)));
    }
  });
}

void ParallelFile::close() {
  run_collectively(comm_, [&] {
    if (H5Fclose(file_.release()) < 0) context_.fail("close the file");
  });
}

#else

bool is_parallel() {
  return false;
}

ParallelFile::ParallelFile(MPI_Comm comm, const std::string& path, const std::vector<MpiIoHint>& /*hints*/)
    : comm_(comm), context_{path, ExitCode::usage}, file_(-1, nullptr) {
  throw Error(context_.code, path + ": cannot be written with output.writer hdf5: " + no_parallel_hdf5);
}

void ParallelFile::write(const std::string&, const Box3&, const void*) {}

void ParallelFile::close() {}

#endif

}  // namespace sluice::io::h5
