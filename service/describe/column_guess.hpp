#pragma once

#include <optional>
#include <string>
#include <vector>

#include "service/describe/rig_answers.hpp"

namespace service {

/// What a look at one column of a recording tells: its name, and its numbers.
struct ColumnLook {
  std::string name;
  std::vector<std::string> words;  ///< of the name, in small letters, without numbers at their ends
  std::vector<double> values;      ///< empty where some are no numbers; NaN: missing
  double low = 0.0, high = 0.0;
  bool constant = true;
  bool rising = false;   ///< never falls, and rises
  bool whole = false;    ///< integers alone
  double quantum = 0.0;  ///< of a reading that steps; 0: it does not
};

/// Looks at all columns of a recording (read_columns).
/// @throws proto::InputError for a file that has none
std::vector<ColumnLook> look_at_columns(const std::string& path);

/// Which column is the time, by its name and by rising evenly; nothing where none does.
const ColumnLook* find_time(const std::vector<ColumnLook>& columns);

/// Its unit: by the name, else the one that makes a rate that recordings have.
TimeUnit guess_time_unit(const ColumnLook& column);

/// Columns that read the joints of a kind, as many as there are and the file has, in their order.
std::vector<const ColumnLook*> find_readings(const std::vector<ColumnLook>& columns, RigKind kind,
                                             int chain);

/// The column that commands a motor; nothing where none moves.
const ColumnLook* find_command(const std::vector<ColumnLook>& columns);

/// Its control unit, by the name; "duty" only where no value is beyond ±1.
std::string guess_command_unit(const ColumnLook& column);

/// A column of few whole numbers called segment, run or trial.
const ColumnLook* find_segments(const std::vector<ColumnLook>& columns);

/// Unit of a reading: by the name, else by its range (turns of a rig are few).
ReadingUnit guess_reading_unit(const ColumnLook& column, bool position);

/// Counts per turn, or per metre, of a reading that steps; nothing where it does not.
std::optional<double> guess_counts(const ColumnLook& column, ReadingUnit unit);

/// What an angle reads where its joint hangs [rad]: 0 and π where it is about that, or its name
/// says from upright.
/// @param driven  a motor moves it: it hangs before that. Otherwise it hangs in the end
double guess_rest(const ColumnLook& column, ReadingUnit unit, bool driven);

/// Frequency of small swings about the rest [Hz], by counting; nothing where there are few.
std::optional<double> guess_swing(const ColumnLook& column, ReadingUnit unit, double rest,
                                  double period);

/// Of a column in a unit, one of it [rad or m]; of counts, of a turn or a metre of so many.
double scale_of(ReadingUnit unit, double counts);

}  // namespace service
