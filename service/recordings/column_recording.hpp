#pragma once

#include <functional>
#include <ranges>
#include <string>
#include <vector>

#include "proto/text/csv_table.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/rig/recording_format.hpp"

namespace service {

/// Column of numbers in memory, with a name.
struct NamedColumn {
  std::string name;
  std::vector<double> values;  ///< one per row; NaN if missing
};

/// Returns the names of items in quotes, e.g. "a", "b"; `none` if there are none.
/// @param shown_max  largest number of names
template <typename Items>
std::string quoted_names(const Items& items, const std::string& none,
                         std::size_t shown_max = static_cast<std::size_t>(-1)) {
  std::string list;
  for (const auto& item : items | std::views::take(shown_max)) {
    list += (list.empty() ? "\"" : ", \"") + item.name + "\"";
  }
  return list.empty() ? none : list;
}

/// Imports a recording from columns in memory, with the checks of `import_csv_text`. Messages
/// count rows from 1.
/// @param name  name of the recording for messages
/// @throws proto::InputError "NAME:ROW:COLUMN: message; remedy"
ImportedRecording import_columns(const std::string& name, const std::vector<NamedColumn>& columns,
                                 const RecordingFormat& format);

/// Imports a recording from a file that stores whole columns by name, such as MAT or HDF5. Values
/// are checked like the cells of a CSV file.
/// @param noun  word for a column in messages, e.g. "variable"
/// @param read  function that returns the column with a name from the rig file's recording { }
/// @throws proto::InputError naming file and column
ImportedRecording import_named_columns(
    const std::string& path, const std::string& noun, const RecordingFormat& format,
    const std::function<std::vector<double>(const std::string&)>& read);

}  // namespace service
