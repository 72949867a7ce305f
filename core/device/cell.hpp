#pragma once

namespace sluice {

/// Local index of a cell, with its two periodic neighbours in x: rows are whole on every rank.
struct Cell {
  int i, j, k;
  int west, east;  ///< i - 1 and i + 1, wrapped around
};

}  // namespace sluice
