// Buffer and Field: ownership, and where the views of a field point.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/decomp/field.hpp"
#include "core/decomp/field_copy.hpp"
#include "core/device/memory.hpp"
#include "core/support/error.hpp"

namespace sluice {
namespace {

static_assert(!std::is_copy_constructible_v<Field> && std::is_nothrow_move_constructible_v<Field>);
static_assert(std::is_trivially_copyable_v<View3<real>>);
static_assert(std::is_convertible_v<View3<real>, View3<const real>>);
static_assert(!std::is_convertible_v<View3<const real>, View3<real>>);

TEST(Buffer, StartsZeroedAndComesBackAsUploaded) {
  Buffer<double> buffer(1000);
  EXPECT_EQ(buffer.download(), std::vector<double>(1000, 0.0));
  std::vector<double> values(1000);
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = static_cast<double>(n);
  buffer.upload(values);
  EXPECT_EQ(buffer.download(), values);
  EXPECT_EQ(Buffer<double>(values).download(), values);
}

TEST(Buffer, LeavesHeldMemoryToTheLastHolder) {
  const std::size_t before = device::allocated_bytes();
  std::shared_ptr<void> held;
  {
    Buffer<double> buffer(std::vector<double>(1000, 3.0));
    held = device::hold(buffer.data());
    const std::shared_ptr<void> other = device::hold(buffer.data());
    EXPECT_EQ(held.get(), other.get());
    device::hold(buffer.data()).reset();
  }
  EXPECT_EQ(device::allocated_bytes(), before + 8000);
  double last = 0;
  device::copy(&last, static_cast<double*>(held.get()) + 999, sizeof(last));
  EXPECT_EQ(last, 3.0);
  held.reset();
  EXPECT_EQ(device::allocated_bytes(), before);
  Buffer<double> kept(10);
  device::hold(kept.data()).reset();  // a holder that ends first leaves the array to its owner
  EXPECT_EQ(kept.download(), std::vector<double>(10, 0.0));
}

TEST(Buffer, OwnsItsMemoryOnce) {
  const std::size_t before = device::allocated_bytes();
  {
    Buffer<double> first(100);
    const double* const data = first.data();
    Buffer<double> second(std::move(first));
    EXPECT_EQ(second.data(), data);
    Buffer<double> third(50);
    third = std::move(second);
    EXPECT_EQ(third.data(), data);
    EXPECT_EQ(third.size(), 100U);
    EXPECT_GE(device::peak_bytes(), before + 150 * sizeof(double));
  }
  EXPECT_EQ(device::allocated_bytes(), before);
  device::reset_peak_bytes();
  EXPECT_EQ(device::peak_bytes(), before);
}

TEST(Buffer, WithoutElementsHoldsNothing) {
  Buffer<double> buffer(0);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_TRUE(buffer.download().empty());
}

TEST(HostMemory, StartsZeroed) {
  auto* data = static_cast<unsigned char*>(device::allocate_host(4096));
  for (int n = 0; n < 4096; ++n) ASSERT_EQ(data[n], 0);
  device::release_host(data);
}

TEST(Field, HasOneHaloLayerInYAndZ) {
  Field field(Box3{{0, 5, 7}, {9, 15, 18}}, Location::z_face);
  EXPECT_EQ(field.local_box(), box_of(9, 10, 11));
  EXPECT_EQ(field.location(), Location::z_face);
  EXPECT_EQ(field.row_length(), 9);
  EXPECT_EQ(field.plane_length(), 9 * 12);
  EXPECT_EQ(field.bytes(), sizeof(real) * 9 * 12 * 13);
  const View3<real> view = field.view();
  const real* data = field.buffer().data();
  EXPECT_EQ(view.origin - data, 9 * 12 + 9);
  EXPECT_EQ(&view(0, -1, -1), data);
  EXPECT_EQ(&view(8, 10, 11) - data, 9 * 12 * 13 - 1);
  EXPECT_EQ(&view(3, 4, 5) - &view(2, 3, 4), 1 + 9 + 9 * 12);
}

TEST(Field, HalosMayBeWiderAndStorageOfAnotherPrecision) {
  BasicField<float> field(box_of(9, 3, 4), Location::x_face, 16, HaloWidth{3, 1});
  EXPECT_EQ(field.bytes(), sizeof(float) * 16 * 9 * 6);
  EXPECT_EQ(field.plane_length(), 16 * 9);
  const View3<float> view = field.view();
  EXPECT_EQ(&view(0, -3, -1), field.buffer().data());
  EXPECT_EQ(&view(8, 5, 4) - field.buffer().data(), 16 * 9 * 6 - 1 - 7);
  EXPECT_EQ(static_cast<void*>(&field.complex_view()(0, 1, 2)), static_cast<void*>(&view(0, 1, 2)));
}

TEST(Field, RowsMayBePadded) {
  Field field(box_of(9, 3, 4), Location::center, 16);
  EXPECT_EQ(field.local_box(), box_of(9, 3, 4));
  EXPECT_EQ(field.bytes(), sizeof(real) * 16 * 5 * 6);
  EXPECT_EQ(&field.view()(0, 1, 0) - &field.view()(0, 0, 0), 16);
  EXPECT_EQ(Field(box_of(9, 3, 4), Location::center, 5).row_length(), 9) << "never shorter than a row";
}

TEST(Field, ComplexViewCoversTheSameRows) {
  Field field(box_of(9, 3, 4), Location::center, 16);
  const auto rows = field.view();
  const auto spectrum = field.complex_view();
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      EXPECT_EQ(static_cast<void*>(&spectrum(0, j, k)), static_cast<void*>(&rows(0, j, k)));
    }
  }
  Field odd(box_of(9, 3, 4), Location::center);
  EXPECT_THROW(odd.complex_view(), Error);
}

TEST(FieldCopy, BringsCellsToADeviceAndBack) {
  Field field(Box3{{0, 5, 7}, {9, 15, 18}}, Location::center, 16);
  std::vector<real> values(9 * 10 * 11);
  for (std::size_t n = 0; n < values.size(); ++n) values[n] = static_cast<real>(n + 1);
  upload(values, field);
  EXPECT_EQ(download(field), values);
  const std::vector<real> part = download(field, Box3{{2, 3, 4}, {5, 5, 5}});
  EXPECT_EQ(part, (std::vector<real>{390, 391, 392, 399, 400, 401}));
  const std::vector<real> all = field.buffer().download();
  EXPECT_EQ(all.size() - values.size(), static_cast<std::size_t>(std::count(all.begin(), all.end(), real{0})))
      << "halo and padding are not written";
  EXPECT_THROW(upload(std::vector<real>(7), field), Error);
}

}  // namespace
}  // namespace sluice
