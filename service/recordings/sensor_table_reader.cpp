#include "service/recordings/sensor_table_reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/repeated_readings.hpp"
#include "proto/text/input_error.hpp"
#include "service/text/column_statistics.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr int kAxes = estimator::Sensor::kAxes;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// A range of ±2048 counts has a largest reading of +2047.
constexpr double kFullScale = 1.0 - 1e-3;  // share of the range
// Consecutive readings at a column's extreme that noise does not produce, in multiples of the usual
// number of repeated readings.
constexpr std::size_t kHeldReadings = 5;
// A smooth peak that holds one quantum for a time falls by nine quanta in the same time after it.
constexpr double kSmoothDrop = 10.0;  // [quanta]
// Share of the largest magnitude: the small extreme readings of a resting sensor are not saturated.
constexpr double kLargeShare = 0.5;
// Range of the median specific force [g] of a rig on earth, which is at rest much of the time.
constexpr double kGravityShareMin = 0.8, kGravityShareMax = 1.25;

/// Run of equal consecutive readings. Missing readings are skipped in counting the indices.
struct Run {
  std::size_t first = 0, end = 0;
};

/// Returns the indices of the rows that have a reading.
std::vector<std::size_t> rows_read(const std::vector<double>& values) {
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (!std::isnan(values[row])) rows.push_back(row);
  }
  return rows;
}

std::vector<Run> runs_of(const std::vector<double>& values, const std::vector<std::size_t>& rows) {
  std::vector<Run> runs;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (k > 0 && values[rows[k]] == values[rows[k - 1]]) {
      runs.back().end = k + 1;
    } else {
      runs.push_back({k, k + 1});
    }
  }
  return runs;
}

double usual_length(const std::vector<Run>& runs) {
  std::vector<double> lengths;
  for (const Run& run : runs) lengths.push_back(static_cast<double>(run.end - run.first));
  return median(lengths);
}

/// Returns the smallest nonzero difference between two readings; infinite if all are equal.
double quantum_of(const std::vector<double>& values, const std::vector<std::size_t>& rows) {
  std::vector<double> sorted;
  for (const std::size_t row : rows) sorted.push_back(values[row]);
  std::ranges::sort(sorted);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 1; k < sorted.size(); ++k) {
    if (sorted[k] > sorted[k - 1]) least = std::min(least, sorted[k] - sorted[k - 1]);
  }
  return least;
}

bool changes(const std::vector<double>& values, std::size_t first, std::size_t end) {
  double last = kNaN;
  for (std::size_t row = first; row < end; ++row) {
    if (std::isnan(values[row])) continue;
    if (!std::isnan(last) && values[row] != last) return true;
    last = values[row];
  }
  return false;
}

}  // namespace

SensorTableReader::SensorTableReader(const RecordingFormat& format, const proto::CsvTable& table,
                                     int first, int first_angle)
    : format_(format), table_(table) {
  for (std::size_t i = 0; i < format.inertial.size(); ++i) {
    SensorReadings& readings = columns_.emplace_back();
    readings.column = &format.inertial[i];
    readings.request = first + static_cast<int>(i);
    readings.values = table.values[static_cast<std::size_t>(readings.request)];
    for (double& value : readings.values) value *= readings.column->scale;
  }
  check_units();  // first, since a wrong unit makes readings look saturated
  for (SensorReadings& readings : columns_) {
    drop_saturated_readings(readings);
    drop_clipped_readings(readings, first_angle);
    drop_repeated_readings(readings);
  }
}

/// Replaces readings at the limits of the sensor's given range by NaN.
void SensorTableReader::drop_saturated_readings(SensorReadings& readings) const {
  if (!(readings.column->range > 0.0)) return;
  for (double& value : readings.values) {
    if (!(std::abs(value) >= kFullScale * readings.column->range)) continue;
    value = kNaN;
    ++readings.saturated;
  }
}

