#include "service/rig/init/column_recognition.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include "proto/text/input_error.hpp"
#include "service/recordings/burst_clock.hpp"
#include "service/recordings/counter_wrap.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "service/text/column_statistics.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr double kTwoPi = 2.0 * M_PI;
constexpr double kDegreesLeast = 20.0;  // [unit]: a rig seldom turns by more radians than this
constexpr double kCountsLeast = 50.0;   // whole numbers within a smaller range are not counts
constexpr double kCountsMost = 1e6;     // per turn or metre
constexpr double kAboutZero = 0.35;     // [rad]: an angle this close to 0 or π is taken as 0 or π
constexpr double kStepShare = 0.05;     // least share of changes by one quantum; fewer: digits
constexpr double kLattice = 0.05;       // [quantum]: tolerance of changes as whole multiples
constexpr double kSmallSwing = 0.8;     // [rad]: amplitude up to which a swing is small
constexpr int kSwingsLeast = 3;
// Least range of a column that moves. White noise alone ranges over ten standard deviations.
constexpr double kNoisesMoved = 12.0, kQuantaMoved = 5.0;
// Least share of rows in which a time stamp changes; fewer: a slow counter. Rows that arrive in a
// burst may have one time stamp.
constexpr double kDistinctTimes = 0.01;

using Words = std::set<std::string>;

bool has(const ColumnProfile& column, const Words& words) {
  return std::ranges::any_of(column.words, [&](const std::string& w) { return words.contains(w); });
}

const Words kTimeWords = {"t",     "time",    "timestamp", "stamp",  "zeit",
                          "clock", "elapsed", "seconds",   "millis", "micros"};
const Words kReceiptWords = {"receive", "received", "receipt", "recv",    "rx",  "arrival",
                             "log",     "bag",      "rosbag",  "publish", "host"};
const Words kAngleWords = {"theta", "phi",      "psi",   "alpha",  "beta",     "q",     "angle",
                           "ang",   "pos",      "arm",   "pend",   "pendulum", "pole",  "pivot",
                           "joint", "position", "crank", "rocker", "link",     "hinge", "winkel"};
const Words kClockWords = {"cycle", "cycles", "tick", "ticks", "count", "counts"};
const Words kPositionWords = {"x", "rail", "cart", "slide", "slider", "position", "pos"};
const Words kRateWords = {"vel",   "velocity", "speed",  "rate",         "omega",  "w",
                          "dot",   "gyro",     "dq",     "qd",           "dtheta", "acc",
                          "accel", "ddq",      "thetad", "acceleration", "dx",     "xd"};
const Words kWantedWords = {"des", "desired", "ref", "reference", "setpoint", "target", "goal"};
const Words kEffortWords = {"effort", "eff"};  // ROS's name of a torque or force
const Words kCommandWords = {"u",       "cmd",   "command", "control", "input", "volt",
                             "voltage", "tau",   "torque",  "current", "pwm",   "duty",
                             "force",   "motor", "effort",  "eff"};
const Words kSegmentWords = {"segment", "seg", "run", "trial", "piece"};

std::vector<double> changes_of(const std::vector<double>& values) {
  std::vector<double> changes;
  for (std::size_t k = 1; k < values.size(); ++k) {
    const double change = std::abs(values[k] - values[k - 1]);
    if (change > 0.0) changes.push_back(change);
  }
  return changes;
}

/// Returns the quantization step of a column, or 0 if it is not quantized. The step is the smallest
/// change if all changes are multiples of it and many changes equal it. Numbers printed with few
/// digits are also multiples of a step, but seldom change by just one step.
double quantum_of(const std::vector<double>& values) {
  constexpr std::size_t kChangesMax = 500'000;
  std::vector<double> changes = changes_of(values);
  if (changes.size() > kChangesMax) {
    const std::size_t stride = changes.size() / kChangesMax;
    for (std::size_t k = 0; k < kChangesMax; ++k) changes[k] = changes[k * stride];
    changes.resize(kChangesMax);
  }
  if (changes.size() < 20) return 0.0;
  std::ranges::sort(changes);
  // Rounding makes the smallest changes slightly unequal; use the mean of the first group.
  const double smallest = changes.front();
  double sum = 0.0, ones = 0.0;
  for (const double change : changes) {
    if (change > 1.5 * smallest) break;
    sum += change;
    ones += 1.0;
  }
  const double quantum = sum / ones;
  const auto off = std::ranges::count_if(changes, [&](double change) {
    const double whole = std::round(change / quantum);
    return whole < 200.0 &&
           std::abs(change / quantum - whole) > kLattice * std::max(1.0, 0.1 * whole);
  });
  const auto count = static_cast<double>(changes.size());
  const bool lattice = static_cast<double>(off) < 0.02 * count;
  return lattice && ones > kStepShare * count ? quantum : 0.0;
}

