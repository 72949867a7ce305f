// To be preloaded into the program: a file system that refuses locks.
#include <dlfcn.h>
#include <fcntl.h>

#include <cerrno>
#include <cstdarg>

extern "C" int fcntl64(int descriptor, int command, ...) {
  if (command == F_OFD_SETLK) {
    errno = ENOLCK;
    return -1;
  }
  va_list list;
  va_start(list, command);
  void* const argument = va_arg(list, void*);
  va_end(list);
  static const auto real = reinterpret_cast<int (*)(int, int, ...)>(dlsym(RTLD_NEXT, "fcntl64"));
  return real(descriptor, command, argument);
}

extern "C" int fcntl(int descriptor, int command, ...) __attribute__((alias("fcntl64")));
