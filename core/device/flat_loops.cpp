#include "core/device/flat_loops.hpp"

#include <algorithm>
#include <cstdint>

#include "core/device/parallel_for.hpp"
#include "core/support/random.hpp"

namespace sluice {

namespace {

constexpr std::int64_t row = 4096;
constexpr std::int64_t rows = 1024;

/// Calls kernel(n) for each index.
template <class Kernel>
struct Flat {
  Kernel kernel;
  std::int64_t size;

  SLUICE_INLINE void operator()(int i, int j, int k) const {
    const std::int64_t n = i + row * (j + rows * k);
    if (n < size) kernel(n);
  }
};

struct WriteNoise {
  real* values;

  SLUICE_INLINE void operator()(std::int64_t n) const {
    values[n] = static_cast<real>(uniform01(1, static_cast<std::uint64_t>(n)) - 0.5);
  }
};

struct CopyValue {
  real* to;
  const real* from;

  SLUICE_INLINE void operator()(std::int64_t n) const { to[n] = from[n]; }
};

template <class Kernel>
void for_each_value(const char* name, std::size_t size, const Kernel& kernel) {
  const auto count = static_cast<std::int64_t>(size);
  const std::int64_t all_rows = (count + row - 1) / row;
  const Box3 box = box_of(row, std::min(rows, all_rows), (all_rows + rows - 1) / rows);
  parallel_for(name, box, Flat<Kernel>{kernel, count});
}

}  // namespace

void fill_with_noise(real* values, std::size_t size) {
  for_each_value("noise", size, WriteNoise{values});
}

void copy_values(real* to, const real* from, std::size_t size) {
  for_each_value("copy", size, CopyValue{to, from});
}

}  // namespace sluice
