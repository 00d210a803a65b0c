#include "proto/recording/export/export_csv.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "proto/recording/mcap/byte_cursor.hpp"
#include "proto/recording/mcap/file.hpp"
#include "proto/recording/recording_rules.hpp"

namespace proto {
namespace {

constexpr std::size_t kBufferSize = 1
                                    << 16;  // bytes collected before each write to the file [byte]
constexpr std::string_view kCommandBeginning = "command_";

// Converts a unit to a part of a column's name.
std::string unit_word(const std::string& unit) {
  std::string word;
  for (const char c : unit) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) word += c;
  }
  return word.empty() ? "V" : word;
}

template <typename Number>
void append_number(std::string& text, Number value) {
  std::array<char, 40> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
}

/// Values that hold for the whole recording and are repeated in every row.
class Facts final : public RecordingVisitor {
 public:
  void on_clock_fit(const ClockFit& fit) override { rate_error_ppm_ = fit.rate_error_ppm; }
  void on_event(const Event& event) override {
    if (event.kind != EventKind::kScenario) return;
    events_.push_back({.timestamp_s = event.timestamp_s, .kind = event.kind, .name = event.name});
  }

  /// Returns the last cells of a row.
  std::string cells() const {
    std::string text = ",";
    if (rate_error_ppm_) append_number(text, *rate_error_ppm_);
    text += ',';
    const double release_s = find_release_time(events_);
    if (release_s > 0.0 || std::isfinite(release_s)) {
      append_number(text, std::min(release_s, kTimeMax_s));
    }
    return text + "\n";
  }

 private:
  std::optional<double> rate_error_ppm_;  // of the last fit
  std::vector<Event> events_;             // events of the scenario
};

class CsvWriter final : public RecordingVisitor {
 public:
  CsvWriter(OutputFile& file, std::string facts) : file_(file), facts_(std::move(facts)) {}

  void on_header(const RecordingHeader& header) override {
    line_ = "time_s";
    for (std::size_t c = 0; c < header.joints.size(); ++c) {
      line_.append(",").append(header.joints[c]).append("_").append(channel_unit(header, c));
    }
    for (const std::string& column : command_columns(header)) line_.append(",").append(column);
    line_ += ",segment,sequence,device_time_us";
    for (const std::string& joint : header.joints)
      line_.append(",").append(joint).append("_counts");
    for (const std::string& joint : header.joints) line_.append(",").append(joint).append("_valid");
    line_ += ",command_sequence,tripped,driving,fault_flags,error_count";
    for (const std::string& sensor : header.inertial_sensors) {
      for (const std::string_view ending : kInertialEndings) {
        line_.append(",").append(sensor).append(ending);
      }
    }
    readings_.resize(header.inertial_sensors.size());
    line_ += ",clock_error_ppm,release_s\n";
  }

  // Readings follow their sample, so its row is complete when the next sample arrives.
  void on_inertial(const InertialReading& reading) override {
    if (is_open_ && reading.sequence + 1 == next_sequence_) readings_[reading.sensor] = reading;
  }

  void on_sample(const Sample& sample) override {
    end_row();
    if (sample.sequence != next_sequence_) ++segment_;
    next_sequence_ = sample.sequence + 1;
    put_number(sample.timestamp_s);
    for (std::size_t c = 0; c < sample.channel_count; ++c) {
      line_ += ',';
      if (sample.valid[c]) put_number(sample.angle_rad[c]);
    }
    for (std::size_t m = 0; m < sample.motor_count; ++m) put_cell(sample.command[m]);
    put_cell(segment_);
    put_cell(sample.sequence);
    put_cell(sample.device_time_us);
    for (std::size_t c = 0; c < sample.channel_count; ++c) put_cell(sample.encoder_counts[c]);
    for (std::size_t c = 0; c < sample.channel_count; ++c) put_cell(sample.valid[c] ? 1 : 0);
    put_cell(sample.command_sequence);
    put_cell(sample.tripped ? 1 : 0);
    put_cell(sample.driving ? 1 : 0);
    put_cell(sample.fault_flags);
    put_cell(sample.error_count);
    is_open_ = true;
  }

  void flush() {
    end_row();
    write_out();
  }

  const Status& status() const { return status_; }

 private:
  void end_row() {
    if (!is_open_) return;
    is_open_ = false;
    for (std::optional<InertialReading>& reading : readings_) {
      for (std::size_t axis = 0; axis < kInertialAxes; ++axis) {
        line_ += ',';
        if (reading && !std::isnan(reading->value[axis])) put_number(reading->value[axis]);
      }
      line_ += ',';
      if (reading) put_number(reading->saturated);
      reading.reset();
    }
    line_ += facts_;
    if (line_.size() >= kBufferSize) write_out();
  }

  void write_out() {
    if (status_.ok()) status_ = file_.append(as_bytes(line_));
    line_.clear();
  }

  template <typename Number>
  void put_number(Number value) {
    append_number(line_, value);
  }

  template <typename Number>
  void put_cell(Number value) {
    line_ += ',';
    put_number(value);
  }

  OutputFile& file_;
  std::string facts_;
  std::string line_;                                      // text of one or several rows
  std::vector<std::optional<InertialReading>> readings_;  // readings of the incomplete row
  bool is_open_ = false;
  std::uint64_t segment_ = 0;
  std::uint64_t next_sequence_ = ~std::uint64_t{0};
  Status status_ = success();
};

}  // namespace

std::vector<std::string> command_columns(const RecordingHeader& header) {
  std::vector<std::string> columns;
  for (std::size_t m = 0; m < recording_shape(header).commands(); ++m) {
    std::string column(kCommandBeginning);
    if (header.motors.size() > 1) column += header.motors[m] + "_";
    columns.push_back(column + unit_word(command_unit(header, m)));
  }
  return columns;
}

bool read_command_columns(std::span<const std::string> columns, RecordingHeader& header) {
  const bool several = columns.size() > 1;
  for (const std::string& column : columns) {
    if (!column.starts_with(kCommandBeginning)) return false;
    const std::size_t underscore = column.rfind('_');
    const std::size_t name = kCommandBeginning.size();
    if (several != (underscore > name)) return false;
    if (!several) continue;
    header.motors.push_back(column.substr(name, underscore - name));
    header.command_units.push_back(column.substr(underscore + 1));
  }
  return !columns.empty() && are_valid_names(header.motors, kMotorCountMax);
}

Result<RecordingScan> export_csv(const std::string& recording_path, const std::string& csv_path) {
  auto input = open_input_file(recording_path);
  if (!input.ok()) return input.error();
  auto output = create_output_file(csv_path);
  if (!output.ok()) return output.error();
  Facts facts;
  if (auto read = scan_recording(*input.value(), facts); !read.ok()) {
    std::error_code ignored;
    std::filesystem::remove(part_file_path(csv_path), ignored);
    return Error{read.error().code, recording_path + ": " + read.error().detail};
  }
  CsvWriter writer(*output.value(), facts.cells());
  auto scan = scan_recording(*input.value(), writer);
  writer.flush();
  Status written =
      scan.ok() ? writer.status()
                : Status(Error{scan.error().code, recording_path + ": " + scan.error().detail});
  if (written.ok()) written = output.value()->publish();
  if (!written.ok()) {
    std::error_code ignored;
    std::filesystem::remove(part_file_path(csv_path), ignored);
    return written.error();
  }
  return scan;
}

}  // namespace proto
