#pragma once
// What the fuzzers of files share. Their input is not a file, in which nearly every change breaks a hash, but a list of
// changes to a file that they have written.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "core/support/error.hpp"

/// libFuzzer's entry point. Ends the program if what it tests does not keep its promises.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace sluice::fuzz {

/// Reads choices from the bytes of an input; zeros behind their end.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : next_(data), end_(data + size) {}

  bool ended() const { return next_ == end_; }
  std::uint64_t word(std::size_t bytes);  ///< of so many bytes
  std::size_t below(std::size_t end);     ///< less than `end`, which is not 0
  bool one_in(std::size_t count) { return below(count) == count - 1; }
  double real();  ///< any bits, or a small number
  std::int64_t integer();
  std::string text();  ///< short, without zeros

 private:
  const std::uint8_t* next_;
  const std::uint8_t* end_;
};

/// The bytes with changes: bits, bytes and words, zeroed pages, removed, repeated and exchanged parts.
std::string damaged(std::string bytes, Input& input);

/// A path in a directory of this process, in memory where there is such a file system.
std::string scratch_path(const std::string& name);

/// Replaces a file.
void write_bytes(const std::string& path, const std::string& bytes);

/// False if the changes have removed the hash of an HDF5 file's metadata together with others of its bytes, so that
/// HDF5 reads what may be damaged: that is beyond what the readers promise.
bool is_protected(const std::string& original, const std::string& changed);

/// Calls a reader, which may throw an Error of that code for a damaged file, with a message that is not long, but
/// nothing else.
void read_or_refuse(const std::function<void()>& reader, ExitCode code = ExitCode::restart);

/// Prints the message and aborts, unless `good`.
void require(bool good, const std::string& message);

}  // namespace sluice::fuzz
