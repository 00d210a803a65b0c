#include "proto/recording/export_csv.hpp"

#include <array>
#include <charconv>
#include <filesystem>
#include <memory>
#include <utility>

#include "proto/recording/byte_cursor.hpp"
#include "proto/recording/file.hpp"

namespace proto {
namespace {

constexpr std::size_t kBufferSize = 1 << 16;  // handed to the file at once [byte]

class CsvWriter final : public RecordingVisitor {
 public:
  explicit CsvWriter(OutputFile& file) : file_(file) {}

  void on_header(const RecordingHeader& header) override {
    line_ = "time_s";
    for (const std::string& hinge : header.hinges) line_.append(",").append(hinge).append("_rad");
    line_ += ",command_V,segment,sequence,device_time_us";
    for (const std::string& hinge : header.hinges)
      line_.append(",").append(hinge).append("_counts");
    for (const std::string& hinge : header.hinges) line_.append(",").append(hinge).append("_valid");
    line_ += ",command_sequence,tripped,driving,fault_flags,error_count\n";
  }

  void on_sample(const Sample& sample) override {
    if (sample.sequence != next_sequence_) ++segment_;
    next_sequence_ = sample.sequence + 1;
    put_number(sample.timestamp_s);
    for (std::size_t c = 0; c < sample.channel_count; ++c) {
      line_ += ',';
      if (sample.valid[c]) put_number(sample.angle_rad[c]);
    }
    put_cell(sample.command_V);
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
    line_ += '\n';
    if (line_.size() >= kBufferSize) flush();
  }

  void flush() {
    if (status_.ok()) status_ = file_.append(as_bytes(line_));
    line_.clear();
  }

  const Status& status() const { return status_; }

 private:
  template <typename Number>
  void put_number(Number value) {
    std::array<char, 40> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    line_.append(text.data(), static_cast<std::size_t>(end - text.data()));
  }

  template <typename Number>
  void put_cell(Number value) {
    line_ += ',';
    put_number(value);
  }

  OutputFile& file_;
  std::string line_;  // of text, one or many
  std::uint64_t segment_ = 0;
  std::uint64_t next_sequence_ = ~std::uint64_t{0};
  Status status_ = success();
};

}  // namespace

Result<RecordingScan> export_csv(const std::string& recording_path, const std::string& csv_path) {
  auto input = open_input_file(recording_path);
  if (!input.ok()) return input.error();
  auto output = create_output_file(csv_path);
  if (!output.ok()) return output.error();
  CsvWriter writer(*output.value());
  auto scan = scan_recording(*input.value(), writer);
  writer.flush();
  Status written =
      scan.ok() ? writer.status()
                : Status(Error{scan.error().code, recording_path + ": " + scan.error().detail});
  if (written.ok()) written = output.value()->publish();
  if (!written.ok()) {
    std::error_code ignored;
    std::filesystem::remove(part_path(csv_path), ignored);
    return written.error();
  }
  return scan;
}

}  // namespace proto
