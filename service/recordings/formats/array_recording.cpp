#include <algorithm>
#include <charconv>
#include <map>

#include "proto/recording/arrays/array_file.hpp"
#include "proto/text/input_error.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/recordings/formats/recording_formats.hpp"

namespace service {
namespace {

using proto::ArrayFile;

constexpr std::size_t kNamesMax = 20;  // in a message

/// Column name in a rig file: an array that is a vector, or one column or row of a matrix.
struct SignalName {
  std::string array;
  std::size_t index = 0;  // from 1; 0: the whole array
  bool is_row = false;
};

/// Parses "x", "x(:,2)" and its short form "x(2)", or "x(2,:)".
SignalName parse_signal_name(const std::string& text) {
  const std::size_t open = text.rfind('(');
  if (open == std::string::npos || text.back() != ')') return {text};
  std::string inside = text.substr(open + 1, text.size() - open - 2);
  SignalName name{text.substr(0, open)};
  name.is_row = inside.ends_with(",:");
  if (name.is_row) inside.resize(inside.size() - 2);
  if (inside.starts_with(":,")) inside.erase(0, 2);
  const char* const end = inside.data() + inside.size();
  const auto [parsed, fault] = std::from_chars(inside.data(), end, name.index);
  if (fault != std::errc() || parsed != end || name.index == 0) return {text};
  return name;
}

/// Signals are along the longer dimension of a matrix. Simulink's "To File" stores them as rows.
bool has_signals_in_rows(const ArrayFile::Array& array) { return array.columns > array.rows; }

std::string signal_name(const std::string& array, bool in_rows, std::size_t index) {
  const std::string number = std::to_string(index);
  return array + (in_rows ? "(" + number + ",:)" : "(:," + number + ")");
}

std::string describe_arrays(const ArrayFile& file) {
  std::string list;
  for (std::size_t k = 0; k < file.arrays().size() && k < kNamesMax; ++k) {
    const ArrayFile::Array& array = file.arrays()[k];
    list += (k == 0 ? "\"" : ", \"") + array.name + "\" (" + array.size_text() + ")";
  }
  if (file.arrays().size() > kNamesMax) list += ", …";
  return list.empty() ? "no arrays of numbers" : list;
}

std::string describe_omissions(const ArrayFile& file) {
  std::string text;
  for (std::size_t k = 0; k < file.omissions().size() && k < kNamesMax; ++k) {
    const ArrayFile::Omission& omission = file.omissions()[k];
    text += (k == 0 ? "\"" : "; \"") + omission.name + "\" " + omission.reason;
  }
  return text;
}

[[noreturn]] void refuse_name(const ArrayFile& file, const std::string& name) {
  for (const ArrayFile::Omission& omission : file.omissions()) {
    if (name.starts_with(omission.name)) {
      throw proto::InputError(file.path() + ": \"" + omission.name + "\" " + omission.reason);
    }
  }
  const std::string omissions = describe_omissions(file);
  throw proto::InputError(file.path() + ": no array \"" + name +
                          "\", or several in groups; the file has " + describe_arrays(file) +
                          (omissions.empty() ? "" : "; " + omissions) +
                          "; correct recording { } in the rig file");
}

/// Reads signals of a file; each array is read once.
class SignalReader {
 public:
  explicit SignalReader(const ArrayFile& file) : file_(file) {}

  /// Returns the array that contains a signal; null if there is none.
  const ArrayFile::Array* find_array(const std::string& text) const {
    const ArrayFile::Array* const whole = file_.find(text);
    return whole != nullptr ? whole : file_.find(parse_signal_name(text).array);
  }

  std::vector<double> read(const std::string& text) {
    const ArrayFile::Array* const array = find_array(text);
    if (array == nullptr) refuse_name(file_, text);
    const SignalName name = file_.find(text) == array ? SignalName{text} : parse_signal_name(text);
    if (name.index == 0 && array->is_vector()) return values_of(*array);
    const std::size_t count = name.is_row ? array->rows : array->columns;
    if (name.index == 0 || name.index > count) {
      const bool in_rows = has_signals_in_rows(*array);
      throw proto::InputError(file_.path() + ": \"" + array->name + "\" is a matrix, " +
                              array->size_text() + "; name one of its " +
                              (in_rows ? "rows" : "columns") +
                              " in the rig file's recording { }, such as column: \"" +
                              signal_name(array->name, in_rows, 1) + "\"");
    }
    return read_part(*array, name.is_row, name.index);
  }

