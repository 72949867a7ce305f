#include "io/files/checkpoint_format.hpp"

#include "io/files/hdf5.hpp"

namespace sluice::io {

Values root_values(const char* format, const Provenance& provenance) {
  Values values;
  values.set("format", format);
  values.set("format_version", format::version);
  values.set("sluice_version", provenance.sluice_version);
  values.set("git_revision", provenance.git_revision);
  values.set("resolved_case", provenance.resolved_case);
  return values;
}

Values check_root(const h5::File& file, const char* format) {
  const h5::Group root = file.group("/");
  if (!root.has("format") || root.text("format") != format) {
    throw Error(ExitCode::restart, file.path() + ": this is not a " + format + " file");
  }
  if (root.integer("format_version") > format::version) {
    throw Error(ExitCode::restart, file.path() + ": written by a later version of Sluice (" +
                                       root.text("sluice_version") +
                                       "), in a format that this one does not know; use that version");
  }
  return read_values(file, "/");
}

}  // namespace sluice::io
