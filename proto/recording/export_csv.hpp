#pragma once

#include <string>

#include "proto/recording/recording_reader.hpp"
#include "proto/result.hpp"

namespace proto {

/// Writes the samples of a recording as CSV: one line of names, one line a sample, columns
///
///   time_s, <hinge>_rad ..., command_V, segment, sequence, device_time_us,
///   <hinge>_counts ..., <hinge>_valid ..., command_sequence, tripped, driving, fault_flags,
///   error_count, clock_error_ppm, release_s
///
/// so that reading it back gives what the recording gives. The last two are of the whole recording:
/// how fast the unit's clock is against the host's, empty where that is not known; and when a hand
/// let the rig go, empty where none was waited for, 1e9 where it never did.
///
/// An angle is empty where its channel was not valid. `segment` counts from 1 and goes up where
/// samples are missing. Numbers have as many digits as it takes to read the same double again.
/// Memory does not grow with the recording.
///
/// @param csv_path  must not exist; nothing is left there on an error
/// @return what was read, damage included
Result<RecordingScan> export_csv(const std::string& recording_path, const std::string& csv_path);

}  // namespace proto
