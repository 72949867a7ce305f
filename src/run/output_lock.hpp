#pragma once
#include <string>

namespace sluice {

/// Locks an output directory for the rest of this process: its file `lock` names host, process and start. The kernel
/// drops the lock when the process ends, however it ends; the file stays. Call on rank 0 only, once. Returns "", or a
/// warning if the file system has no locks. Throws Error(usage), naming the holder, if another run holds the lock;
/// Error(io) if the file cannot be written.
[[nodiscard]] std::string lock_output_directory(const std::string& directory);

/// The process, host and start of the run that holds the lock of an output directory; empty if there is none. Takes no
/// lock. Local.
std::string lock_holder(const std::string& directory);

}  // namespace sluice
