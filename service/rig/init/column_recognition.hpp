#pragma once

#include <optional>
#include <string>
#include <vector>

#include "service/rig/init/rig_answers.hpp"

namespace service {

/// Name, values and statistics of a column of a recording.
struct ColumnProfile {
  std::string name;
  std::vector<std::string> words;  ///< words of the name in lower case, without trailing digits
  std::vector<double> values;      ///< NaN: missing; empty if some cells are not numbers
  double low = 0.0, high = 0.0;
  bool constant = true;
  bool rising = false;   ///< true if values never decrease and are not constant
  bool whole = false;    ///< true if all values are integers
  double quantum = 0.0;  ///< quantization step; 0: not quantized
};

/// Reads a recording with read_columns and returns a profile of each column.
/// @throws proto::InputError for a file without columns
std::vector<ColumnProfile> profile_columns(const std::string& path);

/// Returns the column of time stamps, recognized by its name or by evenly rising values; nullptr if
/// there is none.
const ColumnProfile* find_time(const std::vector<ColumnProfile>& columns);

/// Guesses the unit of a column of time stamps from its name, or else from plausible sampling
/// rates.
TimeUnit guess_time_unit(const ColumnProfile& column);

/// Returns the columns that measure the joints of a kind of rig, in the order of these joints;
/// fewer columns if the file lacks some.
/// @param chain  number of links of a chain
std::vector<const ColumnProfile*> find_readings(const std::vector<ColumnProfile>& columns,
                                                RigKind kind, int chain);

/// Returns the column of a motor's command; nullptr if there is none.
const ColumnProfile* find_command(const std::vector<ColumnProfile>& columns);

/// Guesses the unit of a command column from its name. The guess is "duty" only if all values are
/// between -1 and 1.
std::string guess_command_unit(const ColumnProfile& column);

/// Returns the column of whole numbers whose name is "segment", "run" or "trial"; nullptr if there
/// is none.
const ColumnProfile* find_segments(const std::vector<ColumnProfile>& columns);

/// Guesses the unit of an encoder column from its name, or else from its range, assuming few turns.
/// @param position  true for a prismatic joint, false for a revolute joint
ReadingUnit guess_reading_unit(const ColumnProfile& column, bool position);

/// Guesses an encoder's counts per turn or metre from its quantization step; nullopt if the column
/// has no quantization step.
std::optional<double> guess_counts(const ColumnProfile& column, ReadingUnit unit);

/// Guesses what a joint's encoder reads while the joint hangs at rest [rad]. Returns π if the
/// column's name contains "upright", and exactly 0 or π if the estimate is close to that value.
/// @param driven  true if a motor moves the joint, which then hangs at the start of the recording;
/// a joint without motor hangs at the end
double guess_hanging_reading(const ColumnProfile& column, ReadingUnit unit, bool driven);

/// Estimates the frequency of small oscillations about the reading `rest` by counting oscillations
/// [Hz]. Returns nullopt if there are too few.
std::optional<double> estimate_swing_frequency(const ColumnProfile& column, ReadingUnit unit,
                                               double rest, double period);

/// Returns the size of a unit in rad or m. For ReadingUnit::kCount, this is one turn divided by
/// `counts`.
double scale_of(ReadingUnit unit, double counts);

}  // namespace service
