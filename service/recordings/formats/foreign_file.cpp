#include <algorithm>
#include <ranges>
#include <vector>

#include "service/recordings/formats/recording_formats.hpp"

namespace service {
namespace {

/// File format that rigcal does not read, recognized by the first bytes.
struct ForeignFormat {
  std::string_view begin;
  std::string_view name;
  std::string_view remedy;  ///< PATH stands for the file
};

constexpr std::string_view kSpreadsheetRemedy =
    "Save the sheet as CSV, or convert it in Python: "
    "pandas.read_excel('PATH').to_csv('run.csv', index=False)";

constexpr ForeignFormat kForeignFormats[] = {
    {"PAR1", "Parquet files",
     "Convert the file to CSV in Python: "
     "pandas.read_parquet('PATH').to_csv('run.csv', index=False). "
     "docs/python.md shows how to use columns of lists, as LeRobot writes them"},
    {"ARROW1", "Arrow and Feather files",
     "Convert the file to CSV in Python: "
     "pandas.read_feather('PATH').to_csv('run.csv', index=False)"},
    {"TDSm", "LabVIEW TDMS files",
     "Convert the file in Python with the package npTDMS: "
     "nptdms.TdmsFile.read('PATH').as_dataframe(time_index=True).to_csv('run.csv')"},
    {"\xD0\xCF\x11\xE0", "Excel workbooks", kSpreadsheetRemedy},
    {"PK\x03\x04", "Excel workbooks and other ZIP archives", kSpreadsheetRemedy},
    {"MDF     ", "MDF files",
     "Convert the file in Python with the package asammdf: "
     "asammdf.MDF('PATH').to_dataframe().to_csv('run.csv')"},
    {"ULog\x01", "PX4 logs", "Convert the file with ulog2csv of the package pyulog: ulog2csv PATH"},
    {"#ROSBAG V2.0", "ROS 1 bags",
     "Convert the file with the package rosbags: "
     "rosbags-convert --src PATH --dst run.mcap --dst-storage mcap"},
    {"\x1F\x8B", "compressed files", "Expand the file: gunzip --keep PATH"},
    {"\x28\xB5\x2F\xFD", "compressed files", "Expand the file: zstd -d PATH"},
    {"BZh91AY", "compressed files", "Expand the file: bunzip2 --keep PATH"},
    {"\xFD\x37zXZ", "compressed files", "Expand the file: unxz --keep PATH"},
};

constexpr ForeignFormat kCanLog = {
    "", "logs of a CAN bus",
    "The database of the bus gives frames their meaning. Convert the file in Python with the "
    "packages python-can and cantools: db = cantools.database.load_file('bus.dbc'); "
    "pandas.DataFrame({'t': m.timestamp, **db.decode_message(m.arbitration_id, m.data)} "
    "for m in can.CanutilsLogReader('PATH')).to_csv('run.csv', index=False)"};
constexpr ForeignFormat kCanText = {
    "", "printed frames of a CAN bus",
    "Record the bus with \"candump -l\" instead, and decode that file in Python with the packages "
    "python-can and cantools"};

/// Returns the format of a text of CAN frames as candump writes them, to a file as "(1436509052.2)
/// can0 044#2A36" or to the terminal as "can0  044   [2]  2A 36"; nullptr for any other text.
const ForeignFormat* find_can_format(std::string_view begin) {
  begin = begin.substr(0, begin.find('\n'));
  std::vector<std::string_view> words;
  for (const auto part : std::views::split(begin, ' ')) {
    if (!part.empty()) words.emplace_back(part.begin(), part.end());
  }
  const bool has_time = !words.empty() && words.front().starts_with('(');
  const std::size_t at = has_time ? 2 : 1;
  if (words.size() <= at) return nullptr;
  const std::string_view frame = words[at];
  const std::size_t id_end =
      std::min(frame.find_first_not_of("0123456789ABCDEFabcdef"), frame.size());
  if (id_end != 3 && id_end != 8) return nullptr;
  if (has_time && frame.substr(id_end).starts_with('#')) return &kCanLog;
  const bool has_length = words.size() > at + 1 && words[at + 1].starts_with('[') &&
                          words[at + 1].ends_with(']') && id_end == frame.size();
  return has_length ? &kCanText : nullptr;
}

std::string describe(const std::string& path, const ForeignFormat& format) {
  std::string remedy(format.remedy);
  constexpr std::string_view kPlaceholder = "PATH";
  if (const std::size_t at = remedy.find(kPlaceholder); at != std::string::npos) {
    remedy.replace(at, kPlaceholder.size(), path);
  }
  return path + ": " + std::string(format.name) + " are not supported. " + remedy;
}

/// Returns whether a ZIP archive begins with an array of NumPy.
bool is_npz(std::string_view begin) {
  constexpr std::size_t kNameAt = 30;
  return begin.starts_with("PK\x03\x04") && begin.find(".npy", kNameAt) != std::string_view::npos;
}

}  // namespace

std::string describe_foreign_file(const std::string& path, std::string_view begin) {
  if (is_npz(begin)) return "";
  for (const ForeignFormat& format : kForeignFormats) {
    if (begin.starts_with(format.begin)) return describe(path, format);
  }
  const ForeignFormat* const can = find_can_format(begin);
  return can == nullptr ? "" : describe(path, *can);
}

}  // namespace service
