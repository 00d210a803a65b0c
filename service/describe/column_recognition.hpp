#pragma once

#include <optional>
#include <string>
#include <vector>

#include "service/describe/rig_answers.hpp"

namespace service {

/// Name and statistics of one column of a recording.
struct ColumnProfile {
  std::string name;
  std::vector<std::string> words;  ///< words of the name, lower case, without trailing numbers
  std::vector<double> values;      ///< empty if some are not numbers; NaN: missing
  double low = 0.0, high = 0.0;
  bool constant = true;
  bool rising = false;   ///< never decreases and is not constant
  bool whole = false;    ///< integers only
  double quantum = 0.0;  ///< quantization step; 0: none
};

/// Analyses all columns of a recording (read_columns).
/// @throws proto::InputError for a file without columns
std::vector<ColumnProfile> profile_columns(const std::string& path);

/// Finds the time column by its name or because it rises evenly; nullptr if there is none.
const ColumnProfile* find_time(const std::vector<ColumnProfile>& columns);

/// Guesses its unit from the name, else from plausible sampling rates.
TimeUnit guess_time_unit(const ColumnProfile& column);

/// Finds the columns that measure a kind's joints, in their order; fewer if the file lacks some.
std::vector<const ColumnProfile*> find_readings(const std::vector<ColumnProfile>& columns,
                                                RigKind kind, int chain);

/// Finds the column of a motor's command; nullptr if there is none.
const ColumnProfile* find_command(const std::vector<ColumnProfile>& columns);

/// Guesses its control unit from the name; "duty" only if no value is beyond ±1.
std::string guess_command_unit(const ColumnProfile& column);

/// Finds a column of whole numbers called segment, run or trial.
const ColumnProfile* find_segments(const std::vector<ColumnProfile>& columns);

/// Guesses the unit of a reading from its name, else from its range (a rig makes few turns).
ReadingUnit guess_reading_unit(const ColumnProfile& column, bool position);

/// Guesses counts per turn or metre from the quantization step; nullopt if there is none.
std::optional<double> guess_counts(const ColumnProfile& column, ReadingUnit unit);

/// Guesses the reading of the hanging joint [rad]: 0 or π if close to it, or π if named "upright".
/// @param driven  a motor moves the joint: it hangs at the start, otherwise at the end
double guess_hanging_reading(const ColumnProfile& column, ReadingUnit unit, bool driven);

/// Estimates the frequency of small oscillations about `rest` by counting [Hz]; nullopt for too
/// few.
std::optional<double> estimate_swing_frequency(const ColumnProfile& column, ReadingUnit unit,
                                               double rest, double period);

/// Returns one unit in rad or m; for kCount, a turn divided by `counts`.
double scale_of(ReadingUnit unit, double counts);

}  // namespace service
