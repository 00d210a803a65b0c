#pragma once

#include <string>

#include "proto/recording/recording_reader.hpp"
#include "proto/result.hpp"

namespace proto {

/// Writes the samples of a recording as CSV: one line of names, one line a sample, columns
///
///   time_s, <hinge>_rad ..., command_V, segment, sequence, device_time_us,
///   <hinge>_counts ..., <hinge>_valid ..., command_sequence, tripped, driving, fault_flags,
///   error_count
///
/// An angle is empty where its channel was not valid. `segment` counts from 1 and goes up where
/// samples are missing. Numbers have as many digits as it takes to read the same double again.
/// Memory does not grow with the recording.
///
/// @param csv_path  must not exist; nothing is left there on an error
/// @return what was read, damage included
Result<RecordingScan> export_csv(const std::string& recording_path, const std::string& csv_path);

}  // namespace proto
