// Attributes, handles and messages of the HDF5 layer, and whose turn it is.
#include <hdf5.h>

#include <mutex>
#include <utility>

#include "core/device/together.hpp"
#include "io/files/hdf5.hpp"

namespace sluice::io::h5 {

namespace {

/// Walks HDF5's error stack, most specific entry first, and keeps that entry.
std::string innermost_reason() {
  std::string reason;
  const auto keep_first = [](unsigned n, const H5E_error2_t* entry, void* text) -> herr_t {
    if (n == 0 && entry->desc != nullptr) *static_cast<std::string*>(text) = entry->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  return reason;
}

Handle text_type() {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.get(), H5T_VARIABLE);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return type;
}

Object::Kind kind_of(hid_t attribute) {
  const Handle space(H5Aget_space(attribute), H5Sclose);
  if (H5Sget_simple_extent_npoints(space.get()) != 1) return Object::Kind::other;
  const Handle type(H5Aget_type(attribute), H5Tclose);
  switch (H5Tget_class(type.get())) {
    case H5T_STRING:
      return Object::Kind::text;
    case H5T_INTEGER:
      return Object::Kind::integer;
    case H5T_FLOAT:
      return Object::Kind::real;
    default:
      return Object::Kind::other;
  }
}

/// A string attribute of fixed length, which other programs may write.
std::string fixed_text(hid_t attribute, hid_t type) {
  std::string value(H5Tget_size(type), '\0');
  const Handle memory(H5Tcopy(type), H5Tclose);
  if (H5Aread(attribute, memory.get(), value.data()) < 0) return "";
  return value.substr(0, value.find('\0'));
}

}  // namespace

std::string text_of(const Shape& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return text;
}

std::size_t elements_of(const Shape& shape) {
  std::size_t elements = 1;
  for (const std::int64_t extent : shape) elements *= extent;
  return elements;
}

std::size_t bytes_of(Type type) {
  return type == Type::float32 ? 4 : 8;
}

std::int64_t native(Type type) {
  switch (type) {
    case Type::float32:
      return H5T_NATIVE_FLOAT;
    case Type::float64:
      return H5T_NATIVE_DOUBLE;
    case Type::int64:
      return H5T_NATIVE_INT64;
    case Type::uint64:
      return H5T_NATIVE_UINT64;
  }
  return H5I_INVALID_HID;
}

void FileContext::fail(const std::string& what) const {
  const std::string reason = innermost_reason();
  throw Error(code, path + ": cannot " + what + ": " + (reason.empty() ? "refused by HDF5" : "HDF5: " + reason));
}

namespace {

std::mutex one_thread;  ///< held by the thread whose turn it is
thread_local int turns_of_thread = 0;

}  // namespace

Turn::Turn() : keep_(std::make_unique<device::KeepTurn>()) {
  if (turns_of_thread == 0) one_thread.lock();
  ++turns_of_thread;
}

Turn::Turn(Turn&& other) noexcept : held_(std::exchange(other.held_, false)), keep_(std::move(other.keep_)) {}

Turn::~Turn() {
  if (held_ && --turns_of_thread == 0) one_thread.unlock();
}

Break::Break() : turns_(std::exchange(turns_of_thread, 0)) {
  if (turns_ > 0) one_thread.unlock();
}

Break::~Break() {
  if (turns_ > 0) one_thread.lock();
  turns_of_thread = turns_;
}

Handle::Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), closer_(other.closer_) {}

Handle::~Handle() {
  // The identifier may already be closed: closing a file closes the objects open in it.
  if (id_ >= 0 && H5Iis_valid(id_) > 0) closer_(id_);
}

std::int64_t Handle::release() {
  return std::exchange(id_, -1);
}

Object::Object(std::shared_ptr<const FileContext> context, std::string name, Handle handle)
    : context_(std::move(context)), name_(std::move(name)), handle_(std::move(handle)) {}

void Object::write_attribute(const std::string& attribute, const Handle& space, std::int64_t stored,
                             std::int64_t memory, const void* data) {
  if (has(attribute)) H5Adelete(id(), attribute.c_str());
  const Handle handle(H5Acreate2(id(), attribute.c_str(), stored, space.get(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  if (handle.get() < 0 || H5Awrite(handle.get(), memory, data) < 0) {
    context_->fail("write attribute " + attribute + " of " + name_);
  }
}

void Object::write_scalar(const std::string& attribute, std::int64_t type, const void* value) {
  write_attribute(attribute, Handle(H5Screate(H5S_SCALAR), H5Sclose), type, type, value);
}

void Object::read_scalar(const std::string& attribute, std::int64_t type, void* value) const {
  const Handle handle(H5Aopen(id(), attribute.c_str(), H5P_DEFAULT), H5Aclose);
  if (handle.get() < 0 || kind_of(handle.get()) == Kind::other || H5Aread(handle.get(), type, value) < 0) {
    context_->fail("read attribute " + attribute + " of " + name_);
  }
}

void Object::set(const std::string& attribute, const std::string& value) {
  const char* characters = value.c_str();
  write_scalar(attribute, text_type().get(), &characters);
}

bool Object::has(const std::string& attribute) const {
  const htri_t found = H5Aexists(id(), attribute.c_str());
  if (found < 0) context_->fail("look for attribute " + attribute + " of " + name_);
  return found > 0;
}

std::string Object::text(const std::string& attribute) const {
  const Handle handle(H5Aopen(id(), attribute.c_str(), H5P_DEFAULT), H5Aclose);
  if (handle.get() < 0 || kind_of(handle.get()) != Kind::text)
    context_->fail("read attribute " + attribute + " of " + name_);
  const Handle stored(H5Aget_type(handle.get()), H5Tclose);
  if (H5Tis_variable_str(stored.get()) <= 0) return fixed_text(handle.get(), stored.get());
  char* characters = nullptr;
  if (H5Aread(handle.get(), text_type().get(), &characters) < 0)
    context_->fail("read attribute " + attribute + " of " + name_);
  std::string value = characters != nullptr ? characters : "";
  H5free_memory(characters);
  return value;
}

std::vector<Object::Attribute> Object::attributes() const {
  std::vector<Attribute> found;
  const auto add = [](hid_t object, const char* name, const H5A_info_t*, void* list) -> herr_t {
    const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
    if (attribute.get() < 0) return -1;
    static_cast<std::vector<Attribute>*>(list)->push_back({name, kind_of(attribute.get())});
    return 0;
  };
  hsize_t position = 0;
  if (H5Aiterate2(id(), H5_INDEX_NAME, H5_ITER_INC, &position, add, &found) < 0) {
    context_->fail("list the attributes of " + name_);
  }
  return found;
}

}  // namespace sluice::io::h5
