#include "io/files/hdf5.hpp"

#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "io/files/hashes.hpp"
#include "io/files/hdf5_drivers.hpp"
#include "io/files/posix_file.hpp"

namespace sluice::io::h5 {

namespace {

std::vector<hsize_t> sizes(const Shape& shape) {
  return {shape.begin(), shape.end()};
}

/// Iterates in the order of storage: listing by index crashes in HDF5 1.10 if the group's storage is damaged.
std::vector<std::string> members(const Group& group, H5I_type_t wanted) {
  std::vector<std::string> all;
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(name);
    return 0;
  };
  if (H5Literate(group.id(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add, &all) < 0)
    group.context().fail("list group " + group.name());
  std::vector<std::string> names;
  for (std::string& name : all) {
    const Handle object(H5Oopen(group.id(), name.c_str(), H5P_DEFAULT), H5Oclose);
    if (object.get() < 0) group.context().fail("open " + group.name() + "/" + name);
    if (H5Iget_type(object.get()) == wanted) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

H5T_class_t type_class(const Dataset& dataset) {
  const Handle type(H5Dget_type(dataset.id()), H5Tclose);
  return H5Tget_class(type.get());
}

/// Stops HDF5 from printing its errors; ours include the reason. Repeated calls do no harm.
void silence() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

/// Keeps the links of a group and its attributes in its header, which is read more robustly than separate storage.
void store_in_header(hid_t group_properties) {
  constexpr unsigned most = 1000;
  H5Pset_link_phase_change(group_properties, most, 0);
  H5Pset_attr_phase_change(group_properties, most, 0);
}

/// File access settings for both reading and writing.
Handle access_list(const FileContext& context) {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  // Closing a file closes all objects still open in it, in whatever order the handles are destroyed.
  if (access.get() < 0 || H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG) < 0) context.fail("prepare access");
#if H5_VERSION_GE(1, 10, 7)
  // Files are replaced by renaming and never changed in place, so locks are useless; some file systems refuse them.
  if (H5Pset_file_locking(access.get(), 0, 1) < 0) context.fail("prepare access");
#endif
  return access;
}

}  // namespace

std::vector<std::string> Group::datasets() const {
  return members(*this, H5I_DATASET);
}

std::vector<std::string> Group::groups() const {
  return members(*this, H5I_GROUP);
}

Shape Dataset::shape() const {
  const Handle space(H5Dget_space(id()), H5Sclose);
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 0) context().fail("read the shape of " + name());
  std::vector<hsize_t> extents(rank);
  H5Sget_simple_extent_dims(space.get(), extents.data(), nullptr);
  return {extents.begin(), extents.end()};
}

bool Dataset::is_floating() const {
  return type_class(*this) == H5T_FLOAT;
}

bool Dataset::is_integer() const {
  return type_class(*this) == H5T_INTEGER;
}

std::size_t Dataset::element_bytes() const {
  const Handle type(H5Dget_type(id()), H5Tclose);
  return H5Tget_size(type.get());
}

void Dataset::require_stored() const {
  constexpr double most_compression = 1100;  // deflate: 1032
  double bytes = static_cast<double>(element_bytes());
  for (const std::int64_t extent : shape()) bytes *= static_cast<double>(extent);
  if (bytes > most_compression * static_cast<double>(H5Dget_storage_size(id()))) {
    throw Error(context().code,
                context().path + ": the dataset " + name() + " is damaged: it has more elements than the file stores");
  }
}

void Dataset::read(Type type, void* data) const {
  if (H5Dread(id(), native(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) context().fail("read dataset " + name());
}

void Dataset::read(const Box3& box, Type type, void* data) const {
  const Handle file_space = select(*this, box);
  const std::vector<hsize_t> count = sizes({box.extent(2), box.extent(1), box.extent(0)});
  const Handle memory_space(H5Screate_simple(3, count.data(), nullptr), H5Sclose);
  if (H5Dread(id(), native(type), memory_space.get(), file_space.get(), H5P_DEFAULT, data) < 0)
    context().fail("read dataset " + name());
}

Handle select(const Dataset& dataset, const Box3& box) {
  Handle space(H5Dget_space(dataset.id()), H5Sclose);
  const Shape shape = dataset.shape();
  bool good = shape.size() >= 3 && std::all_of(shape.begin(), shape.end() - 3, [](std::int64_t n) { return n == 1; });
  if (good && box.empty()) {
    good = H5Sselect_none(space.get()) >= 0;
  } else if (good) {
    std::vector<hsize_t> start(shape.size() - 3, 0);
    std::vector<hsize_t> count(shape.size() - 3, 1);
    for (const int axis : {2, 1, 0}) {
      start.push_back(static_cast<hsize_t>(box.lo[static_cast<std::size_t>(axis)]));
      count.push_back(static_cast<hsize_t>(box.extent(axis)));
    }
    good = H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0;
  }
  if (!good) dataset.context().fail("select a part of dataset " + dataset.name());
  return space;
}

std::uint64_t Dataset::address() const {
  const haddr_t address = H5Dget_offset(id());
  if (address == HADDR_UNDEF) context().fail("lay out dataset " + name());
  return address;
}

File::File(Turn turn, std::shared_ptr<const FileContext> context, Handle handle)
    : turn_(std::move(turn)), context_(std::move(context)), handle_(std::move(handle)) {}

File File::create(const std::string& path, ExitCode code, std::int64_t alignment) {
  Turn turn;
  silence();
  const auto context = std::make_shared<const FileContext>(FileContext{path, code});
  // Open through the operating system first: its error messages are clearer than HDF5's.
  PosixFile(path, PosixFile::Mode::create).close();
  const Handle access = access_list(*context);
  use_write_driver(access.get());
  // Use the object format of HDF5 1.8 or later: it has metadata checksums and attributes of any size.
  if (H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_LATEST) < 0 ||
      H5Pset_alignment(access.get(), alignment, alignment) < 0) {
    context->fail("prepare access");
  }
  const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation.get(), false);
  store_in_header(creation.get());
  Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose);
  if (file.get() < 0) context->fail("create the file");
  return {std::move(turn), context, std::move(file)};
}

