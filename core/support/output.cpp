#include "core/support/output.hpp"

#include <stdio_ext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace sluice {

namespace {

Error failure(int reason) {
  __fpurge(stdout);
  std::clearerr(stdout);
  return {ExitCode::io, std::string("standard output cannot be written: ") +
                            (reason != 0 ? std::strerror(reason) : "a part of it was lost")};
}

}  // namespace

std::optional<Error> output_error(int reason) {
  if (std::ferror(stdout) == 0) return std::nullopt;
  return failure(reason);
}

void flush_output() {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  const int reason = errno;
  if (const auto failed = output_error(flushed ? 0 : reason)) throw *failed;
  if (!flushed) throw failure(reason);
  // Network file systems report a full disk only when a descriptor is closed.
  const int copy = ::dup(STDOUT_FILENO);
  if (copy >= 0 && ::close(copy) != 0) throw failure(errno);
}

}  // namespace sluice
