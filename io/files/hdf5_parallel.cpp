#include "io/files/hdf5_parallel.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "core/support/collective.hpp"
#include "core/support/error.hpp"
#include "io/files/posix_file.hpp"

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

/// A box as an array in memory.
Handle memory_space(const Box3& box) {
  std::array<hsize_t, 3> extents{1, 1, 1};
  for (const int axis : {0, 1, 2}) {
    if (!box.empty()) extents[static_cast<std::size_t>(2 - axis)] = static_cast<hsize_t>(box.extent(axis));
  }
  Handle space(H5Screate_simple(3, extents.data(), nullptr), H5Sclose);
  if (box.empty()) H5Sselect_none(space.get());
  return space;
}

bool stuck = false;

/// If only some ranks can open the file, these keep it open: to close it is collective.
template <class Action>
Handle on_all(MPI_Comm comm, const std::string& path, Action action) {
  std::optional<Handle> handle;
  // The others wait in MPI-IO for a rank that cannot open it.
  run_collectively(comm, [&] { PosixFile(path, PosixFile::Mode::existing).close(); });
  try {
    run_collectively(comm, [&] { handle.emplace(action()); });
  } catch (const Error&) {
    stuck = sum_over(comm, handle ? 1 : 0) > 0;
    if (handle) handle->release();
    throw;
  }
  return std::move(*handle);
}

}  // namespace

bool is_parallel() {
  return true;
}

bool is_stuck() {
  return stuck;
}

ParallelFile::ParallelFile(MPI_Comm comm, const std::string& path, const std::vector<MpiIoHint>& hints)
    : comm_(comm), context_{path, ExitCode::io}, file_(on_all(comm, path, [&] {
        return open_on_all(context_, comm, hints);
      })) {}

void ParallelFile::write(const std::string& dataset, const Box3& box, const void* data) {
  run_collectively(comm_, [&] {
    Handle handle(H5Dopen2(file_.get(), dataset.c_str(), H5P_DEFAULT), H5Dclose);
    if (handle.get() < 0) context_.fail("open dataset " + dataset);
    const Dataset opened(std::make_shared<const FileContext>(context_), dataset, std::move(handle));
    const Handle type(H5Dget_type(opened.id()), H5Tclose);
    const Handle in_file = select(opened, box);
    const Handle in_memory = memory_space(box);
    const Handle transfer(H5Pcreate(H5P_DATASET_XFER), H5Pclose);
    if (H5Pset_dxpl_mpio(transfer.get(), H5FD_MPIO_COLLECTIVE) < 0 ||
        H5Dwrite(opened.id(), type.get(), in_memory.get(), in_file.get(), transfer.get(), data) < 0) {
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

bool is_stuck() {
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