/// Returns whether a name consists of a unit of time alone, such as "ms" or "[us]".
bool is_time_unit(const ColumnProfile& column) {
  return split_into_words(column.name).size() == 1 && find_time_unit(column.name).has_value();
}

bool has_angle_unit(const ColumnProfile& column) {
  const auto unit = find_reading_unit(column.label);
  return unit && !is_length_unit(*unit) && *unit != ReadingUnit::kCount;
}

bool has_length_unit(const ColumnProfile& column) {
  const auto unit = find_reading_unit(column.label);
  return unit && is_length_unit(*unit);
}

ColumnProfile look_at(const NamedColumn& column) {
  const std::string label = column.name + (column.unit.empty() ? "" : " [" + column.unit + "]");
  ColumnProfile look{column.name, label, split_into_words(label), column.values};
  look.fault = column.fault;
  if (look.values.empty()) return look;
  if (has(look, kTimeWords) || is_time_unit(look)) unwrap_time_counter(look.values);
  const ColumnStatistics statistics = compute_column_statistics(look.values);
  std::tie(look.low, look.high) = find_range_without_spikes(look.values);
  look.constant = !(look.high > look.low);
  look.rising = !look.constant && std::ranges::is_sorted(look.values);
  look.whole = std::ranges::all_of(look.values,
                                   [](double x) { return std::isnan(x) || x == std::round(x); });
  look.quantum = quantum_of(look.values);
  const double range = look.high - look.low;
  look.moves = range > kNoisesMoved * statistics.noise && range > kQuantaMoved * look.quantum;
  return look;
}

bool is_rate(const ColumnProfile& column) {
  if (has(column, kRateWords)) return true;
  // "theta_rad_s", "deg/s"
  return (has_angle_unit(column) || has_length_unit(column)) && has(column, {"s", "sec", "per"});
}

/// Returns whether a turn has the quantization steps of an incremental encoder: four per line.
bool has_whole_lines(double quantum, double turn) {
  constexpr double kStepsPerLine = 4.0, kTolerance = 0.01;  // [lines]
  constexpr double kLinesMax = 2e4;  // more lines are whole within the rounding of the readings
  if (!(quantum > 0.0)) return false;
  const double lines = turn / quantum / kStepsPerLine;
  return lines < kLinesMax && std::abs(lines - std::round(lines)) < kTolerance;
}

/// Returns whether a column has the name and the whole numbers of segments.
bool is_segment(const ColumnProfile& column) {
  return !column.words.empty() && kSegmentWords.contains(column.words.front()) && column.whole;
}

/// Returns whether a column may be a reading: free, changing, and not known to be something else.
bool may_be_reading(const ColumnProfile& column) {
  if (!column.role.empty() || column.values.empty() || column.constant || is_rate(column)) {
    return false;
  }
  return !has(column, kWantedWords) && !has(column, kTimeWords) && !is_segment(column) &&
         !has(column, kCommandWords);
}

int name_score(const ColumnProfile& column, bool position) {
  int score = 0;
  if (position) {
    score += has_length_unit(column) ? 4 : 0;
    score += has(column, kPositionWords) ? 2 : 0;
    score -= has_angle_unit(column) ? 4 : 0;
    return score > 0 ? score : -1;
  }
  score += has(column, kAngleWords) ? 2 : 0;
  score += has_angle_unit(column) ? 3 : 0;
  score += find_reading_unit(column.label) == ReadingUnit::kCount ? 2 : 0;
  score -= has_length_unit(column) ? 6 : 0;
  return score > 0 ? score : -1;
}

int reading_score(const ColumnProfile& column, bool position) {
  return may_be_reading(column) ? name_score(column, position) : -1;
}

/// Rates a column by its name: positive for a time, larger for the time of measurement. A unit of
/// time is the name of a time only if the column rises.
int time_score(const ColumnProfile& column) {
  if (!has(column, kTimeWords)) return column.rising && is_time_unit(column) ? 1 : 0;
  return 2 + (has(column, {"header"}) ? 1 : 0) - (has(column, kReceiptWords) ? 1 : 0);
}

/// Returns whether the values of a column are successive whole numbers.
bool counts_rows(const ColumnProfile& column) {
  const auto& values = column.values;
  return column.whole && values.size() > 1 &&
         std::ranges::adjacent_find(values, [](double a, double b) { return b - a != 1.0; }) ==
             values.end();
}

