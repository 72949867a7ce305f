#include "io/files/shared_file.hpp"

#include <utility>

#include "core/support/collective.hpp"
#include "io/files/file_format.hpp"
#include "io/files/hashes.hpp"
#include "io/files/hdf5_parallel.hpp"

namespace sluice::io {

SharedFile::SharedFile(MPI_Comm comm, const std::string& path, WriterSpec writer)
    : comm_(comm), unfinished_path_(path + unfinished_suffix), spec_(std::move(writer)) {
  run_on_root(comm_, [&] {
    unfinished_.emplace(path);
    if (!spec_.hints.empty()) h5::create_with_hints(unfinished_path_, spec_.hints);
    file_.emplace(h5::File::create(unfinished_path_, ExitCode::io, spec_.alignment));
  });
  run_collectively(comm_, [&] { data_.emplace(unfinished_path_, PosixFile::Mode::existing); });
}

std::uint64_t SharedFile::lay_out(const std::string& dataset, const h5::Shape& shape, h5::Type type, std::size_t bytes,
                                  const std::function<void(h5::Dataset&)>& describe) {
  h5::Dataset created = file_->lay_out_dataset(dataset, shape, type);
  describe(created);
  const std::uint64_t address = created.address();
  file_->exclude_from_metadata_hash(created);
  data_->reserve(address, bytes);
  file_->flush();  // other ranks may open it
  return address;
}

std::uint64_t SharedFile::write(const std::string& dataset, const h5::Shape& shape, h5::Type type, FieldWriter& writer,
                                const void* data, const std::function<void(h5::Dataset&)>& describe) {
  std::uint64_t address = 0;
  run_on_root(comm_, [&] { address = lay_out(dataset, shape, type, writer.bytes(), describe); });
  address = sum_over(comm_, address);  // 0 on the other ranks
  write_elements(dataset, address, writer, data);
  const std::uint64_t hash = sum_over(comm_, writer.hash(data));
  run_on_root(comm_, [&] { file_->dataset(dataset).set(format::hash, hash); });
  return hash;
}

void SharedFile::write_elements(const std::string& dataset, std::uint64_t address, FieldWriter& writer,
                                const void* data) {
  if (spec_.kind == WriterKind::hdf5) {
    h5::ParallelFile file(comm_, unfinished_path_, spec_.hints);
    writer.write(file, dataset, data);
    file.close();
  } else {
    const h5::Break others_may_write;
    writer.write(address, data, *data_);
  }
}

void SharedFile::commit(const std::function<void(const std::string& path)>& verify) {
  run_on_root(comm_, [&] {
    file_->close();
    append_metadata_hash(unfinished_path_, file_->excluded());
    file_.reset();  // other threads may have HDF5
  });
  run_collectively(comm_, [&] {
    data_->sync();
    data_->close();
  });
  run_on_root(comm_, [&] { sync_file(unfinished_path_); });
  try {
    verify(unfinished_path_);
  } catch (const Error& error) {
    throw Error(ExitCode::io,
                std::string("the file was written, but reads back wrong; it is dropped. ") + error.what());
  }
  run_on_root(comm_, [&] { unfinished_->commit(); });
}

}  // namespace sluice::io
