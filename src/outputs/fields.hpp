#pragma once
#include "core/support/box3.hpp"
#include "io/case/case.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// What output.fields needs, in bytes.
struct FieldsNeed {
  double file = 0;        ///< on disk
  double memory = 0;      ///< device memory of all ranks while a file is written
  double own_memory = 0;  ///< the same for one rank
};

/// `owned`: the cells of that one rank.
FieldsNeed fields_need(const io::FieldsSpec& spec, const Grid& grid, const FlowParameters& flow, const Box3& owned);

}  // namespace sluice