  /// @param index  from 1
  std::vector<double> read_part(const ArrayFile::Array& array, bool is_row, std::size_t index) {
    const std::vector<double>& values = values_of(array);
    std::vector<double> part(is_row ? array.columns : array.rows);
    const std::size_t first = is_row ? index - 1 : (index - 1) * array.rows;
    for (std::size_t k = 0; k < part.size(); ++k) {
      part[k] = values[first + k * (is_row ? array.rows : 1)];
    }
    return part;
  }

  const std::vector<double>& values_of(const ArrayFile::Array& array) {
    const auto [found, is_new] = read_.try_emplace(&array);
    if (is_new) found->second = file_.read(array);
    return found->second;
  }

  void forget(const ArrayFile::Array& array) { read_.erase(&array); }

 private:
  const ArrayFile& file_;
  std::map<const ArrayFile::Array*, std::vector<double>> read_;
};

std::size_t length_of(const ArrayFile::Array& array) { return std::max(array.rows, array.columns); }

std::size_t signals_in(const ArrayFile::Array& array) {
  return std::min(array.rows, array.columns);
}

/// Returns the number of samples that most signals have. Other arrays are scalars or settings.
std::size_t most_frequent_length(const ArrayFile& file) {
  std::map<std::size_t, std::size_t> counts;
  for (const ArrayFile::Array& array : file.arrays()) {
    if (length_of(array) > 1) counts[length_of(array)] += signals_in(array);
  }
  std::size_t best = 0, most = 0;
  for (const auto& [length, count] : counts) {
    if (count >= most) best = length;
    most = std::max(most, count);
  }
  return best;
}

}  // namespace

ImportedRecording import_arrays(const std::string& path, const Rig& rig, const TimeWindow& window) {
  const auto file = proto::open_array_file(path);
  SignalReader reader(*file);
  const bool has_columns =
      rig.format &&
      std::ranges::all_of(make_column_requests(*rig.format), [&](const auto& request) {
        return reader.find_array(request.name) != nullptr;
      });
  if (is_exported_mat(*file) && !has_columns) return import_exported_mat(path, *file, rig);
  if (!rig.format) {
    throw proto::InputError(rig.path + ": has no recording { }. Add one that names the arrays of " +
                            path + " as columns: " + describe_arrays(*file));
  }
  const auto read = [&](const std::string& name) { return reader.read(name); };
  return import_file_columns(path, "array", *rig.format, read, window);
}

RecordingColumns read_array_columns(const std::string& path) {
  const auto file = proto::open_array_file(path);
  SignalReader reader(*file);
  RecordingColumns found;
  const std::size_t length = most_frequent_length(*file);
  for (const ArrayFile::Array& array : file->arrays()) {
    if (length_of(array) != length || signals_in(array) == 0 ||
        found.columns.size() + signals_in(array) > proto::kArraysMax) {
      found.others.push_back({array.name, "has the size " + array.size_text() +
                                              ", but most arrays have " + std::to_string(length) +
                                              " values"});
      continue;
    }
    // The name within a group is enough if no other group has it.
    const std::string last = array.name.substr(array.name.rfind('/') + 1);
    const std::string name = file->find(last) == &array ? last : array.name;
    if (array.is_vector()) {
      found.columns.push_back({name, reader.values_of(array)});
    } else {
      const bool in_rows = has_signals_in_rows(array);
      for (std::size_t k = 1; k <= signals_in(array); ++k) {
        found.columns.push_back(
            {signal_name(name, in_rows, k), reader.read_part(array, in_rows, k)});
      }
    }
    reader.forget(array);
  }
  // The row index of pandas is a column, too, but the least likely choice.
  std::ranges::stable_partition(found.columns,
                                [](const NamedColumn& each) { return each.name != "axis1"; });
  const std::string omissions = describe_omissions(*file);
  if (!omissions.empty()) found.fault = path + ": " + omissions;
  for (const auto& [name, reason] : file->omissions()) found.others.push_back({name, reason});
  return found;
}

}  // namespace service
