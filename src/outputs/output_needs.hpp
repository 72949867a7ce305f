#pragma once
#include "core/support/box3.hpp"
#include "io/case/case.hpp"
#include "solver/grid/grid.hpp"

namespace sluice {

/// What an output needs, in bytes.
struct OutputNeed {
  double size = 0;        ///< on disk: of a file of fields, or of a sample of a probe
  double memory = 0;      ///< device memory of all ranks: while a file is written, or for samples not yet written
  double own_memory = 0;  ///< the same for one rank
};

/// `owned`: the cells of that one rank.
OutputNeed fields_need(const io::FieldsSpec& spec, const Grid& grid, const FlowParameters& flow, const Box3& owned);
OutputNeed probe_need(const io::ProbeSpec& spec, const Grid& grid, const FlowParameters& flow, const Box3& owned);
/// Its scripts may need more.
OutputNeed catalyst_need(const io::CatalystSpec& spec, const Grid& grid, const FlowParameters& flow, const Box3& owned);

/// The files of all fields, at one time; the memory of all probes, of the fields for Catalyst and of the fields that
/// need the most, since one is written after the other.
OutputNeed outputs_need(const io::Case& settings, const Grid& grid, const Box3& owned);

}  // namespace sluice
