#pragma once

#include <string>

#include "proto/recording/recording_reader.hpp"
#include "proto/result.hpp"

namespace proto {

inline constexpr const char* kMatReadings = "reading";
inline constexpr const char* kMatUnits = "reading_unit";
inline constexpr const char* kMatCommands = "command";
inline constexpr const char* kMatMotors = "motors";
inline constexpr const char* kMatCommandUnits = "command_units";

/// Writes a recording as a MAT file, version 5, for MATLAB, Octave and SciPy. Variables, n samples
/// and h joints:
///
///   time_s, commands, segment, sequence, device_time_us, command_sequence,
///   tripped, driving, fault_flags, error_count         n×1
///   angle_rad, encoder_counts, valid                   n×h, NaN angles where not valid
///   gaps                                               m×2: first missing sequence, sample count
///   joints                                             1×h cell of names
///   command_V or, in another unit, command_<unit>      n×1 for one motor, as in a CSV file
///   command, motors, command_units                     n×m, 1×m cells: for several motors
///   reading, reading_unit                              n×h, 1×h cell of "rad" and "m": instead of
///                                                      angle_rad if any joint slides
///   clock                                              k×3: time_s, rate error and its sd [ppm]
///   release_s                                          1×1: when a hand released the rig; -Inf if
///                                                      none held it, Inf if it never did
///   facts                                              struct: the header's other entries as text
///
/// @param mat_path  must not exist; nothing is left there on an error
/// @return result of the scan, including damage
Result<RecordingScan> export_mat(const std::string& recording_path, const std::string& mat_path);

}  // namespace proto