/// Checks that no encoder and no other sensor has changing readings in the rows first to end − 1.
bool SensorTableReader::rests(const SensorReadings& readings, std::size_t first, std::size_t end,
                              int first_angle) const {
  const auto is_still = [&](int request) {
    return !changes(table_.values[static_cast<std::size_t>(request)], first, end);
  };
  for (std::size_t i = 0; i < format_.angles.size(); ++i) {
    if (!is_still(first_angle + static_cast<int>(i))) return false;
  }
  return std::ranges::all_of(columns_, [&](const SensorReadings& other) {
    return other.request == readings.request || is_still(other.request);
  });
}

/// Replaces saturated readings by NaN if the sensor's range is unknown. Readings count as saturated
/// if they stay at the largest or smallest value for longer than a peak of a smooth motion.
void SensorTableReader::drop_clipped_readings(SensorReadings& readings, int first_angle) const {
  // The position of a resting marker has no full scale.
  if (readings.column->reading == estimator::MeasuredQuantity::kPosition) return;
  // Unscaled, since scaling may add rounding.
  const std::vector<double>& raw = table_.values[static_cast<std::size_t>(readings.request)];
  const std::vector<std::size_t> rows = rows_read(raw);
  const std::vector<Run> runs = runs_of(raw, rows);
  if (runs.size() < 3) return;
  const auto at = [&](std::size_t k) { return raw[rows[k]]; };
  const double least_drop = kSmoothDrop * quantum_of(raw, rows);
  const double least_length = static_cast<double>(kHeldReadings) * usual_length(runs);
  double low = at(0), high = at(0);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    low = std::min(low, at(k));
    high = std::max(high, at(k));
  }
  const double large = kLargeShare * std::max(std::abs(low), std::abs(high));
  for (const Run& run : runs) {
    const double level = at(run.first);
    const std::size_t length = run.end - run.first;
    if ((level != low && level != high) || !(std::abs(level) >= large)) continue;
    if (!(static_cast<double>(length) >= least_length)) continue;
    if (run.first == 0 || run.end == rows.size()) continue;
    const std::size_t before = run.first - std::min(length, run.first);
    const std::size_t after = std::min(run.end + length, rows.size()) - 1;
    const bool drops =
        std::abs(level - at(before)) >= least_drop && std::abs(level - at(after)) >= least_drop;
    if (!drops || rests(readings, rows[run.first], rows[run.end - 1] + 1, first_angle)) continue;
    for (std::size_t k = run.first; k < run.end; ++k) {
      double& value = readings.values[rows[k]];
      if (!std::isnan(value)) ++readings.saturated;
      value = kNaN;
    }
  }
}

/// Replaces repetitions of a slow sensor's readings by NaN (estimator::find_rows_per_reading).
void SensorTableReader::drop_repeated_readings(SensorReadings& readings) {
  std::vector<double>& values = readings.values;
  const auto column = Eigen::VectorXd::Map(values.data(), std::ssize(values));
  const double quantum = quantum_of(values, rows_read(values));
  const double rows = estimator::find_rows_per_reading({column}, quantum);
  if (!(rows > 1.0)) return;
  const std::vector<int> repeated = estimator::find_repeated_rows(column, rows);
  for (const int row : repeated) values[static_cast<std::size_t>(row)] = kNaN;
  readings.repeated = static_cast<int>(repeated.size());
}

const SensorTableReader::SensorReadings* SensorTableReader::find(int index) const {
  const auto found = std::ranges::find_if(
      columns_, [&](const SensorReadings& each) { return each.column->index == index; });
  return found == columns_.end() ? nullptr : &*found;
}

