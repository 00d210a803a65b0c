#pragma once

#include <optional>
#include <string>
#include <vector>

#include "proto/text/table/csv_table.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/rig/recording_format.hpp"

namespace service {

/// Indices of the columns of a recording format among the requested columns of a table.
struct ColumnIndices {
  int time = -1;           ///< time stamps; −1 if format.rate gives the times
  int segment = -1;        ///< column whose changes start a segment; −1 if none
  int first_angle = 0;     ///< first encoder column
  int first_control = 0;   ///< first control column
  int first_inertial = 0;  ///< first column of another sensor
  int first_contact = 0;   ///< first column of a contact, after all sensors

  bool is_reading(std::size_t column) const {
    const auto at = static_cast<int>(column);
    return (at >= first_angle && at < first_control) ||
           (at >= first_inertial && at < first_contact);
  }
};

/// Sampling times of the rows of a table.
struct RowClock {
  std::vector<double> times;  ///< one per row, increasing [s]
  /// Sensors or commands have time stamps of their own, so rows are not samples of one clock.
  bool has_several = false;
  /// Rounding unit of the time stamps that `times` replace [s]; 0 if time stamps are not rounded.
  double unit = 0.0;
  /// Jitter of rows that arrive in bursts.
  std::optional<ImportSummary::ArrivalJitter> arrival = {};
  /// Rows whose control is unknown, increasing. The motion from such a row to the next one is not
  /// used.
  std::vector<std::size_t> unknown_controls = {};
  std::vector<std::string> notes = {};  ///< messages for the user
};

/// Sorts the rows of a table by time. Rows with equal times keep their order.
/// @return number of rows that followed a row with a later time
int sort_rows(int time, proto::CsvTable& table);

/// Merges successive rows with equal times if no column has a value in both rows. Rows with equal
/// values are merged too, unless some rows of the table with equal times have different values.
/// @return number of rows that were merged into the row before
int merge_equal_times(int time, proto::CsvTable& table);

/// Arranges the rows of a log in which several clocks may occur, and returns their times.
///
/// - Rows of several sources, each in order of time, are sorted. Rows with equal times are merged.
/// - A control value applies until the next one. Rows before the first value are removed. But if a
///   column has a value in most rows with readings, the values in all other rows are lost: a lost
///   value is known only between two equal values.
/// - If rows arrive in bursts, the sample clock replaces the arrival times (recover_burst_clock).
/// - A regular clock replaces coarsely rounded time stamps (recover_rounded_clock).
///
/// @throws proto::InputError if time does not increase, or a control column has no values
RowClock arrange_rows(const RecordingFormat& format, const ColumnIndices& indices,
                      proto::CsvTable& table);

/// Returns the advice to replace the time column by the mean sampling rate, for rows whose time
/// stamps cannot be used.
std::string constant_rate_advice(const std::vector<double>& times);

}  // namespace service
