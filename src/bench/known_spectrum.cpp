#include "src/bench/known_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/device/parallel_for.hpp"
#include "core/support/random.hpp"
#include "src/bench/place_of_error.hpp"

namespace sluice {

namespace {

using Complex = std::complex<real>;

/// Real and imaginary part.
struct Parts {
  double re, im;
};

/// The product at the local indices of a box.
struct Product {
  KnownSpectrum::Sequences sequences;
  std::int64_t x0, y0, z0;
  double factor;

  SLUICE_INLINE Parts operator()(int i, int j, int k) const {
    const Parts x = at(0, x0 + i), y = at(1, y0 + j), z = at(2, z0 + k);
    const Parts product = times(times(x, y), z);
    return {factor * product.re, factor * product.im};
  }

 private:
  SLUICE_INLINE Parts at(int axis, std::int64_t n) const {
    return {sequences[axis][2 * n], sequences[axis][2 * n + 1]};
  }
  SLUICE_INLINE static Parts times(Parts a, Parts b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
};

template <class Value>
struct WriteProduct {
  Product product;
  View3<Value> array;

  SLUICE_INLINE void operator()(int i, int j, int k) const {
    const Parts value = product(i, j, k);
    auto* const parts = reinterpret_cast<real*>(&array(i, j, k));
    parts[0] = static_cast<real>(value.re);
    if constexpr (sizeof(Value) > sizeof(real)) parts[1] = static_cast<real>(value.im);
  }
};

struct ErrorOfCoefficient {
  Product known;
  View3<const Complex> array;

  SLUICE_INLINE double operator()(Cell c) const {
    const Parts right = known(c.i, c.j, c.k);
    const auto* const found = reinterpret_cast<const real*>(&array(c.i, c.j, c.k));
    const double of_re = magnitude(static_cast<double>(found[0]) - right.re);
    const double of_im = magnitude(static_cast<double>(found[1]) - right.im);
    return (of_re > of_im ? of_re : of_im) + 0 * (of_re + of_im);  // not finite if one of them is not
  }
  SLUICE_INLINE static double magnitude(double value) { return value < 0 ? -value : value; }
};

Product product_on(const Box3& box, const KnownSpectrum::Sequences& sequences, double factor) {
  return {sequences, box.lo[0], box.lo[1], box.lo[2], factor};
}

using Exact = std::complex<long double>;

/// sum of values(n) exp(-2 pi i k n / count) for each k.
std::vector<Exact> coefficients_of(const std::vector<Exact>& values) {
  const std::size_t count = values.size();
  std::vector<Exact> roots(count);
  for (std::size_t n = 0; n < count; ++n) {
    const long double turns = static_cast<long double>(n) / static_cast<long double>(count);
    roots[n] = std::polar(1.0L, -2 * std::numbers::pi_v<long double> * turns);
  }
  std::vector<Exact> sums(count);
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t root = 0;
    for (const Exact& value : values) {
      sums[k] += value * roots[root];
      root = (root + k) % count;
    }
  }
  return sums;
}

}  // namespace

KnownSpectrum::KnownSpectrum(std::uint64_t seed, const std::array<std::int64_t, 3>& cells, FftType type) {
  std::uint64_t count = 0;
  const auto random = [&] { return static_cast<long double>(uniform01(seed, count++) - 0.5); };
  std::vector<double> numbers;
  const auto append = [&numbers](const std::vector<Exact>& sequence) {
    for (const Exact& number : sequence) {
      numbers.push_back(static_cast<double>(number.real()));
      numbers.push_back(static_cast<double>(number.imag()));
    }
  };
  for (const std::int64_t n : cells) {
    std::vector<Exact> values(static_cast<std::size_t>(n));
    for (Exact& value : values) {
      value.real(random());
      if (type == FftType::complex_to_complex) value.imag(random());
    }
    const std::vector<Exact> coefficients = coefficients_of(values);
    append(values);
    append(coefficients);
    double largest = 0;
    for (const Exact& coefficient : coefficients)
      largest = std::max(largest, static_cast<double>(std::abs(coefficient)));
    largest_ *= largest;
  }
  numbers_ = Buffer<double>(numbers);
  const double* next = numbers_.data();
  for (std::size_t axis = 0; axis < 3; ++axis) {
    values_[axis] = next;
    coefficients_[axis] = next + 2 * cells[axis];
    next += 4 * cells[axis];
  }
}

void KnownSpectrum::write(View3<real> array, const Box3& box, double factor) const {
  parallel_for("known spectrum", box.local(), WriteProduct<real>{product_on(box, values_, factor), array});
}

void KnownSpectrum::write(View3<Complex> array, const Box3& box, double factor) const {
  parallel_for("known spectrum", box.local(), WriteProduct<Complex>{product_on(box, values_, factor), array});
}

Deviation KnownSpectrum::deviation(View3<const Complex> coefficients, const Box3& box, double factor) const {
  const ErrorOfCoefficient error{product_on(box, coefficients_, factor), coefficients};
  Deviation deviation = largest_of_ranks(largest_error(error, box));
  deviation.error /= largest_ * std::abs(factor);
  return deviation;
}

}  // namespace sluice
