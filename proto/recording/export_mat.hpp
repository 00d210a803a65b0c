#pragma once

#include <string>

#include "proto/recording/recording_reader.hpp"
#include "proto/result.hpp"

namespace proto {

inline constexpr const char* kMatReadings = "reading";
inline constexpr const char* kMatUnits = "reading_unit";

/// Writes a recording as a MAT file, version 5, for MATLAB, Octave and SciPy. Variables, n samples
/// and h hinges:
///
///   time_s, command_V, segment, sequence, device_time_us, command_sequence,
///   tripped, driving, fault_flags, error_count         n×1
///   angle_rad, encoder_counts, valid                   n×h, NaN angles where not valid
///   gaps                                               m×2: first missing sequence, how many
///   hinges                                             1×h cell of names
///   reading, reading_unit                              n×h, 1×h cell of "rad" and "m": instead of
///                                                      angle_rad where joints slide
///   clock                                              k×3: time_s, rate error and its sd [ppm]
///   release_s                                          1×1: when a hand let the rig go; -Inf where
///                                                      none was waited for, Inf: it never did
///   facts                                              struct: the header's facts as text
///
/// @param mat_path  must not exist; nothing is left there on an error
/// @return what was read, damage included
Result<RecordingScan> export_mat(const std::string& recording_path, const std::string& mat_path);

}  // namespace proto
