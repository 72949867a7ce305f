// To be preloaded into the program: kills the process before its call number SLUICE_KILL_CALL, counted from 1, of those
// calls of unlink and rename whose path contains SLUICE_KILL_PATH.
#include <dlfcn.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void count_call(const char* path) {
  static int calls = 0;
  const char* const part = std::getenv("SLUICE_KILL_PATH");
  const char* const last = std::getenv("SLUICE_KILL_CALL");
  if (part == nullptr || last == nullptr || std::strstr(path, part) == nullptr) return;
  if (++calls == std::atoi(last)) std::raise(SIGKILL);
}

}  // namespace

extern "C" int unlink(const char* path) {
  count_call(path);
  static const auto real = reinterpret_cast<int (*)(const char*)>(dlsym(RTLD_NEXT, "unlink"));
  return real(path);
}

extern "C" int rename(const char* from, const char* to) {
  count_call(from);
  static const auto real = reinterpret_cast<int (*)(const char*, const char*)>(dlsym(RTLD_NEXT, "rename"));
  return real(from, to);
}
