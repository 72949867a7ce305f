#pragma once
// The precisions of a build. Each is a program of its own, compiled from the same sources: `sluice` for the first, and
// beside it one such as `sluice-single` for each other. A process turns into the program of the precision that it needs
// before it starts MPI, so that its speed is that of a program with this precision alone.
#include <mpi.h>

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Of this build, that of `sluice` first.
std::vector<std::string> precisions();

/// Goes on as the program of this precision with the same arguments: replaces the process. Returns if this is that
/// program, or if the build has no such program or cannot start it, which require_precision reports when the ranks can
/// speak with one voice. Call it before MPI starts. Local.
void use_program_of(std::string_view precision, char** argv);

/// Throws Error(usage) on all ranks if this process of any rank does not compute in this precision. `what`: where the
/// precision was asked for, such as solver.precision. Collective.
void require_precision(std::string_view precision, std::string_view what, MPI_Comm comm);

}  // namespace sluice
