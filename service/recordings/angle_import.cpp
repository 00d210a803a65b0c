#include "service/recordings/angle_import.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <tuple>

#include "estimator/diagnostics/jumps/outliers_and_steps.hpp"
#include "estimator/math/angle_wrapping.hpp"
#include "estimator/signal/time_series.hpp"
#include "proto/text/input_error.hpp"
#include "service/recordings/counter_wrap.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

// Speeds are averaged over this time, since differences of successive samples at 1 kHz are noise.
constexpr double kSpeedWindow = 0.02;  // [s]

std::pair<double, double> range_of(const std::vector<double>& angles) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const double angle : angles) {
    if (std::isnan(angle)) continue;
    low = std::min(low, angle);
    high = std::max(high, angle);
  }
  return {low, high};
}

}  // namespace

void check_column_range(const proto::NumberRange& range, const proto::CsvTable& table, int request,
                        const std::string& column, const std::vector<double>& values) {
  const auto wrong = std::find_if(values.begin(), values.end(), [&](double value) {
    return !std::isnan(value) && !range.holds(value);
  });
  if (wrong == values.end()) return;
  throw proto::InputError(table.where(static_cast<int>(wrong - values.begin()), request) +
                          ": column \"" + column + "\" gives " + format_number(*wrong) +
                          ", but must be " + range.text() + ". Correct or remove the row");
}

AngleImport::AngleImport(const EncoderColumn& column, const proto::CsvTable& table, int request,
                         const RowTimes& time, std::vector<std::string>& notes)
    : column_(column),
      table_(table),
      request_(request),
      angles_(unwrap_counter_column(column, table, request, time.segments, notes)) {
  for (double& angle : angles_) angle = column.scale * angle + column.offset;
  remove_impossible_readings(notes);
  check_column_range(proto::require_range("Sample.angle_rad"), table, request, column.column,
                     angles_);
}

/// Leaves out false readings of a few rows that no angle can have, such as 1e30.
void AngleImport::remove_impossible_readings(std::vector<std::string>& notes) {
  const proto::NumberRange& range = proto::require_range("Sample.angle_rad");
  const auto is_wrong = [&](double angle) { return !std::isnan(angle) && !range.holds(angle); };
  int removed = 0;
  for (auto at = angles_.begin(); at != angles_.end();) {
    const auto end = std::find_if_not(at, angles_.end(), is_wrong);
    if (end - at > static_cast<std::ptrdiff_t>(estimator::kOutliersInARow)) return;
    removed += static_cast<int>(end - at);
    std::fill(at, end, std::numeric_limits<double>::quiet_NaN());
    at = end == angles_.end() ? end : end + 1;
  }
  if (removed == 0) return;
  notes.push_back("column \"" + column_.column + "\": " + std::to_string(removed) +
                  (removed == 1 ? " reading is" : " readings are") +
                  " no possible angle or position and left out");
}

void AngleImport::unwrap(const std::vector<double>& times, double speed_max,
                         std::vector<std::string>& notes) {
  if (!joint_traits(column_.kind).wraps) return;
  using estimator::kWholeTurn;
  constexpr double kRangeMax = kWholeTurn * (1.0 + 1e-6);
  auto [low, high] = range();
  // False readings can lie beyond the turn.
  if (high - low > kRangeMax) {
    std::tie(low, high) = range_of(running_medians(0, static_cast<int>(angles_.size())));
  }
  if (!(high - low > std::numbers::pi && high - low <= kRangeMax)) return;
  int turns = 0;
  int jumps = 0;
  double last = angles_.front();
  double last_time = times.front();
  for (std::size_t k = 0; k < angles_.size(); ++k) {
    double& angle = angles_[k];
    const double change = angle - last;  // NaN if not observed: no jump
    const double remainder = estimator::wrap_angle_difference(change);
    if (std::abs(change) > std::numbers::pi && std::abs(change) <= kRangeMax &&
        std::abs(remainder) <=
            std::max(speed_max * std::min(times[k] - last_time, estimator::kBridgedGapMax), 0.1)) {
      turns -= static_cast<int>(estimator::removed_full_turns(change));
      ++jumps;
    }
    if (!std::isnan(angle)) {
      last = angle;
      last_time = times[k];
    }
    angle += kWholeTurn * turns;
  }
  if (jumps > 0) {
    notes.push_back("column \"" + column_.column + "\" was recorded modulo one turn and was " +
                    "unwrapped at " + std::to_string(jumps) + " jumps");
  }
}

