#pragma once

#include <optional>
#include <string>
#include <vector>

#include "service/recordings/command_unit.hpp"
#include "service/rig/init/rig_answers.hpp"

namespace service {

/// Name, values and statistics of a column in a recording file.
struct ColumnProfile {
  std::string name;
  std::string label;               ///< name and unit, such as "theta [deg]"
  std::vector<std::string> words;  ///< words of the label in lower case, without trailing digits
  std::vector<double> values;      ///< NaN: missing; empty if some cells are not numbers
  double low = 0.0, high = 0.0;    ///< smallest and largest value without false readings
  bool constant = true;
  bool moves = false;      ///< true if values change by much more than their noise and quantization
  bool rising = false;     ///< true if values never decrease and are not constant
  bool whole = false;      ///< true if all values are integers
  double quantum = 0.0;    ///< quantization step; 0: not quantized
  std::string role = {};   ///< use of the column; empty: not used yet
  std::string fault = {};  ///< reason why the column cannot be read; empty if it can
};

/// Reads a recording file and returns the name, values and statistics of each column.
/// @param names   column names of a text file without header line; empty: "1", "2" and so on
/// @param topic   topic of a ROS 2 bag; empty: all topics
/// @param layout  output: assumptions about the layout of a text file; may be null
/// @throws proto::InputError for a file without columns, or a file whose names differ from `names`
std::vector<ColumnProfile> read_column_profiles(const std::string& path,
                                                const std::vector<std::string>& names = {},
                                                const std::string& topic = {},
                                                std::string* layout = nullptr);

// A column has at most one role: the following functions skip columns that already have a role.

/// Returns the time column of a recording, recognized by its name or by evenly rising values;
/// nullptr if there is none. A header stamp is preferred to the time of receipt.
const ColumnProfile* find_time_column(const std::vector<ColumnProfile>& columns);

/// Guesses the unit of a time column from its name, otherwise from dates in the years 2001 to 2099,
/// otherwise from plausible sampling rates.
/// @throws proto::InputError for a name that contains an unknown unit or the unit of a counter
TimeUnit guess_time_unit(const ColumnProfile& column);

/// Returns the encoder columns for the measured joints of a rig, in the order of the joints.
/// Missing columns are left out. Columns with changing values are preferred. If k joints lack such
/// a column, and exactly k columns with unknown names have changing values, these columns are used.
/// @param chain  number of links of a chain
std::vector<const ColumnProfile*> find_encoder_columns(const std::vector<ColumnProfile>& columns,
                                                       RigKind kind, int chain);

/// Returns the column with the motor command; nullptr if there is none.
const ColumnProfile* find_command_column(const std::vector<ColumnProfile>& columns);

bool has_time_name(const ColumnProfile& column);

/// Returns whether the name of a column contains a unit of angle or length.
bool has_unit_name(const ColumnProfile& column);

/// Returns why there is no time column, as text for a message. The reason is the first decrease in
/// a column with the name of a time, or a column that counts rows. Empty if neither is found.
std::string describe_missing_time(const std::vector<ColumnProfile>& columns);

/// Returns whether the name of a column indicates readings of an encoder.
/// @param position  true for a prismatic joint, false for a revolute joint
bool has_encoder_name(const ColumnProfile& column, bool position);

/// Returns why a column is not used, e.g. "constant" or "a speed or an acceleration".
std::string describe_unused_column(const ColumnProfile& column);

/// Guesses the unit of a motor command from the name of its column. The guess is "duty" only if all
/// values are between -1 and 1.
CommandUnit guess_command_unit(const ColumnProfile& column);
/// Returns whether the name of a command's column contains the unit of the command.
bool has_command_unit(const ColumnProfile& column);

/// Returns the column with segment numbers, named "segment", "run" or "trial"; nullptr if there is
/// none.
const ColumnProfile* find_segment_column(const std::vector<ColumnProfile>& columns);

/// Guesses the unit of an encoder column from its name, otherwise from the range of its values.
/// @param position  true for a prismatic joint, false for a revolute joint
/// @throws proto::InputError for a name that contains an unknown unit or a unit of another quantity
ReadingUnit guess_reading_unit(const ColumnProfile& column, bool position);

/// Guesses the counts per turn or metre of an encoder from the quantization step of its readings;
/// nullopt if the readings are not quantized.
std::optional<double> guess_encoder_counts(const ColumnProfile& column, ReadingUnit unit);

/// Guesses the encoder reading at which a joint hangs at rest [rad]. The guess is π if the column's
/// name contains "upright", and exactly 0 or π if the estimate is close to that value.
/// @param driven  true if a motor moves the joint. A driven joint hangs at the start of the
/// recording, a joint without motor at the end
double guess_hanging_reading(const ColumnProfile& column, ReadingUnit unit, bool driven);

/// Estimates the frequency of small oscillations of a joint [Hz] by counting; nullopt if there are
/// too few oscillations.
/// @param rest    reading about which the joint oscillates [rad]
/// @param period  sampling period [s]
std::optional<double> estimate_swing_frequency(const ColumnProfile& column, ReadingUnit unit,
                                               double rest, double period);

}  // namespace service
