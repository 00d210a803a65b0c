#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proto/recording/recording_reader.hpp"
#include "proto/result.hpp"

namespace proto {

/// Columns of each inertial sensor in an export, behind its name: what it read at the row's sample
/// [rad/s], [m/s²], and which axes were at the end of their range, a bit each.
inline constexpr std::array<std::string_view, 7> kInertialEndings = {
    "_gyro_x_rad_s", "_gyro_y_rad_s", "_gyro_z_rad_s", "_accel_x_m_s2",
    "_accel_y_m_s2", "_accel_z_m_s2", "_saturated"};

/// Names of the columns that hold the commands, by motor: command_V for one motor in V or in a unit
/// that is not stated, command_<unit> for one in another, command_<motor>_<unit> for several. Of
/// the unit only letters and digits are kept: "N·m" is Nm.
std::vector<std::string> command_columns(const RecordingHeader& header);

/// What such names say of the motors: joints and units. One motor's joint is not named.
/// @return false: not all of them are columns of commands
bool read_command_columns(std::span<const std::string> columns, RecordingHeader& header);

/// Writes the samples of a recording as CSV: one line of names, one line a sample, columns
///
///   time_s, <hinge>_rad or, where it slides, <hinge>_m ..., commands, segment, sequence,
///   device_time_us, <hinge>_counts ..., <hinge>_valid ..., command_sequence, tripped, driving,
///   fault_flags, error_count, <sensor> and kInertialEndings ..., clock_error_ppm, release_s
///
/// so that reading it back gives what the recording gives. The last two are of the whole recording:
/// how fast the unit's clock is against the host's, empty where that is not known; and when a hand
/// let the rig go, empty where none was waited for, 1e9 where it never did.
///
/// The commands are command_columns().
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
