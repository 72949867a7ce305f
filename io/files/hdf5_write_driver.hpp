#pragma once
// How HDF5 touches a file that it writes. Two things that its own drivers do not give:
//
// HDF5 1.10 cannot survive a failed write: closing such a file fails, and the library then crashes when the
// program ends (in parallel it also reports success for data that is not there). Here a failed write is
// remembered while HDF5 goes on believing in it; whoever closes the file asks for the error afterwards.
//
// Space for a chunked dataset can be laid out without writing it. All ranks then write their chunks at the
// addresses given.
#include <cstdint>

namespace sluice::io::h5 {

/// Sets the driver in a file access property list (an hid_t). Opening a file with it forgets earlier write
/// errors, so one file is written at a time. Local. Throws Error(internal) if HDF5 refuses.
void use_write_driver(std::int64_t access_list);

/// The errno value of the first write to the current file that failed, or 0.
int write_error();

/// While it lives, raw data given to HDF5 gets its place in the file but is not written. Metadata is.
class HoldBackRawData {
 public:
  HoldBackRawData();
  ~HoldBackRawData();
  HoldBackRawData(const HoldBackRawData&) = delete;
  HoldBackRawData& operator=(const HoldBackRawData&) = delete;
};

}  // namespace sluice::io::h5
