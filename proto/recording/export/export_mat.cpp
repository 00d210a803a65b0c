#include "proto/recording/export/export_mat.hpp"

#include <matio.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "proto/recording/export/export_csv.hpp"
#include "proto/recording/mcap/file.hpp"
#include "proto/recording/recording_rules.hpp"

namespace proto {
namespace {

// Programs that detect file types from the first bytes look for these words.
constexpr const char* kFileText = "MATLAB 5.0 MAT-file, a recording of rigcal";

using OpenMat = std::unique_ptr<mat_t, int (*)(mat_t*)>;
using MatVariable = std::unique_ptr<matvar_t, void (*)(matvar_t*)>;

MatVariable own(matvar_t* variable) { return {variable, Mat_VarFree}; }

// Writes `values` in column order, for MATLAB. The library copies the data.
MatVariable make_matrix(const char* name, std::size_t rows, std::size_t columns,
                        std::vector<double> values) {
  std::array<std::size_t, 2> size = {rows, columns};
  return own(Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, size.data(), values.data(), 0));
}

MatVariable make_text(const char* name, std::string text) {
  std::array<std::size_t, 2> size = {1, text.size()};
  return own(Mat_VarCreate(name, MAT_C_CHAR, MAT_T_UTF8, 2, size.data(), text.data(), 0));
}

// MATLAB field names may contain letters, digits and underscores.
std::string field_name(const std::string& key) {
  std::string name;
  for (const char c : key) {
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return name.empty() || std::isalpha(static_cast<unsigned char>(name[0])) == 0 ? "f_" + name
                                                                                : name;
}

class MatWriter {
 public:
  MatWriter(const Recording& recording, mat_t& file) : recording_(recording), file_(file) {}

  bool write() {
    return write_samples() && write_gaps() && write_clock() &&
           put(make_matrix("release_s", 1, 1, {find_release_time(recording_.events)})) &&
           put_names("hinges", recording_.header.joints) && write_units() && write_inertial() &&
           write_facts();
  }

 private:
  bool put(const MatVariable& variable) {
    return variable && Mat_VarWrite(&file_, variable.get(), MAT_COMPRESSION_ZLIB) == 0;
  }

  bool put_column(const char* name, const std::function<double(const Sample&)>& value) {
    std::vector<double> values;
    values.reserve(recording_.samples.size());
    for (const Sample& sample : recording_.samples) values.push_back(value(sample));
    return put(make_matrix(name, recording_.samples.size(), 1, std::move(values)));
  }

  bool put_columns(const char* name, std::size_t columns,
                   const std::function<double(const Sample&, std::size_t)>& value) {
    std::vector<double> values;
    values.reserve(recording_.samples.size() * columns);
    for (std::size_t c = 0; c < columns; ++c) {
      for (const Sample& sample : recording_.samples) values.push_back(value(sample, c));
    }
    return put(make_matrix(name, recording_.samples.size(), columns, std::move(values)));
  }

  bool put_channels(const char* name,
                    const std::function<double(const Sample&, std::size_t)>& value) {
    return put_columns(name, recording_.header.joints.size(), value);
  }

  bool write_samples() {
    std::uint64_t next_sequence = ~std::uint64_t{0};
    double segment = 0.0;
    const auto count_segment = [&](const Sample& sample) {
      if (sample.sequence != next_sequence) segment += 1.0;
      next_sequence = sample.sequence + 1;
      return segment;
    };
    const auto number = [](auto value) { return static_cast<double>(value); };
    return put_column("time_s", [](const Sample& s) { return s.timestamp_s; }) &&
           write_commands() && put_column("segment", count_segment) &&
           put_column("sequence", [&](const Sample& s) { return number(s.sequence); }) &&
           put_column("device_time_us",
                      [&](const Sample& s) { return number(s.device_time_us); }) &&
           put_column("command_sequence",
                      [&](const Sample& s) { return number(s.command_sequence); }) &&
           put_column("tripped", [&](const Sample& s) { return number(s.tripped); }) &&
           put_column("driving", [&](const Sample& s) { return number(s.driving); }) &&
           put_column("fault_flags", [&](const Sample& s) { return number(s.fault_flags); }) &&
           put_column("error_count", [&](const Sample& s) { return number(s.error_count); }) &&
           put_channels(recording_.header.slides.empty() ? "angle_rad" : kMatReadings,
                        [](const Sample& s, std::size_t c) { return s.angle_rad[c]; }) &&
           put_channels(
               "encoder_counts",
               [&](const Sample& s, std::size_t c) { return number(s.encoder_counts[c]); }) &&
           put_channels("valid",
                        [&](const Sample& s, std::size_t c) { return number(s.valid[c]); });
  }

  bool write_commands() {
    const RecordingHeader& header = recording_.header;
    if (header.motors.size() <= 1) {
      return put_column(command_columns(header).front().c_str(),
                        [](const Sample& s) { return s.command.front(); });
    }
    std::vector<std::string> units;
    for (std::size_t m = 0; m < header.motors.size(); ++m) {
      units.push_back(command_unit(header, m));
    }
    return put_columns(kMatCommands, header.motors.size(),
                       [](const Sample& s, std::size_t m) { return s.command[m]; }) &&
           put_names(kMatMotors, header.motors) && put_names(kMatCommandUnits, units);
  }

  bool write_gaps() {
    std::vector<double> values;
    for (const Gap& gap : recording_.gaps)
      values.push_back(static_cast<double>(gap.first_sequence));
    for (const Gap& gap : recording_.gaps) values.push_back(static_cast<double>(gap.sample_count));
    return put(make_matrix("gaps", recording_.gaps.size(), 2, std::move(values)));
  }

  bool write_clock() {
    const auto& fits = recording_.clock_fits;
    std::vector<double> values;
    for (const ClockFit& fit : fits) values.push_back(fit.timestamp_s);
    for (const ClockFit& fit : fits) values.push_back(fit.rate_error_ppm);
    for (const ClockFit& fit : fits) values.push_back(fit.rate_error_ppm_sd);
    return put(make_matrix("clock", fits.size(), 3, std::move(values)));
  }

  bool put_names(const char* name, const std::vector<std::string>& names) {
    std::array<std::size_t, 2> size = {1, names.size()};
    MatVariable cell = own(Mat_VarCreate(name, MAT_C_CELL, MAT_T_CELL, 2, size.data(), nullptr, 0));
    for (std::size_t k = 0; cell && k < names.size(); ++k) {
      Mat_VarSetCell(cell.get(), static_cast<int>(k), make_text(nullptr, names[k]).release());
    }
    return put(cell);
  }

  bool write_units() {
    const RecordingHeader& header = recording_.header;
    if (header.slides.empty()) return true;
    std::vector<std::string> units;
    for (std::size_t c = 0; c < header.joints.size(); ++c)
      units.emplace_back(channel_unit(header, c));
    return put_names(kMatUnits, units);
  }

  // Columns as in a CSV file, seven per sensor; NaN if it was not read.
  bool write_inertial() {
    const std::vector<std::string>& sensors = recording_.header.inertial_sensors;
    if (sensors.empty()) return true;
    const std::size_t rows = recording_.samples.size();
    const std::size_t columns = kInertialEndings.size();
    std::vector<double> values(rows * columns * sensors.size(),
                               std::numeric_limits<double>::quiet_NaN());
    for (const InertialReading& reading : recording_.inertial) {
      const auto found =
          std::ranges::lower_bound(recording_.samples, reading.sequence, {}, &Sample::sequence);
      if (found == recording_.samples.end() || found->sequence != reading.sequence) continue;
      const auto row = static_cast<std::size_t>(found - recording_.samples.begin());
      const std::size_t first = reading.sensor * columns;
      for (std::size_t axis = 0; axis < kInertialAxes; ++axis) {
        values[(first + axis) * rows + row] = reading.value[axis];
      }
      values[(first + kInertialAxes) * rows + row] = static_cast<double>(reading.saturated);
    }
    return put_names("inertial_sensors", sensors) &&
           put(make_matrix("inertial", rows, columns * sensors.size(), std::move(values)));
  }

  bool write_facts() {
    std::vector<std::string> names;
    for (const auto& [key, value] : recording_.header.facts) names.push_back(field_name(key));
    std::vector<const char*> fields;
    for (const std::string& name : names) fields.push_back(name.c_str());
    std::array<std::size_t, 2> size = {1, 1};
    MatVariable facts = own(Mat_VarCreateStruct("facts", 2, size.data(), fields.data(),
                                                static_cast<unsigned>(fields.size())));
    std::size_t k = 0;
    for (const auto& [key, value] : recording_.header.facts) {
      if (!facts) return false;
      Mat_VarSetStructFieldByIndex(facts.get(), k++, 0, make_text(nullptr, value).release());
    }
    return put(facts);
  }

  const Recording& recording_;
  mat_t& file_;
};

Status write_file(const Recording& recording, const std::string& mat_path) {
  const std::string part = part_file_path(mat_path);
  {
    const OpenMat file(Mat_CreateVer(part.c_str(), kFileText, MAT_FT_MAT5), Mat_Close);
    if (!file || !MatWriter(recording, *file).write()) {
      return Error{ErrorCode::kInputOutput,
                   part + ": cannot be written; check the free disk space"};
    }
  }
  return publish_part_file(mat_path);
}

}  // namespace

Result<RecordingScan> export_mat(const std::string& recording_path, const std::string& mat_path) {
  auto recording = read_recording(recording_path);
  if (!recording.ok()) return recording.error();
  if (Status free = check_path_is_free(mat_path); !free.ok()) return free.error();
  if (Status written = write_file(recording.value(), mat_path); !written.ok()) {
    std::error_code ignored;
    std::filesystem::remove(part_file_path(mat_path), ignored);
    return written.error();
  }
  return std::move(recording.value().scan);
}

}  // namespace proto
