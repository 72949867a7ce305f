#pragma once
// How packed blocks travel between the ranks of a communicator. Each method is one class in one file.
#include <mpi.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sluice {

/// Where the block for (or from) each rank of a communicator lies in a buffer, in bytes. A rank's block for itself is
/// empty: the caller copies it.
struct BlockLayout {
  std::vector<std::size_t> offset;
  std::vector<std::size_t> bytes;
  std::size_t total = 0;

  /// Blocks of these sizes one after another, each aligned.
  static BlockLayout of(std::vector<std::size_t> bytes);
};

/// Whether every rank of a communicator sends to every other, or a few neighbours to each other.
enum class Traffic { all_to_all, neighbours };

/// Blocks between the ranks of a communicator, laid out once and sent many times:
///
///   connection.begin();
///   for each peer: ... issue a loop that writes the block behind outgoing(peer) ...; connection.packed(peer);
///   connection.run([&](int peer) { ... issue a loop that reads the block behind incoming(peer) ... });
///
/// Device memory throughout. begin() and run() are collective over the communicator. The connections of one Exchange
/// share its buffers: only one of them may be between begin() and run(), no shared array open meanwhile, and incoming
/// blocks last until the next begin().
class Connection {
 public:
  virtual ~Connection() = default;

  /// Loops issued afterwards may write outgoing blocks.
  virtual void begin() {}
  /// The block for `peer`: in a buffer of this rank, or in the receiver's own memory. The same until another
  /// connection is made.
  virtual std::byte* outgoing(int peer) = 0;
  /// All loops that write the block for `peer` have been issued: it may leave when they are done, before run(). May be
  /// left out; the others leave in run().
  virtual void packed(int /*peer*/) {}
  /// The block from `peer`.
  virtual const std::byte* incoming(int peer) = 0;
  /// The buffers in which the blocks lie as their layouts say. Null for a side whose blocks lie in other ranks' memory:
  /// if that is the one to send from, the caller may write to the place of its own block in the other from begin() on.
  virtual std::byte* send_buffer() = 0;
  virtual std::byte* receive_buffer() = 0;
  /// Moves the blocks. Calls arrived(peer) once for each peer whose block is not empty, when loops that read it may be
  /// issued.
  virtual void run(const std::function<void(int)>& arrived) = 0;
};

/// A part of an array: planes of rows of contiguous bytes, a whole number of `real`s each. Strides are in bytes.
struct ArrayPart {
  std::byte* data = nullptr;
  std::size_t row_bytes = 0;
  int rows = 0, planes = 0;
  std::ptrdiff_t row_stride = 0, plane_stride = 0;

  bool empty() const { return row_bytes == 0 || rows == 0 || planes == 0; }
};

/// Moves parts of arrays between the ranks of a communicator as they lie, for methods that need no packing.
class ArrayConnection {
 public:
  virtual ~ArrayConnection() = default;

  /// Sends outgoing[r] to rank r and receives incoming[r] from it, which has the same shape there but for strides; the
  /// rank's own parts are empty. Device memory. Waits for the loops issued before. Where MPI cannot reach that memory,
  /// the host memory to stage in grows when a larger array comes along than any before. Collective.
  virtual void run(const std::vector<ArrayPart>& outgoing, const std::vector<ArrayPart>& incoming) = 0;
};

/// Device memory of each rank of a communicator that the loops of the others reach as well:
///
///   shared.open();
///   ... issue loops that read or write of(rank) ...
///   shared.close();
///
/// Between the two, loops of any rank may access the memory of any other; before and afterwards a rank's own is its
/// own. Both are collective over the communicator, also for ranks that have nothing to move, and in order with the
/// loops. No connection and no other shared array of the exchange may be in use meanwhile.
class SharedArray {
 public:
  virtual ~SharedArray() = default;

  /// The memory of `rank` as loops of this rank address it.
  virtual std::byte* of(int rank) = 0;
  virtual void open() = 0;
  virtual void close() = 0;
};

/// An exchange method and the buffers of all its connections. Every method gives the same result to the bit.
/// Destruction is collective over the ranks that the exchange was made for.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  /// The ranks that the exchange was made for.
  virtual MPI_Comm world() const = 0;

  /// Lays out blocks between the ranks of `comm`; what one rank sends the other must receive. Buffers grow to the
  /// largest that is asked for, here and never in a step. The exchange and `comm` must outlive the connection.
  /// Collective over all ranks that the exchange was made for, each in a `comm` of its own or the same one.
  virtual std::unique_ptr<Connection> connect(MPI_Comm comm, const BlockLayout& send, const BlockLayout& receive,
                                              Traffic traffic) = 0;

  /// Zeroed device memory, `bytes` of it or more on each rank, that the ranks of `comm` share. Null if the method does
  /// not reach other ranks' memory. The exchange must outlive what is returned; destroying that is collective too.
  /// Collective over all ranks that the exchange was made for, each in a `comm` of its own or the same one.
  virtual std::unique_ptr<SharedArray> share(MPI_Comm /*comm*/, std::size_t /*bytes*/) { return nullptr; }

  /// Null if the method moves packed blocks only. The exchange and `comm` must outlive what is returned. Collective.
  virtual std::unique_ptr<ArrayConnection> connect_arrays(MPI_Comm /*comm*/) { return nullptr; }
};

/// Names of the methods that this build has.
const std::vector<std::string>& exchange_methods();

/// The methods among which `auto` chooses for these ranks, the default first: those that work between them and that
/// do not pass device memory through the host, if there is one. Collective.
std::vector<std::string> exchange_candidates(MPI_Comm world);

/// The method called `name`, or with `auto` the default, for the ranks of `world`. Throws Error(usage) listing the
/// methods that exist, Error(resources) if the method does not work between these ranks. Collective.
std::unique_ptr<Exchange> make_exchange(const std::string& name, MPI_Comm world);

}  // namespace sluice