/// Mean and range of a span of consecutive values.
struct ValueStretch {
  double mean, spread;
};

ValueStretch stretch_of(const std::vector<double>& values, std::size_t begin, std::size_t end) {
  double sum = 0.0, low = 1e300, high = -1e300, count = 0.0;
  for (std::size_t k = begin; k < end; ++k) {
    if (std::isnan(values[k])) continue;
    sum += values[k];
    count += 1.0;
    low = std::min(low, values[k]);
    high = std::max(high, values[k]);
  }
  return {count > 0.0 ? sum / count : 0.0, high - low};
}

}  // namespace

std::vector<ColumnProfile> read_column_profiles(const std::string& path,
                                                const std::vector<std::string>& names,
                                                const std::string& topic, std::string* layout) {
  std::vector<ColumnProfile> columns;
  const RecordingColumns recording = read_recording_columns(path, names, topic);
  const auto own = recording.columns | std::views::drop(recording.stamp_count);
  if (!names.empty() && !std::ranges::equal(own, names, {}, &NamedColumn::name)) {
    throw proto::InputError("--columns: " + path + " names its columns itself: " +
                            join_quoted_names(recording.columns, "none") + ". Omit --columns");
  }
  if (layout != nullptr) *layout = recording.layout;
  for (const NamedColumn& column : recording.columns) columns.push_back(look_at(column));
  for (const auto& [name, reason] : recording.others) {
    columns.push_back(look_at({name, {}, path + ": \"" + name + "\" " + reason}));
  }
  return columns;
}

std::string describe_missing_time(const std::vector<ColumnProfile>& columns) {
  for (const ColumnProfile& column : columns) {
    const auto back = std::ranges::adjacent_find(column.values, std::ranges::greater{});
    if (!has_time_name(column) || back == column.values.end()) continue;
    return "column \"" + column.name + "\" steps back from " + format_number(*back, 12) + " to " +
           format_number(*(back + 1), 12) + "; sort the rows by it, or remove this row";
  }
  for (const ColumnProfile& column : columns) {
    if (!counts_rows(column)) continue;
    return "no time column found. Column \"" + column.name +
           "\" contains row numbers, or times in a unit that its name does not contain. "
           "Give --rate HZ, or --time and --time-unit";
  }
  return "";
}

const ColumnProfile* find_time_column(const std::vector<ColumnProfile>& columns) {
  const ColumnProfile* best = nullptr;
  for (const ColumnProfile& column : columns) {
    if (!column.rising || !column.role.empty()) continue;
    const auto changing = static_cast<double>(changes_of(column.values).size());
    if (changing < kDistinctTimes * static_cast<double>(column.values.size())) continue;
    if (time_score(column) > (best == nullptr ? 0 : time_score(*best))) best = &column;
  }
  if (best != nullptr) return best;
  // A time column without a time name must be the first that rises.
  const auto first = std::ranges::find_if(
      columns, [](const ColumnProfile& each) { return each.rising && each.role.empty(); });
  if (first == columns.end() || counts_rows(*first) ||
      find_reading_unit(first->name) == ReadingUnit::kCount) {
    return nullptr;
  }
  const std::vector<double> changes = changes_of(first->values);
  const double usual = median(changes);
  const bool even = changes.size() + 1 == first->values.size() &&
                    std::ranges::all_of(changes, [&](double c) { return c < 3.0 * usual; });
  return even ? &*first : nullptr;
}

TimeUnit guess_time_unit(const ColumnProfile& column) {
  if (const auto unit = find_time_unit(column.label)) return *unit;
  const double step = mean_time_step(column.values);
  if (const auto unit = find_date_unit(column.low, step)) return *unit;
  std::string unknown = describe_unknown_unit(column.label, "--time-unit");
  if (unknown.empty() && has(column, kClockWords)) {
    unknown =
        "column \"" + column.name +
        "\" counts a clock of unknown rate. Give the length of a count as --time-unit SECONDS";
  }
  if (!unknown.empty()) throw proto::InputError(unknown);
  return find_plausible_time_unit(step);
}

