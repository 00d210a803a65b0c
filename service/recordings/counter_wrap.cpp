#include "service/recordings/counter_wrap.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "proto/text/input_error.hpp"
#include "service/text/column_statistics.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr double kModulusMin = 64.0;          // [counts]; smaller ranges are no counters
constexpr double kModulusMax = 4294967296.0;  // [counts]; 32 bits
constexpr double kCounterMin = 256.0;         // [counts]; 8 bits
// Units of decimal moduli that are tried [counts]; the second is the smallest after a single jump.
constexpr double kRoundestModulus = 1e4, kRoundModulus = 1e3;
constexpr std::size_t kSpikeRowsMax = 5;  // a spike returns after at most this many readings
constexpr double kSpikeShare = 0.01;      // most readings that are spikes
constexpr double kAgreeingJumps = 0.8;    // least share of jumps that agree with a modulus
// Uncertainty of a jump by the spread of the changes beside it, and by rounding [resolutions].
constexpr double kChangeSpread = 1.5, kJumpTolerance = 3.0;
constexpr double kSteadyShare = 0.125;  // largest uncertainty of a jump [range of readings]

/// Readings of a counter without missing ones.
struct ObservedCounts {
  std::vector<double> values;
  std::vector<int> rows;

  double change(std::size_t k) const { return values[k] - values[k - 1]; }
  double distance(std::size_t k) const { return rows[k] - rows[k - 1]; }
};

ObservedCounts observed_counts(const std::vector<double>& counts) {
  ObservedCounts found;
  for (std::size_t row = 0; row < counts.size(); ++row) {
    if (std::isnan(counts[row])) continue;
    found.values.push_back(counts[row]);
    found.rows.push_back(static_cast<int>(row));
  }
  return found;
}

/// Returns the resolution of the readings: the largest number of which all changes are multiples
/// [counts], at least 1. An encoder may count in steps of 4.
double resolution(const ObservedCounts& counts) {
  constexpr double kWholeNumberMax = 1e15;
  std::int64_t common = 0;
  for (std::size_t k = 1; k < counts.values.size(); ++k) {
    const double change = std::abs(std::round(counts.change(k)));
    if (change < kWholeNumberMax) common = std::gcd(common, static_cast<std::int64_t>(change));
  }
  return std::max(1.0, static_cast<double>(common));
}

/// Returns the changes per row beside change k, at most two on either side, that are no jumps
/// themselves.
std::vector<double> changes_beside(const ObservedCounts& counts, std::size_t k, double jump) {
  std::vector<double> changes;
  const std::size_t end = std::min(k + 3, counts.values.size());
  for (std::size_t i = std::max<std::size_t>(k, 3) - 2; i < end; ++i) {
    if (i == k || std::abs(counts.change(i)) > jump) continue;
    changes.push_back(counts.change(i) / counts.distance(i));
  }
  return changes;
}

/// @param found  modulus that the readings suggest [counts]; 0 if unknown
[[noreturn]] void refuse_modulus(const EncoderColumn& column, const proto::CsvTable& table,
                                 int request, const CounterJumps& jumps, double found) {
  const std::string given = format_modulus(column.counts_modulo);
  std::string what;
  if (found > 0.0) {
    what = "the counter starts again after " + format_modulus(found) + " counts";
    if (column.counts_modulo > 0.0) what += ", but counts_modulo is " + given;
    what += ". Write counts_modulo: " + format_modulus(found);
  } else {
    what = "the readings span " + format_number(jumps.range(), 16) +
           " counts and do not fit counts_modulo: " + given +
           ". Correct it, or remove it if the readings are unwrapped already,";
  }
  const std::string place = jumps.first_row() < 0 ? table.path + ": " + column.place
                                                  : table.where(jumps.first_row(), request);
  throw proto::InputError(place + ": column \"" + column.column + "\": " + what +
                          " in the column of joint \"" + column.joint +
                          "\" in the rig file's recording { }");
}

}  // namespace

CounterJumps::CounterJumps(const std::vector<double>& counts,
                           const std::vector<int>& segment_starts) {
  const ObservedCounts all = observed_counts(counts);
  if (all.values.size() < 2) return;
  values_ = all.values;
  const auto [low, high] = std::ranges::minmax(all.values);
  low_ = low;
  high_ = high;
  const double jump = 0.5 * range();
  if (!(range() >= kModulusMin - 1.0 && range() < kModulusMax)) return;
  const double rounding = kJumpTolerance * resolution(all);
  std::vector<std::size_t> large;
  for (std::size_t k = 1; k < all.values.size(); ++k) {
    const auto is_between = [&](int start) {
      return all.rows[k - 1] < start && start <= all.rows[k];
    };
    if (std::abs(all.change(k)) > jump && std::ranges::none_of(segment_starts, is_between)) {
      large.push_back(k);
    }
  }
  const auto returns = [&](std::size_t first, std::size_t second) {
    return large[second] - large[first] <= kSpikeRowsMax &&
           all.change(large[first]) * all.change(large[second]) < 0.0;
  };
  for (std::size_t i = 0; i < large.size(); ++i) {
    if ((i > 0 && returns(i - 1, i)) || (i + 1 < large.size() && returns(i, i + 1))) continue;
    const std::size_t k = large[i];
    const std::vector<double> beside = changes_beside(all, k, jump);
    if (beside.empty()) continue;
    const auto [slowest, fastest] = std::ranges::minmax(beside);
    const double tolerance = kChangeSpread * (fastest - slowest) * all.distance(k) + rounding;
    if (tolerance > std::max(kSteadyShare * range(), 4.0)) continue;
    const double sign = all.change(k) > 0.0 ? 1.0 : -1.0;
    const double expected = 0.5 * (slowest + fastest) * all.distance(k);
    jumps_.push_back({all.rows[k], sign * (all.change(k) - expected), tolerance});
  }
}

