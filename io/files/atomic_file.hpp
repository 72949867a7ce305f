#pragma once
#include <string>
#include <string_view>

namespace sluice::io {

/// Appended to a file's name while it is being written; what bears it after a crash is rubbish.
inline constexpr const char* unfinished_suffix = ".tmp";

/// Replaces the file by `content`, so that a reader, or a crash at any moment, finds either the old content
/// or the new one in full: written under PATH.tmp, on the disk, then renamed. Local. Throws Error(io), a full
/// disk included; the old file is then as it was.
void write_atomically(const std::string& path, std::string_view content);

/// Removes every unfinished file of the directory, left by a run that was killed. A missing directory holds
/// none. Local.
void remove_unfinished(const std::string& directory);

}  // namespace sluice::io