std::vector<const ColumnProfile*> find_encoder_columns(const std::vector<ColumnProfile>& columns,
                                                       RigKind kind, int chain) {
  const std::size_t count = measured_joint_names(kind, chain).size();
  const ColumnProfile* position = nullptr;
  std::vector<const ColumnProfile*> angles;
  for (const ColumnProfile& column : columns) {
    if (reading_score(column, false) > 0) angles.push_back(&column);
    if (!has_cart(kind) || reading_score(column, true) <= 0) continue;
    if (position == nullptr || reading_score(column, true) > reading_score(*position, true)) {
      position = &column;
    }
  }
  std::erase(angles, position);
  const std::size_t wanted = count - (has_cart(kind) ? 1 : 0);
  std::vector<const ColumnProfile*> unnamed;
  for (const ColumnProfile& column : columns) {
    const bool is_known = &column == position || reading_score(column, false) > 0;
    if (!is_known && column.moves && !column.rising && may_be_reading(column)) {
      unnamed.push_back(&column);
    }
  }
  const auto moving =
      static_cast<std::size_t>(std::ranges::count(angles, true, &ColumnProfile::moves));
  if (moving < wanted && moving + unnamed.size() == wanted) {
    angles.insert(angles.end(), unnamed.begin(), unnamed.end());
    std::ranges::sort(angles);
  }
  // The best matches, in the order of the file: those that move, and then by name.
  std::vector<const ColumnProfile*> best = angles;
  std::ranges::stable_sort(best, [](const ColumnProfile* a, const ColumnProfile* b) {
    return std::pair(a->moves, reading_score(*a, false)) >
           std::pair(b->moves, reading_score(*b, false));
  });
  best.resize(std::min(best.size(), wanted));
  std::erase_if(angles, [&](const ColumnProfile* column) {
    return std::ranges::find(best, column) == best.end();
  });
  if (kind == RigKind::kFuruta && angles.size() == 2 && has(*angles[1], {"arm"}) &&
      !has(*angles[0], {"arm"})) {
    std::swap(angles[0], angles[1]);
  }
  if (has_cart(kind)) angles.insert(angles.begin(), position);
  return angles;
}

const ColumnProfile* find_command_column(const std::vector<ColumnProfile>& columns) {
  const ColumnProfile* best = nullptr;
  int most = 0;
  for (const ColumnProfile& column : columns) {
    if (!column.role.empty() || column.values.empty() || column.constant || is_rate(column)) {
      continue;
    }
    if (has(column, kTimeWords) || has_angle_unit(column)) continue;
    int score = has(column, kCommandWords) ? 4 : 0;
    score += has(column, {"measured", "meas", "act", "actual"}) ? 1 : 0;
    score -= has(column, kWantedWords) ? 2 : 0;
    if (score <= most) continue;
    most = score;
    best = &column;
  }
  return best;
}

CommandUnit guess_command_unit(const ColumnProfile& column) {
  const auto unit = find_command_unit(column.label);
  const bool may_be_counts = unit && unit->unit == "duty" && unit->scale == 1.0;
  if (unit && !may_be_counts) return *unit;
  if (has(column, {"v", "volt", "volts", "voltage"})) return {"V"};
  if (has(column, {"a", "amp", "amps", "current"})) return {"A"};
  if (has(column, {"nm", "torque", "tau"})) return {"N·m"};
  if (has(column, {"n", "force"})) return {"N"};
  if (has(column, {"pwm", "duty"})) {
    if (has(column, {"percent"})) return {"duty", 0.01};
    return {std::max(std::abs(column.low), std::abs(column.high)) <= 1.0 ? "duty" : "1"};
  }
  if (has(column, kEffortWords)) return {has(column, kPositionWords) ? "N" : "N·m"};
  return {"V"};
}

bool has_command_unit(const ColumnProfile& column) {
  return find_command_unit(column.label) ||
         has(column, {"v", "volt", "volts", "voltage", "a", "amp", "amps", "current", "nm",
                      "torque", "tau", "n", "force", "pwm", "duty", "effort", "eff"});
}

const ColumnProfile* find_segment_column(const std::vector<ColumnProfile>& columns) {
  for (const ColumnProfile& column : columns) {
    const bool is_free = column.role.empty();
    if (is_free && is_segment(column) && !column.values.empty() && !column.constant) {
      return &column;
    }
  }
  return nullptr;
}

bool has_time_name(const ColumnProfile& column) { return time_score(column) > 0; }

bool has_encoder_name(const ColumnProfile& column, bool position) {
  return name_score(column, position) > 0;
}

std::string describe_unused_column(const ColumnProfile& column) {
  if (!column.fault.empty()) return "not readable: " + column.fault;
  if (column.values.empty()) return "not numbers";
  if (column.constant) return "constant";
  if (has_time_name(column)) return "a time";
  if (is_rate(column)) return "a speed or an acceleration";
  if (has(column, kWantedWords)) return "a reference";
  if (has(column, kCommandWords)) return "a command";
  if (!column.moves) return "hardly moves";
  if (name_score(column, false) > 0 || name_score(column, true) > 0)
    return "a reading that no joint needs";
  return "its name is unknown";
}

