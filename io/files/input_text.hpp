#pragma once
#include <cstddef>
#include <string>

namespace sluice::io {

/// How long to wait for the text of a pipe.
struct Patience {
  double for_writer = 5;  ///< seconds until another program opens the pipe
  double for_text = 60;   ///< seconds until the text has ended
};

/// The whole text of a file that a user gives: a regular file, a pipe such as <(command) or /dev/stdin, or a device
/// such as a terminal. `what`: the kind of file, for messages, such as "case file". Throws Error(usage) if it cannot be
/// read, has more than max_bytes, or does not end in time. Local.
std::string read_input(const std::string& path, const std::string& what, std::size_t max_bytes, Patience patience = {});

}  // namespace sluice::io
