// multiply_add: rounded twice on the host, in every build and for every type; once on a GPU.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "core/device/buffer.hpp"
#include "core/device/parallel_for.hpp"
#include "core/support/real.hpp"

namespace sluice {
namespace {

/// 1 + eps: its square, 1 + 2 eps + eps^2, rounds to 1 + 2 eps.
template <class T>
std::vector<T> number_whose_square_rounds() {
  return {1 + std::numeric_limits<T>::epsilon()};
}

/// What multiply_add makes of x x - (x x, rounded).
template <class T>
struct RoundingOfSquare {
  const T* x;
  T* result;
  SLUICE_INLINE void operator()(int i, int /*j*/, int /*k*/) const {
    const T rounded = x[i] * x[i];
    result[i] = multiply_add(x[i], x[i], -rounded);
  }
};

template <class T>
class Real : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Real, Types);

TYPED_TEST(Real, HostRoundsTheProductAndTheSum) {
  const std::vector<TypeParam> x = number_whose_square_rounds<TypeParam>();
  TypeParam result = 1;
  RoundingOfSquare<TypeParam>{x.data(), &result}(0, 0, 0);
  EXPECT_EQ(result, 0);
}

TYPED_TEST(Real, GpuRoundsOnlyTheSum) {
  const Buffer<TypeParam> x(number_whose_square_rounds<TypeParam>());
  Buffer<TypeParam> result(1);
  parallel_for("multiply_add", Box3{{0, 0, 0}, {1, 1, 1}}, RoundingOfSquare<TypeParam>{x.data(), result.data()});
  const TypeParam eps = std::numeric_limits<TypeParam>::epsilon();
  EXPECT_EQ(result.download()[0], loops_on_gpu ? eps * eps : 0);
}

}  // namespace
}  // namespace sluice