bool has_unit_name(const ColumnProfile& column) {
  return find_reading_unit(column.label).has_value();
}

ReadingUnit guess_reading_unit(const ColumnProfile& column, bool position) {
  const char* const option = position ? "--position-unit" : "--angle-unit";
  if (const std::string unknown = describe_unknown_unit(column.label, option); !unknown.empty()) {
    throw proto::InputError(unknown);
  }
  const auto named = find_reading_unit(column.label);
  const double range = column.high - column.low;
  const bool is_count = column.whole && (named == ReadingUnit::kCount || range > kCountsLeast);
  if (named && *named != ReadingUnit::kCount) {
    if (is_length_unit(*named) == position) return *named;
    throw proto::InputError("column \"" + column.name + "\" is in " + reading_unit_name(*named) +
                            ", which is not a unit of " + (position ? "a position" : "an angle") +
                            ". Give another column, or " + option);
  }
  if (is_count) return ReadingUnit::kCount;
  if (position) {
    return range > kDegreesLeast ? ReadingUnit::kMillimetre : ReadingUnit::kMetre;
  }
  const bool fits_degrees = has_whole_lines(column.quantum, 360.0);
  const bool fits_radians = has_whole_lines(column.quantum, kTwoPi);
  if (fits_degrees != fits_radians) {
    return fits_degrees ? ReadingUnit::kDegree : ReadingUnit::kRadian;
  }
  return range > kDegreesLeast ? ReadingUnit::kDegree : ReadingUnit::kRadian;
}

std::optional<double> guess_encoder_counts(const ColumnProfile& column, ReadingUnit unit) {
  if (unit == ReadingUnit::kCount || !(column.quantum > 0.0)) return std::nullopt;
  const bool length = is_length_unit(unit);
  const double quantum = column.quantum * reading_unit_size(unit, 0.0);
  const double counts = std::round((length ? 1.0 : kTwoPi) / quantum);
  if (counts < 10.0 || counts > kCountsMost) return std::nullopt;
  return counts;
}

double guess_hanging_reading(const ColumnProfile& column, ReadingUnit unit, bool driven) {
  if (has(column, {"upright"})) return M_PI;
  const double scale = reading_unit_size(unit, 0.0);
  const std::size_t n = column.values.size(), part = std::max<std::size_t>(1, n / 20);
  if (!(scale > 0.0) || n == 0) return 0.0;
  const ValueStretch all = stretch_of(column.values, 0, n);
  const ValueStretch calm = driven ? stretch_of(column.values, 0, std::max<std::size_t>(1, n / 100))
                                   : stretch_of(column.values, n - part, n);
  const double rest = scale * (calm.spread < 0.15 * all.spread ? calm.mean : median(column.values));
  const double turned = estimator::wrap_angle_difference(rest);
  if (std::abs(turned) < kAboutZero) return 0.0;
  if (M_PI - std::abs(turned) < kAboutZero) return M_PI;
  return turned;
}

std::optional<double> estimate_swing_frequency(const ColumnProfile& column, ReadingUnit unit,
                                               double rest, double period) {
  const double scale = reading_unit_size(unit, 0.0);
  if (!(scale > 0.0) || !(period > 0.0)) return std::nullopt;
  // Use the samples after the last large deflection.
  std::size_t begin = 0;
  const std::size_t n = column.values.size();
  const auto off = [&](std::size_t k) {
    return estimator::wrap_angle_difference(scale * column.values[k] - rest);
  };
  for (std::size_t k = 0; k < n; ++k) {
    if (std::abs(off(k)) > kSmallSwing) begin = k + 1;
  }
  if (begin >= n) return std::nullopt;
  double widest = 0.0, middle = 0.0, count = 0.0;
  for (std::size_t k = begin; k < n; ++k) {
    if (std::isnan(off(k))) continue;
    widest = std::max(widest, std::abs(off(k)));
    middle += off(k);
    count += 1.0;
  }
  middle /= std::max(count, 1.0);
  // Count crossings with a dead band, so that noise at rest does not count.
  const double band = 0.1 * widest;
  int side = 0, crossings = 0;
  std::size_t first = 0, last = 0;
  for (std::size_t k = begin; k < n; ++k) {
    const double x = off(k) - middle;
    const int now = x > band ? 1 : x < -band ? -1 : 0;
    if (now == 0 || now == side) continue;
    if (side != 0 && crossings++ == 0) first = k;
    if (side != 0) last = k;
    side = now;
  }
  if (crossings < 2 * kSwingsLeast) return std::nullopt;
  return 0.5 * (crossings - 1) / (static_cast<double>(last - first) * period);
}

}  // namespace service