File File::open(const std::string& path, ExitCode code) {
  const auto context = std::make_shared<const FileContext>(FileContext{path, code});
  if (::access(path.c_str(), R_OK) != 0) throw file_error(path, "open", errno, code);
  verify_metadata_hash(path, code);
  Turn turn;
  silence();
  const Handle access = access_list(*context);
  use_read_driver(access.get());
  Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
  if (file.get() < 0) context->fail("open it as an HDF5 file");
  return {std::move(turn), context, std::move(file)};
}

Handle File::create_properties(std::int64_t property_class) const {
  Handle properties(H5Pcreate(property_class), H5Pclose);
  // No time stamps: equal content gives equal bytes.
  if (properties.get() < 0 || H5Pset_obj_track_times(properties.get(), false) < 0) context_->fail("prepare an object");
  return properties;
}

Group File::group(const std::string& name) const {
  Handle group(H5Gopen2(handle_.get(), name.c_str(), H5P_DEFAULT), H5Gclose);
  if (group.get() < 0) context_->fail("open group " + name);
  return {context_, name, std::move(group)};
}

Dataset File::dataset(const std::string& name) const {
  Handle dataset(H5Dopen2(handle_.get(), name.c_str(), H5P_DEFAULT), H5Dclose);
  if (dataset.get() < 0) context_->fail("open dataset " + name);
  return {context_, name, std::move(dataset)};
}

bool File::has(const std::string& name) const {
  if (name == "/") return true;
  for (std::size_t end = name.find('/', 1);; end = name.find('/', end + 1)) {
    const htri_t found = H5Lexists(handle_.get(), name.substr(0, end).c_str(), H5P_DEFAULT);
    if (found < 0) context_->fail("look for " + name);
    if (found == 0 || end == std::string::npos) return found > 0;
  }
}

Group File::create_group(const std::string& name) {
  const Handle properties = create_properties(H5P_GROUP_CREATE);
  store_in_header(properties.get());
  Handle group(H5Gcreate2(handle_.get(), name.c_str(), H5P_DEFAULT, properties.get(), H5P_DEFAULT), H5Gclose);
  if (group.get() < 0) context_->fail("create group " + name);
  return {context_, name, std::move(group)};
}

