#include "service/rig/init/column_recognition.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <ranges>
#include <set>
#include <utility>

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
constexpr double kFastest = 2e4, kSlowest = 5.0;  // plausible sampling rates [Hz]
constexpr double kSmallSwing = 0.8;               // [rad]: amplitude up to which a swing is small
constexpr int kSwingsLeast = 3;
// Least range of a column that moves. White noise alone ranges over ten standard deviations.
constexpr double kNoisesMoved = 12.0, kQuantaMoved = 5.0;
constexpr double kEpochMin = 1e9, kEpochMax = 4.1e9;  // [s] since 1970: the years 2001 to 2099
constexpr double kDistinctTimes = 0.1;  // least share of rows in which a time stamp changes

using Words = std::set<std::string>;

bool has(const ColumnProfile& column, const Words& words) {
  return std::ranges::any_of(column.words, [&](const std::string& w) { return words.contains(w); });
}

const Words kTimeWords = {"t",     "time",    "timestamp", "stamp",  "zeit",
                          "clock", "elapsed", "seconds",   "millis", "micros"};
const Words kSecondWords = {"s", "sec", "secs", "second", "seconds"};
const Words kMillisecondWords = {"ms", "msec", "millis", "millisecond", "milliseconds"};
const Words kMicrosecondWords = {"us", "usec", "micros", "microsecond", "microseconds"};
const Words kNanosecondWords = {"ns",         "nsec",        "nanosec", "nanos",
                                "nanosecond", "nanoseconds"};
const Words kReceiptWords = {"receive", "received", "receipt", "recv",    "rx",  "arrival",
                             "log",     "bag",      "rosbag",  "publish", "host"};
const Words kAngleWords = {"theta", "phi",      "psi",   "alpha",  "beta",     "q",     "angle",
                           "ang",   "pos",      "arm",   "pend",   "pendulum", "pole",  "pivot",
                           "joint", "position", "crank", "rocker", "link",     "hinge", "winkel"};
const Words kRadian = {"rad", "radian", "radians"};
const Words kDegreeWords = {"deg", "degree", "degrees"};
const Words kTurn = {"turn", "turns", "rev", "revs"};
const Words kCount = {"count", "counts", "cnt", "tick", "ticks", "inc", "enc", "encoder"};
const Words kMetre = {"m", "meter", "metre"};
const Words kMillimetre = {"mm"};
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

/// Splits a column's name into lower-case words, at non-alphanumeric characters and before a
/// capital that follows a lower-case letter. Removes trailing digits of each word.
std::vector<std::string> words_of(const std::string& name) {
  std::vector<std::string> words(1);
  char last = ' ';
  std::string text = name;
  for (const auto& [sign, word] : {std::pair("°", " deg "), {"µ", "u"}, {"μ", "u"}}) {
    const std::size_t at = text.find(sign);
    if (at != std::string::npos) text.replace(at, std::string_view(sign).size(), word);
  }
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    const bool letter = std::isalnum(u) != 0;
    const bool hump = std::isupper(u) != 0 && std::islower(static_cast<unsigned char>(last)) != 0;
    if ((!letter || hump) && !words.back().empty()) words.emplace_back();
    if (letter) words.back() += static_cast<char>(std::tolower(u));
    last = c;
  }
  for (std::string& word : words) {
    while (!word.empty() && std::isdigit(static_cast<unsigned char>(word.back())) != 0) {
      word.pop_back();
    }
  }
  std::erase(words, "");
  return words;
}

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
  std::vector<double> changes = changes_of(values);
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
  if (column.words.size() != 1) return false;
  return has(column, kSecondWords) || has(column, kMillisecondWords) ||
         has(column, kMicrosecondWords) || has(column, kNanosecondWords);
}

