#pragma once
// How the ranks write a field into one file: the part of a case that the files need.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::io {

enum class WriterKind {
  direct,  ///< system calls of every rank
  hdf5,    ///< collective calls of parallel HDF5
};

/// A hint for MPI-IO, such as striping_factor: 16. Libraries ignore those that they do not know.
struct MpiIoHint {
  std::string name, value;

  bool operator==(const MpiIoHint&) const = default;
};

/// What is wrong with a hint: with its "name" or its "value", and what is allowed.
struct HintFault {
  const char* part;
  std::string text;
};

/// The faults of hint `number` of a list, in which no name may be given twice.
std::vector<HintFault> faults_of_hint(const std::vector<MpiIoHint>& hints, std::size_t number);

struct WriterSpec {
  WriterKind kind = WriterKind::direct;
  std::int64_t alignment = 1;    ///< fields of at least so many bytes begin at a multiple of it in the file
  std::vector<MpiIoHint> hints;  ///< for WriterKind::hdf5

  bool operator==(const WriterSpec&) const = default;
};

}  // namespace sluice::io
