#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/signal/time_series.hpp"
#include "proto/text/table/csv_table.hpp"
#include "service/rig/recording_format.hpp"

namespace service {

/// Reads the sensor columns of a table, except encoder columns, and copies the readings to segments
/// in SI units. Saturated readings count as missing, and so do rows that repeat a reading of a
/// sensor slower than the recording.
class SensorTableReader {
 public:
  /// Converts the sensor columns of a table to SI units and checks them.
  /// @param first        index of the first sensor column among the columns of the table
  /// @param first_angle  index of the first angle column among the columns of the table
  /// @throws proto::InputError for readings that only a wrong unit explains
  SensorTableReader(const RecordingFormat& format, const proto::CsvTable& table, int first,
                    int first_angle);

  /// Appends messages on missing, saturated and repeated sensor readings to `notes`.
  void add_reading_notes(std::vector<std::string>& notes) const;

  /// Returns a matrix of missing sensor readings (NaN) with the columns of Segment::inertial.
  Eigen::MatrixXd make_missing_readings(int rows) const;

  /// Copies the sensor readings in row `from` of the table to row `to` of a segment.
  void copy_row_readings(int from, Eigen::Index to, estimator::Segment& segment) const;

 private:
  struct SensorReadings {
    const SensorColumn* column = nullptr;
    int request = 0;
    std::vector<double> values = {};  ///< [SI unit]; NaN if missing, saturated or repeated
    int saturated = 0;                ///< number of saturated readings
    int repeated = 0;                 ///< number of rows that repeat an earlier reading
  };

  bool rests(const SensorReadings& readings, std::size_t first, std::size_t end,
             int first_angle) const;
  void drop_saturated_readings(SensorReadings& readings) const;
  void drop_clipped_readings(SensorReadings& readings, int first_angle) const;
  static void drop_repeated_readings(SensorReadings& readings);
  void check_units() const;
  void check_gravity_unit(int sensor) const;
  const SensorReadings* find(int index) const;

  const RecordingFormat& format_;
  const proto::CsvTable& table_;
  std::vector<SensorReadings> columns_;
};

}  // namespace service
