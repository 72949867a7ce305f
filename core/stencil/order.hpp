#pragma once

namespace sluice {

/// Order of accuracy of all differences and interpolations along x and y; along z it is 2.
enum class Order { second, fourth };

}  // namespace sluice
