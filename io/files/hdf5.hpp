#pragma once
// The part of HDF5 that Sluice uses, with owned handles and checked calls. Only .cpp files of io/ include HDF5's
// header.
//
// Each file is opened by a single process, but for those of hdf5_parallel.hpp: shared_file.hpp explains how many
// ranks write one file. Every function here is local and throws Error with the exit code given at opening; its message
// has the file, the action and object, and HDF5's innermost reason. HDF5 itself prints nothing.
//
// HDF5 serves one thread at a time. A File has its thread's turn as long as it exists; other threads wait for it.
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/support/box3.hpp"
#include "core/support/error.hpp"
#include "io/files/hashes.hpp"

namespace sluice::device {
class KeepTurn;
}

namespace sluice::io::h5 {

using Shape = std::vector<std::int64_t>;

std::string text_of(const Shape& shape);  ///< "48, 64, 32"
std::size_t elements_of(const Shape& shape);

/// Element types, in the machine's byte order.
enum class Type { float32, float64, int64, uint64 };

template <typename T>
inline constexpr Type type_of = Type::float64;
template <>
inline constexpr Type type_of<float> = Type::float32;
template <>
inline constexpr Type type_of<std::int64_t> = Type::int64;
template <>
inline constexpr Type type_of<std::uint64_t> = Type::uint64;

/// The numbers that attributes hold.
template <typename T>
concept Number = std::same_as<T, double> || std::same_as<T, std::int64_t> || std::same_as<T, std::uint64_t>;

std::size_t bytes_of(Type type);

/// HDF5's identifier of an element type.
std::int64_t native(Type type);

/// A thread's turn with HDF5: waits until no other thread has one. A thread may take several at once; it must release
/// those that it took itself. Meanwhile no other task of device::run_together() goes on in this thread: it might wait
/// for another thread that waits for HDF5.
class Turn {
 public:
  Turn();
  Turn(Turn&& other) noexcept;
  Turn& operator=(Turn&&) = delete;
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn();

 private:
  bool held_ = true;
  std::unique_ptr<device::KeepTurn> keep_;
};

/// Lets other threads have HDF5 as long as it exists, although this thread has files open, which it must not use.
class Break {
 public:
  Break();
  Break(const Break&) = delete;
  Break& operator=(const Break&) = delete;
  ~Break();

 private:
  int turns_;  ///< of this thread before
};

/// The file name and exit code that every object needs for its messages.
struct FileContext {
  std::string path;
  ExitCode code = ExitCode::io;

  [[noreturn]] void fail(const std::string& what) const;  ///< with HDF5's reason
};

/// Owns one HDF5 identifier and the function that releases it.
class Handle {
 public:
  using Closer = int (*)(std::int64_t);

  Handle(std::int64_t id, Closer closer) : id_(id), closer_(closer) {}
  Handle(Handle&& other) noexcept;
  Handle& operator=(Handle&&) = delete;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle();

  std::int64_t get() const { return id_; }
  std::int64_t release();  ///< releases ownership of the identifier

 private:
  std::int64_t id_;
  Closer closer_;
};

/// An object with attributes: a group or a dataset.
class Object {
 public:
  Object(std::shared_ptr<const FileContext> context, std::string name, Handle handle);

  const std::string& name() const { return name_; }
  std::int64_t id() const { return handle_.get(); }
  const FileContext& context() const { return *context_; }

  /// Attributes. set() replaces the value of one that exists; strings are UTF-8 of any length.
  void set(const std::string& attribute, const std::string& value);
  void set(const std::string& attribute, Number auto value) {
    write_scalar(attribute, native(type_of<decltype(value)>), &value);
  }
  bool has(const std::string& attribute) const;
  std::string text(const std::string& attribute) const;
  std::int64_t integer(const std::string& attribute) const { return number<std::int64_t>(attribute); }
  std::uint64_t hash(const std::string& attribute) const { return number<std::uint64_t>(attribute); }
  double real(const std::string& attribute) const { return number<double>(attribute); }

  /// Writes an attribute of any kind; `stored`, `memory`: HDF5's identifiers of its type in the file and of `data`.
  void write_attribute(const std::string& attribute, const Handle& space, std::int64_t stored, std::int64_t memory,
                       const void* data);

  /// The scalar attributes in order of name, with their kinds.
  enum class Kind { text, integer, real, other };
  struct Attribute {
    std::string name;
    Kind kind;
  };
  std::vector<Attribute> attributes() const;

 private:
  void write_scalar(const std::string& attribute, std::int64_t type, const void* value);
  void read_scalar(const std::string& attribute, std::int64_t type, void* value) const;
  template <Number T>
  T number(const std::string& attribute) const {
    T value = 0;
    read_scalar(attribute, native(type_of<T>), &value);
    return value;
  }

