// To be preloaded into the program: the time of day goes back by an hour at every second look at it, as when a clock is
// set during a run. Clocks that measure durations go on as usual.
#include <dlfcn.h>
#include <sys/time.h>

#include <atomic>
#include <ctime>

namespace {

constexpr time_t jump = 3600;

time_t behind() {
  static std::atomic<unsigned> looks = 0;
  return ++looks % 2 == 0 ? jump : 0;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) {
  using Function = int(clockid_t, timespec*);
  const int code = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, "clock_gettime"))(clock, now);
  if (clock == CLOCK_REALTIME) now->tv_sec -= behind();
  return code;
}

int gettimeofday(timeval* now, void* zone) {
  using Function = int(timeval*, void*);
  const int code = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, "gettimeofday"))(now, zone);
  now->tv_sec -= behind();
  return code;
}

time_t time(time_t* now) {
  timespec precise{};
  clock_gettime(CLOCK_REALTIME, &precise);
  if (now != nullptr) *now = precise.tv_sec;
  return precise.tv_sec;
}

}  // extern "C"
