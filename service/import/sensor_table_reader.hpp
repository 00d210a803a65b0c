#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/signal/time_series.hpp"
#include "proto/text/csv_table.hpp"
#include "service/import/recording_format.hpp"

namespace service {

/// Readings of inertial and other sensors in SI units, converted from a table to segments.
/// Saturated readings count as not observed.
class SensorTableReader {
 public:
  /// @param first        index of the first inertial column in the table's requests
  /// @param first_angle  index of the first angle column
  /// @throws proto::InputError for readings that only a wrong unit explains
  SensorTableReader(const RecordingFormat& format, const proto::CsvTable& table, int first,
                    int first_angle);

  /// Adds messages on missing and saturated readings.
  void add_notes(std::vector<std::string>& notes) const;

  /// Returns a Segment::inertial of NaN for this number of rows.
  Eigen::MatrixXd empty_readings(int rows) const;

  /// Copies a row of the table to a row of the segment.
  void write_row(int from, Eigen::Index to, estimator::Segment& segment) const;

 private:
  struct Readings {
    const SensorColumn* column = nullptr;
    int request = 0;
    std::vector<double> values = {};  ///< [SI unit], NaN if missing or saturated
    int saturated = 0;
  };

  bool rests(const Readings& readings, std::size_t first, std::size_t end, int first_angle) const;
  void drop_saturated(Readings& readings) const;
  void drop_clipped_runs(Readings& readings, int first_angle) const;
  void check_units() const;
  void check_gravity(int sensor) const;
  const Readings* find(int index) const;

  const RecordingFormat& format_;
  const proto::CsvTable& table_;
  std::vector<Readings> columns_;
};

}  // namespace service
