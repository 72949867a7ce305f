#pragma once
#include <functional>
#include <vector>

namespace sluice {

/// u, v and w around one row: solver/momentum/plane_ring.hpp.
struct VelocityRow;

/// What a CPU's momentum sweep calls for each row, after it has written R and u* there, while u, v and w around the row
/// are in cache, corrected. Terms that only some flows have then need no sweep of their own.
using RowTask = std::function<void(const VelocityRow&)>;
using RowTasks = std::vector<RowTask>;

}  // namespace sluice