  std::shared_ptr<const FileContext> context_;
  std::string name_;
  Handle handle_;
};

class Group : public Object {
 public:
  using Object::Object;
  std::vector<std::string> datasets() const;  ///< names of the datasets directly in it, in order
  std::vector<std::string> groups() const;    ///< names of the groups directly in it, in order
};

/// Some rows of the dataset of the same name in another file: part of a virtual dataset.
struct VirtualPart {
  std::string file;  ///< relative to the folder of the virtual dataset's file
  std::int64_t rows = 0;
};

/// A dataset of any rank, row-major, last index fastest.
class Dataset : public Object {
 public:
  using Object::Object;
  Shape shape() const;
  bool is_floating() const;
  bool is_integer() const;
  std::size_t element_bytes() const;
  Type real_type() const { return element_bytes() == 4 ? Type::float32 : Type::float64; }

  /// Throws if it claims so many elements that the file cannot hold them: a reader would need all memory, or forever.
  void require_stored() const;
  /// Throws if any of its elements are not stored, here or in other files to which it refers: HDF5 reads fill values
  /// there, usually zeros, and says nothing.
  void require_complete() const;
  /// The files whose rows a virtual dataset joins, as written by File::write_virtual_dataset. None if it is not
  /// virtual. Throws if its rows are joined in another way.
  std::vector<VirtualPart> virtual_parts() const;
  /// Reads all of it, converted to `type`, and verifies HDF5's checksums if it has any.
  void read(Type type, void* data) const;
  /// The same for a box of a field, whose shape is (nz, ny, nx), perhaps after extents of 1.
  void read(const Box3& box, Type type, void* data) const;
  /// All elements, converted to T.
  template <typename T>
  std::vector<T> values() const {
    require_stored();
    std::vector<T> list(elements_of(shape()));
    if (!list.empty()) read(type_of<T>, list.data());
    return list;
  }

  /// Where its elements begin in the file, in bytes; they are contiguous.
  std::uint64_t address() const;
};

/// The elements of a box of a field, which may be empty, as HDF5's selection in the file.
Handle select(const Dataset& dataset, const Box3& box);

/// A file, open for reading or newly created.
class File {
 public:
  /// `alignment`: datasets of at least so many bytes begin at a multiple of it in the file.
  static File create(const std::string& path, ExitCode code, std::int64_t alignment = 1);
  static File open(const std::string& path, ExitCode code);  ///< read-only

  const std::string& path() const { return context_->path; }
  const FileContext& context() const { return *context_; }

  Group group(const std::string& name) const;  ///< "/" is the root
  Dataset dataset(const std::string& name) const;
  bool has(const std::string& name) const;

  Group create_group(const std::string& name);
  Dataset write_dataset(const std::string& name, const Shape& shape, Type type, const void* data);
  /// Creates a dataset and allocates its part of the file without writing its elements.
  Dataset lay_out_dataset(const std::string& name, const Shape& shape, Type type);
  /// Creates a dataset without values of its own: the first rows of each part, one after the other. A reader finds NaN
  /// (-1 for integers) where a part is missing.
  Dataset write_virtual_dataset(const std::string& name, const Shape& shape, Type type,
                                const std::vector<VirtualPart>& parts);
  /// The hash of the metadata will not cover the values of this dataset, so that the file can be opened without reading
  /// them. They need a hash of their own. The dataset must be contiguous and written.
  void exclude_from_metadata_hash(const Dataset& dataset);
  const std::vector<ByteRange>& excluded() const { return excluded_; }
  /// Writes what HDF5 holds in memory of a created file, which other processes may then open. Throws if any write
  /// since its creation failed.
  void flush();
  /// A second name for an object.
  void link(const std::string& existing, const std::string& name);

  /// Closes a created file. Throws if any write since its creation failed.
  void close();

 private:
  File(Turn turn, std::shared_ptr<const FileContext> context, Handle handle);
  void require_written() const;
  Handle create_properties(std::int64_t property_class) const;
  Dataset create_dataset(const std::string& name, const Shape& shape, Type type, const Handle& properties) const;

  Turn turn_;  ///< first: until everything is closed
  std::shared_ptr<const FileContext> context_;
  Handle handle_;
  std::vector<ByteRange> excluded_;
};

/// Replaces a file atomically by what `build` writes, as write_atomically does for text, once `verify` accepts the
/// file as it reads back: `verify` throws for a file that does not have its hashes. Local. Throws Error(io); an old
/// file is then unchanged.
void write_file(const std::string& path, const std::function<void(File&)>& build,
                const std::function<void(const File&)>& verify = {});

/// "1.10.8"
std::string library_version();

/// Starts HDF5, which else happens at its first use. A library for parallel files calls MPI then. Local.
void start_library();

}  // namespace sluice::io::h5
