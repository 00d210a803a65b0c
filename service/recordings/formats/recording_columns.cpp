#include "service/recordings/formats/recording_columns.hpp"

#include <algorithm>

#include "proto/recording/export/hdf5_file.hpp"
#include "proto/recording/export/mat_file.hpp"
#include "proto/text/files.hpp"
#include "proto/text/input_error.hpp"
#include "service/recordings/formats/joint_state_recording.hpp"
#include "service/recordings/formats/recording_kind.hpp"

namespace service {
namespace {

RecordingColumns csv_columns(const std::string& path) {
  const std::string text = proto::read_file(path, proto::kTableSizeMax);
  RecordingColumns found;
  for (const std::string& name : proto::parse_csv_header(path, text)) {
    try {
      auto table = proto::parse_csv(path, text, {{name, proto::MissingCells::kAllowed}});
      found.columns.push_back({name, std::move(table.values[0])});
    } catch (const proto::TextColumn&) {
      found.columns.push_back({name, {}});
      found.texts.push_back(name);
    } catch (const proto::InputError& error) {
      found.columns.push_back({name, {}});
      found.fault = error.what();
    }
  }
  return found;
}

RecordingColumns mat_columns(const std::string& path) {
  const proto::MatFile file(path);
  RecordingColumns found;
  for (const proto::MatFile::Variable& variable : file.variables()) {
    if (!variable.is_numeric || variable.rows * variable.columns == 0) continue;
    const std::vector<double> values = file.read(variable.name);
    const bool single = variable.rows == 1 || variable.columns == 1;
    const std::size_t columns = single ? 1 : variable.columns;
    const auto rows = static_cast<std::ptrdiff_t>(values.size() / columns);
    for (std::size_t k = 0; k < columns; ++k) {
      const auto begin = values.begin() + static_cast<std::ptrdiff_t>(k) * rows;
      found.columns.push_back(
          {single ? variable.name : variable.name + "(" + std::to_string(k + 1) + ")",
           {begin, begin + rows}});
    }
  }
  return found;
}

RecordingColumns hdf5_columns(const std::string& path) {
  const proto::Hdf5File file(path);
  RecordingColumns found;
  for (const proto::Hdf5File::Column& column : file.columns()) {
    const std::string last = column.name.substr(column.name.rfind('/') + 1);
    found.columns.push_back({file.find(last) == &column ? last : column.name, file.read(column)});
  }
  // The row index of pandas is a column, too, but the least likely choice.
  std::ranges::stable_partition(found.columns,
                                [](const NamedColumn& each) { return each.name != "axis1"; });
  if (file.has_blocks()) {
    found.fault =
        path +
        ": pandas wrote a table without column names. Save it with to_hdf(..., format='fixed')";
  }
  return found;
}

/// Keeps the columns with the most frequent length. Others are scalars or settings.
void keep_rows(std::vector<NamedColumn>& columns) {
  std::size_t best = 0;
  std::ptrdiff_t most = 0;
  for (const NamedColumn& column : columns) {
    const std::size_t rows = column.values.size();
    const auto count = std::ranges::count_if(
        columns, [&](const NamedColumn& each) { return each.values.size() == rows; });
    if (rows > 1 && (count > most || (count == most && rows > best))) {
      most = count;
      best = rows;
    }
  }
  std::erase_if(columns, [&](const NamedColumn& each) { return each.values.size() != best; });
}

RecordingColumns columns_of(const std::string& path, RecordingKind kind) {
  switch (kind) {
    case RecordingKind::kMat:
      return mat_columns(path);
    case RecordingKind::kHdf5:
      return hdf5_columns(path);
    case RecordingKind::kJointState:
      return {.columns = joint_state_columns(path)};
    case RecordingKind::kDaqMcap:
      throw proto::InputError(
          path +
          ": an MCAP recording needs no column names; use it with its rig file. \"rigcal export " +
          path + " --out run.csv\" converts it to a table");
    case RecordingKind::kStateMcap:
      throw proto::InputError(path +
                              ": contains states estimated by rigcal. Give the original recording");
    default:
      refuse_unsupported_kind(path, kind);
      return csv_columns(path);
  }
}

}  // namespace

RecordingColumns read_columns(const std::string& path) {
  const RecordingKind kind = recording_kind(path);
  RecordingColumns found = columns_of(path, kind);
  if (kind == RecordingKind::kMat || kind == RecordingKind::kHdf5) keep_rows(found.columns);
  const bool any =
      std::ranges::any_of(found.columns, [](const auto& c) { return !c.values.empty(); });
  if (any) return found;
  throw proto::InputError(found.fault.empty() ? path + ": has no numeric rows" : found.fault);
}

}  // namespace service