/// Checks the unit of a three-axis accelerometer, which reads 1 g at rest in any orientation.
void SensorTableReader::check_gravity_unit(int sensor) const {
  const SensorReadings* axes[3];
  for (int k = 0; k < 3; ++k) {
    axes[k] = find(sensor * kAxes + kAxes / 2 + k);
    if (axes[k] == nullptr) return;
    if (axes[k]->column->reading != estimator::MeasuredQuantity::kSpecificForce) return;
  }
  std::vector<double> magnitudes;
  for (std::size_t row = 0; row < axes[0]->values.size(); ++row) {
    const double magnitude =
        std::hypot(axes[0]->values[row], axes[1]->values[row], axes[2]->values[row]);
    if (!std::isnan(magnitude)) magnitudes.push_back(magnitude);
  }
  const double usual = median(magnitudes);
  const auto is_about = [&](double gravity) {
    return usual >= kGravityShareMin * gravity && usual <= kGravityShareMax * gravity;
  };
  const bool is_in_g = axes[0]->column->in_si && is_about(1.0);
  const bool is_in_si = !axes[0]->column->in_si &&
                        is_about(estimator::kStandardGravity * estimator::kStandardGravity);
  if (!is_in_g && !is_in_si) return;
  throw proto::InputError(
      axes[0]->column->place + ": inertial sensor \"" + axes[0]->column->sensor + "\" in " +
      table_.path + " has a median specific force of " + format_number(usual, 3) +
      " m/s², but gravity is " + format_number(estimator::kStandardGravity, 3) +
      (is_in_g ? " m/s². Its columns are in g: write unit: STANDARD_GRAVITY"
               : " m/s². Its columns are in m/s²: write unit: METER_PER_SECOND_SQUARED"));
}

void SensorTableReader::check_units() const {
  for (const SensorReadings& each : columns_) {
    if (each.column->reading != estimator::MeasuredQuantity::kRate) continue;
    std::vector<double> speeds;
    for (const double rate : each.values) {
      if (!std::isnan(rate)) speeds.push_back(std::abs(rate));
    }
    const double usual = median(speeds);
    if (!(usual > format_.speed_max)) continue;
    throw proto::InputError(
        each.column->place + ": column \"" + each.column->column + "\" in " + table_.path +
        " has a median angular velocity of " + format_number(usual, 3) +
        " rad/s, above the limit of " + format_number(format_.speed_max) + " rad/s; " +
        (each.column->in_si ? "if it is in degrees per second, write unit: DEGREE_PER_SECOND"
                            : "check its unit") +
        "; if the speed is real, raise speed_max_rad_per_s in the rig file's recording { }");
  }
  for (std::size_t i = 0; i < format_.sensors.size(); ++i) {
    check_gravity_unit(static_cast<int>(i));
  }
}

void SensorTableReader::add_reading_notes(std::vector<std::string>& notes) const {
  for (const SensorReadings& each : columns_) {
    const std::vector<double>& raw = table_.values[static_cast<std::size_t>(each.request)];
    const std::vector<std::size_t> read = rows_read(raw);
    const std::string name = "column \"" + each.column->column + "\"";
    if (!changes(raw, 0, raw.size())) {
      notes.push_back("warning: " + name + (read.empty() ? " is empty" : " never changes") +
                      ": is " + each.column->what + " \"" + each.column->sensor + "\" connected?");
    } else if (read.size() < raw.size()) {
      notes.push_back(name + " has readings in " + std::to_string(read.size()) + " of " +
                      std::to_string(raw.size()) + " rows");
    }
    if (each.repeated > 0) {
      notes.push_back(name + " repeats earlier readings in " + std::to_string(each.repeated) +
                      " rows, because the sensor is slower than the recording; they are not used");
    }
    if (each.saturated == 0) continue;
    notes.push_back(name + " is saturated in " + std::to_string(each.saturated) +
                    (each.saturated == 1 ? " row; it is" : " rows; they are") + " not used");
  }
  for (std::size_t i = 0; i < format_.sensors.size(); ++i) {
    const auto is_own = [&](const SensorReadings& each) {
      return each.column->index / kAxes == static_cast<int>(i);
    };
    if (std::ranges::any_of(columns_, is_own)) continue;
    notes.push_back("sensor \"" + format_.sensors[i] +
                    "\" has no column in the rig file's recording { } and is not used");
  }
}

Eigen::MatrixXd SensorTableReader::make_missing_readings(int rows) const {
  if (columns_.empty()) return {};
  return Eigen::MatrixXd::Constant(rows, kAxes * static_cast<Eigen::Index>(format_.sensors.size()),
                                   kNaN);
}

void SensorTableReader::copy_row_readings(int from, Eigen::Index to,
                                          estimator::Segment& segment) const {
  for (const SensorReadings& each : columns_) {
    segment.inertial(to, each.column->index) = each.values[static_cast<std::size_t>(from)];
  }
}

}  // namespace service
