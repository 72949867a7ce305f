#pragma once
// A table of profiles is a struct such as CenterProfiles: `axis` is their location, at(CellType) reads the fields, and
// visit(values, visitor) calls visitor(label, value) for each profile. The labels, their number and the kernel that
// reduces all profiles in one pass follow from visit(). On the z faces, `zero_on_walls` says that at() serves the inner
// faces alone.
#include <array>
#include <string>
#include <vector>

#include "core/device/parallel_for.hpp"
#include "model/statistics_block.hpp"

namespace sluice {

/// The description of a profile in files.
struct ProfileLabel {
  const char* name;
  const char* long_name;
  const char* units = "1";
};

namespace detail {

struct CountProfiles {
  int count = 0;
  SLUICE_INLINE constexpr void operator()(const ProfileLabel& /*label*/, double /*value*/) { ++count; }
};

struct TakeLabels {
  ProfileLabel* next;
  SLUICE_INLINE constexpr void operator()(const ProfileLabel& label, double /*value*/) { *next++ = label; }
};

template <class Table>
constexpr int count_profiles() {
  CountProfiles counter;
  Table::visit({}, counter);
  return counter.count;
}

}  // namespace detail

template <class Table>
inline constexpr int profile_count = detail::count_profiles<Table>();

/// Appends the descriptions of a table's profiles in the order of their values. In a table that serves several fields,
/// labels are appended to the field's `name` and `long_name`.
template <class Table>
void append_profiles(std::vector<ProfileInfo>& list, const std::string& name = "", const std::string& long_name = "") {
  std::array<ProfileLabel, static_cast<std::size_t>(profile_count<Table>)> labels{};
  detail::TakeLabels take{labels.data()};
  Table::visit({}, take);
  for (const ProfileLabel& label : labels)
    list.push_back({name + label.name, long_name + label.long_name, label.units, Table::axis});
}

/// The profiles of two tables at the same places, which one loop reduces because they read the same values.
template <class First, class Second>
struct Together {
  static_assert(First::axis == Second::axis);
  using CellType = typename First::CellType;
  static constexpr ProfileAxis axis = First::axis;
  static constexpr bool zero_on_walls = First::zero_on_walls;

  First first;
  Second second;

  struct Values {
    typename First::Values first;
    typename Second::Values second;
  };

  template <class Visitor>
  SLUICE_INLINE static constexpr void visit(const Values& c, Visitor& profile) {
    First::visit(c.first, profile);
    Second::visit(c.second, profile);
  }

  SLUICE_INLINE Values at(const CellType& c) const { return {first.at(c), second.at(c)}; }
};

/// The values of all profiles of a table in one cell: a kernel for reduce_planes.
template <class Table>
struct ProfileKernel {
  using CellType = typename Table::CellType;
  Table table;

  struct TakeValues {
    double* values;
    int count = 0;
    SLUICE_INLINE constexpr void operator()(const ProfileLabel& /*label*/, double value) { values[count++] = value; }
  };

  SLUICE_INLINE void operator()(CellType c, double (&values)[profile_count<Table>]) const {
    TakeValues take{values};
    Table::visit(table.at(c), take);
  }
};

}  // namespace sluice
