#pragma once
// DIR/NAME.h5 of a probe or a slice as a reader of HDF5 sees it: what it joins must be there.
#include <string>
#include <vector>

namespace sluice::io {

namespace h5 {
class File;
}  // namespace h5

/// The names of the datasets in the root of NAME.h5 and of its parts, beside the fields.
std::vector<std::string> probe_names();

/// A sentence for each part that is missing, damaged, or not the one that NAME.h5 joins: HDF5 would read NaN there, or
/// damaged values. Empty if all are intact. Local; throws Error(restart) if NAME.h5 itself is damaged.
std::vector<std::string> problems_of_parts(const h5::File& joined);

}  // namespace sluice::io