bool CounterJumps::fit_into(double modulus) const {
  if (modulus > range()) return true;
  const auto above = std::ranges::count_if(values_, [&](double x) { return x >= low_ + modulus; });
  const auto below = std::ranges::count_if(values_, [&](double x) { return x <= high_ - modulus; });
  return static_cast<double>(std::min(above, below)) <=
         kSpikeShare * static_cast<double>(values_.size());
}

bool CounterJumps::agree_with(double modulus) const {
  if (!fit_into(modulus)) return false;
  const auto agreeing = std::ranges::count_if(
      jumps_, [&](const Jump& jump) { return std::abs(jump.modulus - modulus) <= jump.tolerance; });
  return static_cast<double>(agreeing) >= kAgreeingJumps * static_cast<double>(jumps_.size());
}

double CounterJumps::find_modulus(double counts_per_turn) const {
  if (jumps_.empty()) return 0.0;
  std::vector<double> candidates;
  for (double modulus = kModulusMin; modulus <= kModulusMax; modulus *= 2.0) {
    candidates.push_back(modulus);
  }
  std::vector<double> estimates;
  for (const Jump& jump : jumps_) estimates.push_back(jump.modulus);
  const double estimate = std::max(median(std::move(estimates)), range() + 1.0);
  const double finest = jumps_.size() > 1 ? 1.0 : kRoundModulus;
  if (counts_per_turn >= 1.0) {
    candidates.push_back(std::max(1.0, std::round(estimate / counts_per_turn)) * counts_per_turn);
  }
  for (double unit = kRoundestModulus; unit >= finest; unit /= 10.0) {
    candidates.push_back(std::round(estimate / unit) * unit);
  }
  const auto found =
      std::ranges::find_if(candidates, [&](double modulus) { return agree_with(modulus); });
  return found == candidates.end() ? 0.0 : *found;
}

std::string format_modulus(double modulus) { return std::to_string(std::llround(modulus)); }

double unwrap_time_counter(std::vector<double>& times) {
  constexpr double kLongestStep = 50.0;  // across a wrap [usual steps]
  std::vector<double> steps, steps_back;
  double last = std::numeric_limits<double>::quiet_NaN();
  for (const double time : times) {
    if (std::isnan(time)) continue;
    if (time < 0.0 || time != std::round(time)) return 0.0;
    if (time < last) {
      steps_back.push_back(time - last);
    } else if (time > last) {
      steps.push_back(time - last);
    }
    last = time;
  }
  if (steps.empty() || steps_back.empty()) return 0.0;
  const double step_max = kLongestStep * median(std::move(steps));
  for (const double modulus : {65536.0, 4294967296.0}) {
    const bool is_wrap = std::ranges::all_of(steps_back, [&](double step) {
      return step + modulus >= 0.0 && step + modulus <= step_max;
    });
    if (!is_wrap) continue;
    unwrap_counter(modulus, times);
    return modulus;
  }
  return 0.0;
}

int unwrap_counter(double modulus, std::vector<double>& values) {
  int wraps = 0;
  double turns = 0.0, last = std::numeric_limits<double>::quiet_NaN();
  for (double& value : values) {
    if (std::isnan(value)) continue;
    const double change = std::isnan(last) ? value : value - last;
    const double whole = std::round(change / modulus);
    if (!std::isnan(last) && whole != 0.0) ++wraps;
    turns -= whole;
    last = value;
    value += turns * modulus;
  }
  return wraps;
}

std::vector<double> unwrap_counter_column(const EncoderColumn& column, const proto::CsvTable& table,
                                          int request, const std::vector<TableSegment>& segments,
                                          std::vector<std::string>& notes) {
  std::vector<double> readings = table.values[static_cast<std::size_t>(request)];
  if (!(column.count_size > 0.0)) return readings;
  const double count = column.count_size / std::abs(column.scale);  // in the column's unit
  std::vector<double> counts = readings;
  for (double& reading : counts) reading /= count;
  std::vector<int> starts;
  for (const TableSegment& segment : segments) starts.push_back(segment.first);
  const CounterJumps jumps(counts, starts);
  const estimator::JointTraits& joint = joint_traits(column.kind);
  const double per_whole = joint.count_size / column.count_size;  // counts per turn or metre
  if (!(column.counts_modulo > 0.0)) {
    const double found = jumps.find_modulus(per_whole);
    const bool is_turn = joint.wraps && std::abs(found - per_whole) < 0.5;
    if (found > 0.0 && !is_turn) refuse_modulus(column, table, request, jumps, found);
    return readings;
  }
  // The largest reading is easily mistaken for the modulus.
  const double next = column.counts_modulo + 1.0;
  const bool is_largest = next >= kCounterMin && next <= kModulusMax &&
                          std::has_single_bit(static_cast<std::uint64_t>(next)) &&
                          jumps.agree_with(next);
  if (is_largest || !jumps.agree_with(column.counts_modulo)) {
    refuse_modulus(column, table, request, jumps, jumps.find_modulus(per_whole));
  }
  const int wraps = unwrap_counter(column.counts_modulo * count, readings);
  if (wraps > 0) {
    notes.push_back("column \"" + column.column + "\" is a counter modulo " +
                    format_modulus(column.counts_modulo) + " and was unwrapped at " +
                    std::to_string(wraps) + (wraps == 1 ? " jump" : " jumps"));
  }
  return readings;
}

}  // namespace service