void AngleImport::check_speed(const TableSegment& stretch, const RowTimes& time,
                              double speed_max) const {
  const int window = std::max(1, static_cast<int>(std::ceil(kSpeedWindow / time.summary.period)));
  const std::vector<double> medians = running_medians(stretch.first, stretch.count);
  for (int k = 0; k + window < stretch.count; ++k) {
    const int row = stretch.first + k;
    const double duration = time.stamps[static_cast<std::size_t>(row + window)] -
                            time.stamps[static_cast<std::size_t>(row)];
    const double change = std::abs(medians[static_cast<std::size_t>(k + window)] -
                                   medians[static_cast<std::size_t>(k)]);
    const double speed = change / std::max(duration, window * time.summary.period);
    if (!(speed > speed_max)) continue;
    constexpr int kReach = static_cast<int>(estimator::kOutliersInARow);
    const int end = stretch.first + stretch.count - 1;
    refuse_speed(
        largest_step(std::max(stretch.first, row - kReach), std::min(end, row + window + kReach)),
        speed, speed_max);
  }
}

/// Returns the row after the largest change of the angle in rows first to last.
int AngleImport::largest_step(int first, int last) const {
  int largest = first + 1;
  double change_max = 0.0;
  for (int row = first + 1; row <= last; ++row) {
    const double change = std::abs(at(row) - at(row - 1));  // NaN if not observed
    if (!(change > change_max)) continue;
    change_max = change;
    largest = row;
  }
  return largest;
}

void AngleImport::add_notes(std::vector<std::string>& notes) const {
  const auto [low, high] = range();
  if (high == low) {
    notes.push_back("warning: column \"" + column_.column +
                    "\" never changes: is the encoder of joint \"" + column_.joint +
                    "\" connected?");
  }
  constexpr double kSevenDegrees = 7.0 * std::numbers::pi / 180.0;
  if (column_.in_degrees && high > low && high - low < kSevenDegrees) {
    notes.push_back("column \"" + column_.column + "\" moves over " +
                    format_number((high - low) * 180.0 / std::numbers::pi) +
                    " degrees only; if it is in radians, write unit: RADIAN");
  }
  const auto missing =
      std::ranges::count_if(angles_, [](double angle) { return std::isnan(angle); });
  if (missing > 0) {
    notes.push_back("column \"" + column_.column + "\" has " + std::to_string(missing) +
                    " missing samples");
  }
}

/// Returns for each row of a segment the median of the angles around it. A run of up to
/// kOutliersInARow false readings does not change the medians, and neither does the median change
/// a steady motion. NaN if no angle around the row was observed.
std::vector<double> AngleImport::running_medians(int first, int count) const {
  constexpr int kReach = static_cast<int>(estimator::kOutliersInARow);
  const int width = std::min(2 * kReach + 1, count);
  std::vector<double> medians, around;
  medians.reserve(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    const int begin = first + std::clamp(k - kReach, 0, count - width);
    around.clear();
    for (int row = begin; row < begin + width; ++row) {
      if (!std::isnan(at(row))) around.push_back(at(row));
    }
    const auto middle = around.begin() + static_cast<std::ptrdiff_t>(around.size() / 2);
    std::ranges::nth_element(around, middle);
    medians.push_back(around.empty() ? std::numeric_limits<double>::quiet_NaN() : *middle);
  }
  return medians;
}

std::pair<double, double> AngleImport::range() const { return range_of(angles_); }

void AngleImport::refuse_speed(int row, double speed, double speed_max) const {
  constexpr double kPossible = 10.0;  // [largest plausible speed]; more: no joint moves so fast
  const estimator::JointTraits& joint = joint_traits(column_.kind);
  const std::string unit = std::string(" ") + joint.units.rate;
  const std::string advice =
      !joint.turns
          ? "if the column is in millimetres, write unit: MILLIMETER; if in encoder counts, unit: "
            "COUNT"
      : column_.in_radians
          ? "if the column is in degrees, write unit: DEGREE; if in encoder counts, unit: COUNT"
          : "check the column's unit";
  const std::string real =
      speed > kPossible * speed_max
          ? "; if a counter starts again there, write counts_modulo in the rig file's recording { }"
          : std::string("; if the speed is real, raise ") +
                (joint.turns ? "speed_max_rad_per_s" : "speed_max_m_per_s") +
                " in the rig file's recording { }";
  throw proto::InputError(table_.where(row, request_) + ": column \"" + column_.column +
                          "\": joint \"" + column_.joint + "\" would " + joint.noun + " at " +
                          format_number(speed) + unit + ", more than " + format_number(speed_max) +
                          unit + "; " + advice + "; if only single rows are wrong, remove them" +
                          real);
}

}  // namespace service