ColumnProfile look_at(const std::string& name, const std::vector<double>& values) {
  ColumnProfile look{name, words_of(name), values};
  if (has(look, kTimeWords) || is_time_unit(look)) unwrap_time_counter(look.values);
  const ColumnStatistics statistics = compute_column_statistics(look.values);
  look.low = statistics.low;
  look.high = statistics.high;
  look.constant = !(statistics.high > statistics.low);
  look.rising = !look.constant && std::ranges::is_sorted(look.values);
  look.whole =
      std::ranges::all_of(values, [](double x) { return std::isnan(x) || x == std::round(x); });
  look.quantum = quantum_of(values);
  const double range = look.high - look.low;
  look.moves = range > kNoisesMoved * statistics.noise && range > kQuantaMoved * look.quantum;
  return look;
}

bool is_rate(const ColumnProfile& column) {
  if (has(column, kRateWords)) return true;
  // "theta_rad_s", "deg/s"
  const bool angle = has(column, kRadian) || has(column, kDegreeWords) || has(column, kMetre);
  return angle && has(column, {"s", "sec", "per"});
}

/// Returns whether a turn has the quantization steps of an incremental encoder: four per line.
bool has_whole_lines(double quantum, double turn) {
  constexpr double kStepsPerLine = 4.0, kTolerance = 0.01;  // [lines]
  constexpr double kLinesMax = 2e4;  // more lines are whole within the rounding of the readings
  if (!(quantum > 0.0)) return false;
  const double lines = turn / quantum / kStepsPerLine;
  return lines < kLinesMax && std::abs(lines - std::round(lines)) < kTolerance;
}

/// Returns whether a column may be a reading: free, changing, and not known to be something else.
bool may_be_reading(const ColumnProfile& column) {
  if (!column.role.empty() || column.values.empty() || column.constant || is_rate(column)) {
    return false;
  }
  return !has(column, kWantedWords) && !has(column, kTimeWords) && !has(column, kSegmentWords) &&
         !has(column, kCommandWords);
}

int name_score(const ColumnProfile& column, bool position) {
  int score = 0;
  if (position) {
    score += has(column, kMetre) || has(column, kMillimetre) ? 4 : 0;
    score += has(column, kPositionWords) ? 2 : 0;
    score -= has(column, kRadian) || has(column, kDegreeWords) ? 4 : 0;
    return score > 0 ? score : -1;
  }
  score += has(column, kAngleWords) ? 2 : 0;
  score += has(column, kRadian) || has(column, kDegreeWords) || has(column, kTurn) ? 3 : 0;
  score += has(column, kCount) ? 2 : 0;
  score -= has(column, kMetre) || has(column, kMillimetre) ? 6 : 0;
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
  for (const NamedColumn& column : recording.columns) {
    columns.push_back(column.values.empty() ? ColumnProfile{column.name, words_of(column.name), {}}
                                            : look_at(column.name, column.values));
    columns.back().fault = column.fault;
  }
  return columns;
}

std::string describe_step_back(const std::vector<ColumnProfile>& columns) {
  for (const ColumnProfile& column : columns) {
    const auto back = std::ranges::adjacent_find(column.values, std::ranges::greater{});
    if (!has_time_name(column) || back == column.values.end()) continue;
    return "column \"" + column.name + "\" steps back from " + format_number(*back, 12) + " to " +
           format_number(*(back + 1), 12) + "; sort the rows by it, or remove this row";
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
  if (first == columns.end() || has(*first, kCount)) return nullptr;
  const std::vector<double> changes = changes_of(first->values);
  const double usual = median(changes);
  const bool even = changes.size() + 1 == first->values.size() &&
                    std::ranges::all_of(changes, [&](double c) { return c < 3.0 * usual; });
  return even ? &*first : nullptr;
}

TimeUnit guess_time_unit(const ColumnProfile& column) {
  if (has(column, kNanosecondWords)) return TimeUnit::kNanosecond;
  if (has(column, kMicrosecondWords)) return TimeUnit::kMicrosecond;
  if (has(column, kMillisecondWords)) return TimeUnit::kMillisecond;
  if (has(column, kSecondWords)) return TimeUnit::kSecond;
  constexpr std::pair<TimeUnit, double> kUnits[] = {{TimeUnit::kSecond, 1.0},
                                                    {TimeUnit::kMillisecond, 1e3},
                                                    {TimeUnit::kMicrosecond, 1e6},
                                                    {TimeUnit::kNanosecond, 1e9}};
  const double step = mean_time_step(column.values);
  TimeUnit found = TimeUnit::kSecond;
  for (const auto& [unit, per_second] : kUnits | std::views::reverse) {
    if (!(step <= per_second / kSlowest && step >= per_second / kFastest)) continue;
    const double epoch = column.low / per_second;
    if (epoch >= kEpochMin && epoch <= kEpochMax) return unit;
    found = unit;  // the largest plausible one
  }
  return found;
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
    if (has(column, kTimeWords) || has(column, kRadian) || has(column, kDegreeWords)) continue;
    int score = has(column, kCommandWords) ? 4 : 0;
    score += has(column, {"measured", "meas", "act", "actual"}) ? 1 : 0;
    score -= has(column, kWantedWords) ? 2 : 0;
    if (score <= most) continue;
    most = score;
    best = &column;
  }
  return best;
}

