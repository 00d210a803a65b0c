#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "estimator/signal/time_series.hpp"
#include "proto/text/csv_table.hpp"
#include "service/import/recording_format.hpp"

namespace service {

/// What inertial sensors read, in SI units, on its way from a table into segments. Readings at the
/// end of a sensor's range are not observed.
class InertialReadings {
 public:
  /// @param first        the format's first inertial column among the table's requests
  /// @param first_angle  its first angle
  /// @throws proto::InputError for what only a wrong unit explains
  InertialReadings(const RecordingFormat& format, const proto::CsvTable& table, int first,
                   int first_angle);

  /// What was not read or is not used.
  void add_notes(std::vector<std::string>& notes) const;

  /// Segment::inertial of so many rows that hold nothing yet.
  Eigen::MatrixXd no_readings(int rows) const;

  /// Writes a row of the table into one of the segment.
  void write_row(int from, Eigen::Index to, estimator::Segment& segment) const;

 private:
  struct Readings {
    const InertialColumn* column = nullptr;
    int request = 0;
    std::vector<double> values = {};  ///< [rad/s or m/s²], NaN where not read
    int saturated = 0;
  };

  bool rests(const Readings& readings, std::size_t first, std::size_t end, int first_angle) const;
  void drop_beyond_range(Readings& readings) const;
  void drop_held_extremes(Readings& readings, int first_angle) const;
  void check_units() const;
  void check_gravity(int sensor) const;
  const Readings* find(int index) const;

  const RecordingFormat& format_;
  const proto::CsvTable& table_;
  std::vector<Readings> columns_;
};

}  // namespace service
