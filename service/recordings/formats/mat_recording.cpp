#include "service/recordings/formats/recording_formats.hpp"

#include <algorithm>
#include <charconv>

#include "proto/recording/export/hdf5_file.hpp"
#include "proto/recording/export/mat_file.hpp"
#include "proto/text/input_error.hpp"
#include "service/recordings/csv_recording.hpp"

namespace service {
namespace {

constexpr std::ptrdiff_t kNamesMax = 20;  // in a message

/// Column name in a rig file, which means a MAT variable or one column of a matrix.
struct ColumnName {
  std::string variable;
  std::size_t column = 0;  // from 1; 0: the whole variable, a vector
};

ColumnName parse_name(const std::string& text) {
  const std::size_t open = text.find('(');
  if (open == std::string::npos || text.back() != ')') return {text};
  ColumnName name{text.substr(0, open)};
  const char* const end = text.data() + text.size() - 1;
  const auto [parsed, fault] = std::from_chars(text.data() + open + 1, end, name.column);
  if (fault != std::errc() || parsed != end || name.column == 0) return {text};
  return name;
}

std::vector<double> read_column(const std::string& path, const proto::MatFile& file,
                                const std::string& text) {
  const ColumnName name = parse_name(text);
  const proto::MatFile::Variable* const variable = file.find(name.variable);
  if (variable == nullptr) {
    throw proto::InputError(path + ": no variable \"" + name.variable + "\"; the file has " +
                            join_quoted_names(file.variables(), "none", kNamesMax) +
                            "; correct the name in the rig file's recording { }");
  }
  std::vector<double> values = file.read(name.variable);
  const bool is_vector = variable->rows == 1 || variable->columns == 1;
  if (name.column == 0 && is_vector) return values;
  if (name.column == 0 || name.column > variable->columns) {
    throw proto::InputError(path + ": variable \"" + name.variable + "\" is a matrix with " +
                            std::to_string(variable->columns) + " columns; name one of them in " +
                            "the rig file's recording { }, such as column: \"" + name.variable +
                            "(1)\"");
  }
  const auto begin =
      values.begin() + static_cast<std::ptrdiff_t>((name.column - 1) * variable->rows);
  return {begin, begin + static_cast<std::ptrdiff_t>(variable->rows)};
}

}  // namespace

ImportedRecording import_mat(const std::string& path, const Rig& rig, const TimeWindow& window) {
  const proto::MatFile file(path);
  const bool has_columns =
      rig.format &&
      std::ranges::all_of(make_column_requests(*rig.format), [&](const auto& request) {
        return file.find(parse_name(request.name).variable) != nullptr;
      });
  if (is_exported_mat(file) && !has_columns) return import_exported_mat(path, file, rig);
  if (!rig.format) {
    throw proto::InputError(
        rig.path + ": has no recording { }. Add one that names " + "the variables of " + path +
        " (" + join_quoted_names(file.variables(), "none", kNamesMax) + ") as columns");
  }
  const auto read = [&](const std::string& name) { return read_column(path, file, name); };
  return import_file_columns(path, "variable", *rig.format, read, window);
}

ImportedRecording import_hdf5(const std::string& path, const Rig& rig, const TimeWindow& window) {
  const proto::Hdf5File file(path);
  if (!rig.format) {
    throw proto::InputError(
        rig.path + ": has no recording { }. Add one that names " + "the data sets of " + path +
        " (" + join_quoted_names(file.columns(), "no numbers", kNamesMax) + ") as columns");
  }
  const auto read = [&](const std::string& name) {
    const proto::Hdf5File::Column* const column = file.find(name);
    if (column == nullptr) {
      throw proto::InputError(
          path + ": no data set \"" + name + "\", or several in groups; the file has " +
          join_quoted_names(file.columns(), "no numbers", kNamesMax) + "; " +
          (file.has_pandas_blocks() ? "pandas wrote a table without column names; save it with "
                                      "to_hdf(..., format='fixed')"
                                    : "correct the name in the rig file's recording { }"));
    }
    return file.read(*column);
  };
  return import_file_columns(path, "data set", *rig.format, read, window);
}

}  // namespace service
