#pragma once

#include <string>
#include <utility>
#include <vector>

#include "proto/check/number_check.hpp"
#include "proto/text/table/csv_table.hpp"
#include "service/recordings/row_times.hpp"
#include "service/rig/recording_format.hpp"

namespace service {

/// Checks that numbers are in the range allowed in rigcal-daq recordings. NaN is accepted.
/// @throws proto::InputError with the row of the first number out of range
void check_column_range(const proto::NumberRange& range, const proto::CsvTable& table, int request,
                        const std::string& column, const std::vector<double>& values);

/// Imports one encoder column, and converts it to rad (or to m for a prismatic joint).
class AngleImport {
 public:
  /// Converts and checks the readings.
  /// @param request  index of the column among the requested columns of the table
  /// @param notes    receives a note if a counter that wraps was unwrapped
  AngleImport(const EncoderColumn& column, const proto::CsvTable& table, int request,
              const RowTimes& time, std::vector<std::string>& notes);

  /// Unwraps angles that were recorded modulo one turn.
  void unwrap(const std::vector<double>& times, double speed_max, std::vector<std::string>& notes);

  /// Checks joint speeds. Throws if only a wrong unit explains a speed. Ignores up to
  /// kOutliersInARow consecutive false readings, which the estimator rejects as outliers.
  void check_speed(const TableSegment& stretch, const RowTimes& time, double speed_max) const;

  /// Appends notes on data that are valid but suspicious.
  void add_notes(std::vector<std::string>& notes) const;

  bool moves() const {
    const auto [low, high] = range();
    return high > low;
  }

  double at(int row) const { return angles_[static_cast<std::size_t>(row)]; }

 private:
  void remove_impossible_readings(std::vector<std::string>& notes);
  std::vector<double> running_medians(int first, int count) const;
  int largest_step(int first, int last) const;
  std::pair<double, double> range() const;
  [[noreturn]] void refuse_speed(int row, double speed, double speed_max) const;

  const EncoderColumn& column_;
  const proto::CsvTable& table_;
  int request_;
  std::vector<double> angles_;
};

}  // namespace service