Dataset File::create_dataset(const std::string& name, const Shape& shape, Type type, const Handle& properties) const {
  const std::vector<hsize_t> extents = sizes(shape);
  const Handle space(H5Screate_simple(static_cast<int>(extents.size()), extents.data(), nullptr), H5Sclose);
  Handle dataset(
      H5Dcreate2(handle_.get(), name.c_str(), native(type), space.get(), H5P_DEFAULT, properties.get(), H5P_DEFAULT),
      H5Dclose);
  if (dataset.get() < 0) context_->fail("create dataset " + name);
  return {context_, name, std::move(dataset)};
}

Dataset File::write_dataset(const std::string& name, const Shape& shape, Type type, const void* data) {
  Dataset dataset = create_dataset(name, shape, type, create_properties(H5P_DATASET_CREATE));
  const bool empty = std::ranges::find(shape, 0) != shape.end();  // some versions of HDF5 refuse to write nothing
  if (!empty && H5Dwrite(dataset.id(), native(type), H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
    context_->fail("write dataset " + name);
  return dataset;
}

Dataset File::lay_out_dataset(const std::string& name, const Shape& shape, Type type) {
  const Handle properties = create_properties(H5P_DATASET_CREATE);
  if (H5Pset_alloc_time(properties.get(), H5D_ALLOC_TIME_EARLY) < 0 ||
      H5Pset_fill_time(properties.get(), H5D_FILL_TIME_NEVER) < 0) {
    context_->fail("lay out dataset " + name);
  }
  return create_dataset(name, shape, type, properties);
}

Dataset File::write_virtual_dataset(const std::string& name, const Shape& shape, Type type,
                                    const std::vector<VirtualPart>& parts) {
  const std::vector<hsize_t> extents = sizes(shape);
  const int rank = static_cast<int>(extents.size());
  const Handle properties = create_properties(H5P_DATASET_CREATE);
  const Handle space(H5Screate_simple(rank, extents.data(), nullptr), H5Sclose);
  const double missing = type == Type::int64 ? -1 : std::numeric_limits<double>::quiet_NaN();
  bool good = H5Pset_fill_value(properties.get(), H5T_NATIVE_DOUBLE, &missing) >= 0;
  std::vector<hsize_t> start(extents.size(), 0);
  std::vector<hsize_t> count = extents;
  for (const VirtualPart& part : parts) {
    count[0] = part.rows;
    const Handle source(H5Screate_simple(rank, count.data(), nullptr), H5Sclose);
    good = good &&
           H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) >= 0 &&
           H5Pset_virtual(properties.get(), space.get(), part.file.c_str(), name.c_str(), source.get()) >= 0;
    start[0] += count[0];
  }
  if (!good) context_->fail("lay out dataset " + name);
  return create_dataset(name, shape, type, properties);
}

void File::exclude_from_metadata_hash(const Dataset& dataset) {
  const std::uint64_t begin = dataset.address();
  excluded_.push_back({begin, begin + H5Dget_storage_size(dataset.id())});
}

void File::link(const std::string& existing, const std::string& name) {
  if (H5Lcreate_hard(handle_.get(), existing.c_str(), handle_.get(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT) < 0) {
    context_->fail("link " + name);
  }
}

void File::require_written() const {
  if (write_error() != 0) throw file_error(path(), "write", write_error(), context_->code);
}

void File::flush() {
  if (H5Fflush(handle_.get(), H5F_SCOPE_LOCAL) < 0) context_->fail("flush the file");
  require_written();
}

void File::close() {
  if (H5Fclose(handle_.release()) < 0) context_->fail("close the file");
  require_written();
}

void write_file(const std::string& path, const std::function<void(File&)>& build,
                const std::function<void(const File&)>& verify) {
  UnfinishedFile unfinished(path);
  File file = File::create(unfinished.path(), ExitCode::io);
  build(file);
  file.close();
  append_metadata_hash(unfinished.path(), file.excluded());
  sync_file(unfinished.path());
  try {
    if (verify) verify(File::open(unfinished.path(), ExitCode::io));
  } catch (const Error& error) {
    throw Error(ExitCode::io,
                path + ": the file was written, but reads back wrong; the old one is kept. " + error.what());
  }
  unfinished.commit();
}

std::string library_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  const Turn turn;
  H5get_libversion(&major, &minor, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

void start_library() {
  const Turn turn;
  if (H5open() < 0) throw Error(ExitCode::internal, "HDF5 cannot be started");
}

}  // namespace sluice::io::h5
