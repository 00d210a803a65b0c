#pragma once

#include <array>
#include <string>
#include <string_view>

#include "proto/recording/recording_reader.hpp"
#include "proto/result.hpp"

namespace proto {

/// Columns of each inertial sensor in an export, behind its name: what it read at the row's sample
/// [rad/s], [m/s²], and which axes were at the end of their range, a bit each.
inline constexpr std::array<std::string_view, 7> kInertialEndings = {
    "_gyro_x_rad_s", "_gyro_y_rad_s", "_gyro_z_rad_s", "_accel_x_m_s2",
    "_accel_y_m_s2", "_accel_z_m_s2", "_saturated"};

/// Writes the samples of a recording as CSV: one line of names, one line a sample, columns
///
///   time_s, <hinge>_rad or, where it slides, <hinge>_m ..., command_V, segment, sequence,
///   device_time_us, <hinge>_counts ..., <hinge>_valid ..., command_sequence, tripped, driving,
///   fault_flags, error_count, <sensor> and kInertialEndings ..., clock_error_ppm, release_s
///
/// so that reading it back gives what the recording gives. The last two are of the whole recording:
/// how fast the unit's clock is against the host's, empty where that is not known; and when a hand
/// let the rig go, empty where none was waited for, 1e9 where it never did.
///
/// An angle is empty where its channel was not valid, a cell of an inertial sensor where that was
/// not read. `segment` counts from 1 and goes up where
/// samples are missing. Numbers have as many digits as it takes to read the same double again.
/// Memory does not grow with the recording.
///
/// @param csv_path  must not exist; nothing is left there on an error
/// @return what was read, damage included
Result<RecordingScan> export_csv(const std::string& recording_path, const std::string& csv_path);

}  // namespace proto
