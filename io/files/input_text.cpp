#include "io/files/input_text.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/device/timers.hpp"
#include "core/support/error.hpp"
#include "io/files/posix_file.hpp"

namespace sluice::io {

namespace {

/// Closes a file at the end of a scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(number_); }
  int number() const { return number_; }

 private:
  int number_;
};

/// Waits a moment for bytes or the end; returns whether either has come.
bool wait_for_input(int descriptor) {
  constexpr int moment = 50;  // milliseconds
  struct pollfd polled {};
  polled.fd = descriptor;
  polled.events = POLLIN;
  return ::poll(&polled, 1, moment) > 0;
}

}  // namespace

std::string read_input(const std::string& path, const std::string& what, std::size_t max_bytes, Patience patience) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitCode::usage, fmt::format("{}: the {} cannot be read: {}", path, what, why));
  };
  const Descriptor file(open_stream(path, "read the " + what, ExitCode::usage));
  const double start = wall_seconds();
  std::string text;
  std::array<char, 1 << 16> buffer{};
  bool has_writer = false;
  while (true) {
    // A pipe that no program has opened for writing yet reads as ended, but does not poll as such.
    const bool has_input = wait_for_input(file.number());
    const ssize_t count = ::read(file.number(), buffer.data(), buffer.size());
    const bool nothing_yet = count < 0 && (errno == EAGAIN || errno == EINTR);
    if (count < 0 && !nothing_yet) throw file_error(path, "read the " + what, errno, ExitCode::usage);
    if (count == 0 && has_input) return text;
    has_writer = has_writer || count != 0;
    text.append(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (text.size() > max_bytes) refuse(fmt::format("it has more than {} bytes", max_bytes));
    const double waited = wall_seconds() - start;
    if (!has_writer && waited > patience.for_writer)
      refuse(fmt::format("no program has opened this pipe for writing in {:g} s", patience.for_writer));
    if (waited > patience.for_text) refuse(fmt::format("its text has not ended in {:g} s", patience.for_text));
  }
}

}  // namespace sluice::io
