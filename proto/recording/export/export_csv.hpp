#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proto/recording/recording_reader.hpp"
#include "proto/result.hpp"

namespace proto {

/// Suffixes of the CSV columns of an inertial sensor, appended to the sensor's name: readings at
/// the row's sample [rad/s], [m/s²], and a bit mask of saturated axes.
inline constexpr std::array<std::string_view, 7> kInertialEndings = {
    "_gyro_x_rad_s", "_gyro_y_rad_s", "_gyro_z_rad_s", "_accel_x_m_s2",
    "_accel_y_m_s2", "_accel_z_m_s2", "_saturated"};

/// Returns the names of the CSV columns with motor commands: command_V for one motor in V or in an
/// unknown unit, command_<unit> for one motor in another unit, command_<motor>_<unit> for several
/// motors. Only letters and digits of the unit are kept: "N·m" becomes Nm.
std::vector<std::string> command_columns(const RecordingHeader& header);

/// Parses the names of CSV columns with motor commands, and writes the motors' joints and units
/// into `header`. The joint of a single motor is not in its column name.
/// @return false if a name is not the name of a command column
bool read_command_columns(std::span<const std::string> columns, RecordingHeader& header);

/// Writes the samples of a recording as CSV: a header line, then one line per sample, with columns
///
///   time_s, <joint>_rad (<joint>_m of a sliding joint) ..., commands, segment, sequence,
///   device_time_us, <joint>_counts ..., <joint>_valid ..., command_sequence, tripped, driving,
///   fault_flags, error_count, <sensor> and kInertialEndings ..., clock_error_ppm, release_s
///
/// from which the recording's content can be read back. The commands are command_columns(). The
/// last two columns are constant. clock_error_ppm is the rate error of the conversion unit's clock
/// relative to the host's clock; empty if unknown. release_s is the time at which a hand released
/// the rig; empty if no hand held it, 1e9 if it was never released.
///
/// A cell is empty if the angle channel was not valid, or if the inertial sensor was not read.
/// `segment` counts from 1 and increases where samples are missing. Numbers have enough digits to
/// parse to the same double. Memory use does not depend on the recording's length.
///
/// @param csv_path  must not exist; nothing is left there on an error
/// @return result of the scan, including damage
Result<RecordingScan> export_csv(const std::string& recording_path, const std::string& csv_path);

}  // namespace proto
