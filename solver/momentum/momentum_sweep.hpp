#pragma once
#include "core/device/deferred.hpp"
#include "solver/momentum/momentum_terms.hpp"
#include "solver/momentum/row_task.hpp"

namespace sluice {

/// R and u* of all three components in one sweep over `box`, the rank's x pencil in local indices. Blocks of a few
/// rows march in z, with the planes around each in cache or in a GPU's shared memory; a GPU runs one thread for each
/// cell where sizes or alignment do not suit that. A velocity that is not corrected needs can_correct(). tasks: for
/// each row; on a CPU only. largest_rate, if not null, gets the largest advective rate of u.
void sweep_momentum(const MomentumArrays& arrays, const Box3& box, const SweepForm& form, const RowTasks& tasks,
                    Deferred<double>* largest_rate);

/// Whether a sweep of arrays like these can form u from u* and the field `phi`.
bool can_correct(const MomentumArrays& arrays, const View3<const real>& phi, const Box3& box, const SweepForm& form);

}  // namespace sluice