std::string guess_command_unit(const ColumnProfile& column) {
  if (has(column, {"v", "volt", "volts", "voltage"})) return "V";
  if (has(column, {"a", "amp", "amps", "current"})) return "A";
  if (has(column, {"nm", "torque", "tau"})) return "N·m";
  if (has(column, {"n", "force"})) return "N";
  if (has(column, {"pwm", "duty"})) {
    return std::max(std::abs(column.low), std::abs(column.high)) <= 1.0 ? "duty" : "1";
  }
  if (has(column, kEffortWords)) return has(column, kPositionWords) ? "N" : "N·m";
  return "V";
}

const ColumnProfile* find_segment_column(const std::vector<ColumnProfile>& columns) {
  for (const ColumnProfile& column : columns) {
    const bool named = !column.words.empty() && kSegmentWords.contains(column.words.front());
    const bool is_free = column.role.empty();
    if (is_free && named && column.whole && !column.values.empty() && !column.constant) {
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
  return has(column, kRadian) || has(column, kDegreeWords) || has(column, kTurn) ||
         has(column, kCount) || has(column, kMetre) || has(column, kMillimetre);
}

ReadingUnit guess_reading_unit(const ColumnProfile& column, bool position) {
  if (position) {
    if (has(column, kMillimetre)) return ReadingUnit::kMillimetre;
    if (has(column, kMetre)) return ReadingUnit::kMetre;
    if (column.whole && column.high - column.low > kCountsLeast) return ReadingUnit::kCount;
    return column.high - column.low > kDegreesLeast ? ReadingUnit::kMillimetre
                                                    : ReadingUnit::kMetre;
  }
  if (has(column, kRadian)) return ReadingUnit::kRadian;
  if (has(column, kDegreeWords)) return ReadingUnit::kDegree;
  if (has(column, kTurn)) return ReadingUnit::kTurn;
  const double range = column.high - column.low;
  if (column.whole && (has(column, kCount) || range > kCountsLeast)) return ReadingUnit::kCount;
  const bool fits_degrees = has_whole_lines(column.quantum, 360.0);
  const bool fits_radians = has_whole_lines(column.quantum, kTwoPi);
  if (fits_degrees != fits_radians) {
    return fits_degrees ? ReadingUnit::kDegree : ReadingUnit::kRadian;
  }
  return range > kDegreesLeast ? ReadingUnit::kDegree : ReadingUnit::kRadian;
}

double reading_unit_size(ReadingUnit unit, double counts) {
  if (unit == ReadingUnit::kCount) return counts > 0.0 ? kTwoPi / counts : 0.0;
  constexpr double kSizes[] = {1.0, M_PI / 180.0, kTwoPi, 0.0, 1.0, 1e-3};  // by ReadingUnit
  return kSizes[static_cast<std::size_t>(unit)];
}

std::optional<double> guess_encoder_counts(const ColumnProfile& column, ReadingUnit unit) {
  if (unit == ReadingUnit::kCount || !(column.quantum > 0.0)) return std::nullopt;
  const bool length = unit == ReadingUnit::kMetre || unit == ReadingUnit::kMillimetre;
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
