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

/// Returns whether a ZIP archive begins with an array of NumPy.
bool is_npz(std::string_view begin) {
  constexpr std::size_t kNameAt = 30;
  return begin.starts_with("PK\x03\x04") && begin.find(".npy", kNameAt) != std::string_view::npos;
}

}  // namespace

std::string describe_foreign_file(const std::string& path, std::string_view begin) {
  if (is_npz(begin)) return "";
  for (const ForeignFormat& format : kForeignFormats) {
    if (!begin.starts_with(format.begin)) continue;
    std::string remedy(format.remedy);
    constexpr std::string_view kPlaceholder = "PATH";
    if (const std::size_t at = remedy.find(kPlaceholder); at != std::string::npos) {
      remedy.replace(at, kPlaceholder.size(), path);
    }
    return path + ": " + std::string(format.name) + " are not supported. " + remedy;
  }
  return "";
}

}  // namespace service
