// The recorder's part of the check with the official MCAP reader.
//   judged_recording write FOLDER   writes run.mcap (a run with every kind of record),
//                                   recovered.mcap (the same run, cut off and recovered), and the
//                                   expected messages, one JSON object per line: expected.jsonl,
//                                   expected_recovered.jsonl
//   judged_recording read FILE      prints the messages of a recording in the same form

#include <cmath>
#include <concepts>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <numbers>
#include <sstream>

#include "proto/recording/mcap/mcap_recover.hpp"
#include "proto/recording/recording_reader.hpp"
#include "proto/recording/recording_writer.hpp"

namespace {

constexpr std::uint64_t kSampleCount = 3000;
constexpr std::size_t kChannelCount = 2;

std::string number(double value) {
  if (std::isnan(value)) return "\"NaN\"";
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

template <std::integral T>
std::string quoted(T value) {
  std::string text = "\"";
  text += std::to_string(value);
  text += '"';
  return text;
}

std::string boolean(bool value) { return value ? "true" : "false"; }

void append(std::string& list, const std::string& entry) {
  if (!list.empty()) list += ',';
  list += entry;
}

std::string numbers(const proto::MotorCommands& values, std::size_t count) {
  std::string list;
  for (std::size_t k = 0; k < count; ++k) append(list, number(values[k]));
  return list;
}

// Prints each message with all its fields, under the names of proto/sample.proto. 64-bit integers
// are strings, as JSON's numbers end at 2^53.
class Printer final : public proto::RecordingVisitor {
 public:
  explicit Printer(std::ostream& out) : out_(out) {}

  void on_sample(const proto::Sample& s) override {
    std::string angles, counts, valid;
    for (std::size_t c = 0; c < s.channel_count; ++c) {
      append(angles, number(s.angle_rad[c]));
      append(counts, quoted(s.encoder_counts[c]));
      append(valid, boolean(s.valid[c]));
    }
    out_ << R"({"topic":"/rig/sample","timestamp":)" << number(s.timestamp_s) << R"(,"sequence":)"
         << quoted(s.sequence) << R"(,"device_time_us":)" << quoted(s.device_time_us)
         << R"(,"angle_rad":[)" << angles << R"(],"encoder_counts":[)" << counts << R"(],"valid":[)"
         << valid << R"(],"command":[)" << numbers(s.command, s.motor_count)
         << R"(],"command_sequence":)" << quoted(s.command_sequence) << R"(,"tripped":)"
         << boolean(s.tripped) << R"(,"driving":)" << boolean(s.driving) << R"(,"fault_flags":)"
         << s.fault_flags << R"(,"error_count":)" << quoted(s.error_count) << "}\n";
  }

  void on_command(const proto::Command& c) override {
    out_ << R"({"topic":"/rig/command","timestamp":)" << number(c.timestamp_s)
         << R"(,"command_sequence":)" << quoted(c.command_sequence) << R"(,"command":[)"
         << numbers(c.command, c.motor_count) << R"(],"command_requested":[)"
         << numbers(c.command_requested, c.motor_count) << R"(],"flags":)" << c.flags << "}\n";
  }

  void on_gap(const proto::Gap& g) override {
    out_ << R"({"topic":"/rig/gap","timestamp":)" << number(g.timestamp_s)
         << R"(,"first_sequence":)" << quoted(g.first_sequence) << R"(,"sample_count":)"
         << quoted(g.sample_count) << R"(,"cause":)" << static_cast<int>(g.cause) << "}\n";
  }

  void on_event(const proto::Event& e) override {
    out_ << R"({"topic":"/rig/event","timestamp":)" << number(e.timestamp_s) << R"(,"kind":)"
         << static_cast<int>(e.kind) << R"(,"name":")" << e.name << R"(","text":")" << e.text
         << R"(","channel":")" << e.channel << R"(","value":)" << number(e.value) << R"(,"limit":)"
         << number(e.limit) << R"(,"unit":")" << e.unit << R"(","sequence":)" << quoted(e.sequence)
         << R"(,"last_frames":[)";
    for (std::size_t k = 0; k < e.last_frames.size(); ++k) {
      const proto::LinkFrame& frame = e.last_frames[k];
      out_ << (k == 0 ? "" : ",") << R"({"timestamp":)" << number(frame.timestamp_s)
           << R"(,"direction":)" << static_cast<int>(frame.direction) << R"(,"frame":")";
      for (const std::uint8_t byte : frame.frame) {
        char hex[3];
        std::snprintf(hex, sizeof hex, "%02x", byte);
        out_ << hex;
      }
      out_ << "\"}";
    }
    out_ << "]}\n";
  }

  void on_clock_fit(const proto::ClockFit& f) override {
    out_ << R"({"topic":"/rig/clock","timestamp":)" << number(f.timestamp_s)
         << R"(,"rate_error_ppm":)" << number(f.rate_error_ppm) << R"(,"rate_error_ppm_sd":)"
         << number(f.rate_error_ppm_sd) << R"(,"offset_s":)" << number(f.offset_s)
         << R"(,"residual_s_rms":)" << number(f.residual_s_rms) << R"(,"point_count":)"
         << quoted(f.point_count) << R"(,"rejected_count":)" << quoted(f.rejected_count) << "}\n";
  }

  void on_loop_stats(const proto::LoopStats& s) override {
    out_ << R"({"topic":"/rig/loop_stats","timestamp":)" << number(s.timestamp_s)
         << R"(,"cycle_count":)" << quoted(s.cycle_count) << R"(,"skipped_periods":)"
         << quoted(s.skipped_periods) << R"(,"dropped_samples":)" << quoted(s.dropped_samples)
         << R"(,"link_timeouts":)" << quoted(s.link_timeouts) << R"(,"damaged_frames":)"
         << quoted(s.damaged_frames) << R"(,"wakeup_us_mean":)" << number(s.wakeup_us_mean)
         << R"(,"wakeup_us_p99":)" << number(s.wakeup_us_p99) << R"(,"wakeup_us_max":)"
         << number(s.wakeup_us_max) << R"(,"cycle_us_mean":)" << number(s.cycle_us_mean)
         << R"(,"cycle_us_max":)" << number(s.cycle_us_max) << "}\n";
  }

 private:
  std::ostream& out_;
};

proto::Sample make_sample(std::uint64_t k) {
  const auto x = static_cast<double>(k);
  proto::Sample sample;
  sample.timestamp_s = 1e-3 * x * (1.0 + 31e-6);
  sample.sequence = k;
  sample.device_time_us = 1000 * static_cast<std::int64_t>(k) - 17;
  sample.channel_count = kChannelCount;
  sample.encoder_counts = {static_cast<std::int64_t>(k) * (std::int64_t{1} << 40),
                           -3 * static_cast<std::int64_t>(k)};
  sample.angle_rad = {x * std::numbers::pi / 2048.0, std::sin(0.01 * x)};
  sample.valid = {true, k % 17 != 5};
  if (!sample.valid[1]) sample.angle_rad[1] = std::nan("");
  sample.motor_count = 2;
  sample.command = {k % 10 == 0 ? 0.0 : 2.0 * std::cos(0.02 * x), 1e-3 * x};
  sample.command_sequence = k * 70000;
  sample.tripped = k > 2900;
  sample.driving = k < 2900;
  sample.fault_flags = static_cast<std::uint32_t>(k % 256);
  sample.error_count = k / 100;
  return sample;
}

template <typename Message, typename Print>
void record(proto::RecordingWriter& writer, const Message& message, const Print& print) {
  if (const proto::Status status = writer.write(message); !status.ok()) {
    std::cerr << status.error().detail << '\n';
    std::exit(1);
  }
  print(message);
}

// Writes the run; prints the arguments of each call.
void write_run(const std::string& path, Printer& printer) {
  const proto::RecordingHeader header{.joints = {"arm", "pendulum"},
                                      .motors = {"arm", "pendulum"},
                                      .command_units = {"V", "duty"},
                                      .epoch_unix_ns = 1'700'000'000'123'456'789,
                                      .facts = {{"rig", "furuta"}, {"seed", "7"}}};
  auto created = proto::RecordingWriter::create(path, header);
  if (!created.ok()) {
    std::cerr << created.error().detail << '\n';
    std::exit(1);
  }
  proto::RecordingWriter& writer = created.value();
  static_cast<void>(writer.attach({"plan.csv", "text/csv", {'t', ',', 'u', '\n'}}));
  for (std::uint64_t k = 0; k < kSampleCount; ++k) {
    const proto::Sample sample = make_sample(k);
    const double t = sample.timestamp_s;
    if (k >= 1000 && k < 1040) continue;
    if (k == 1040) {
      record(writer, proto::Gap{t, 1000, 40, proto::GapCause::kLink},
             [&](const proto::Gap& gap) { printer.on_gap(gap); });
    }
    record(writer, sample, [&](const proto::Sample& s) { printer.on_sample(s); });
    record(writer, proto::Command{t, k + 1, 2, sample.command, {1.5, -2.0 * sample.command[0]}, 1},
           [&](const proto::Command& c) { printer.on_command(c); });
    if (k % 1000 == 999) {
      record(writer, proto::ClockFit{t, -31.5, 0.25, 0.125, 1e-6, k, 3},
             [&](const proto::ClockFit& f) { printer.on_clock_fit(f); });
      record(writer, proto::LoopStats{t, 1000, 1, 2, 3, 4, 7.5, 11.0, 40.0, 5.5, 9.25},
             [&](const proto::LoopStats& s) { printer.on_loop_stats(s); });
    }
    if (k == 2900) {
      proto::Event trip{.timestamp_s = t,
                        .kind = proto::EventKind::kTrip,
                        .name = "speed_limit",
                        .text = "arm turned at 31.5 rad/s, allowed are 30 rad/s",
                        .channel = "arm",
                        .value = 31.5,
                        .limit = 30.0,
                        .unit = "rad/s",
                        .sequence = k,
                        .last_frames = {{t, proto::LinkDirection::kFromUnit, {0, 127, 128, 255}},
                                        {t, proto::LinkDirection::kToUnit, {}}}};
      record(writer, trip, [&](const proto::Event& e) { printer.on_event(e); });
    }
  }
  if (const proto::Status finished = writer.finish(); !finished.ok()) {
    std::cerr << finished.error().detail << '\n';
    std::exit(1);
  }
}

int write(const std::string& folder) {
  std::ostringstream expected;
  Printer printer(expected);
  write_run(folder + "/run.mcap", printer);
  std::ofstream(folder + "/expected.jsonl") << expected.str();

  // Cuts off the last sixth, and with it the last two or three chunks.
  std::ifstream whole(folder + "/run.mcap", std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(whole), {});
  std::ofstream(folder + "/cut.mcap.part", std::ios::binary)
      << bytes.substr(0, bytes.size() * 5 / 6);
  const auto recovery = proto::recover_mcap(folder + "/cut.mcap.part", folder + "/recovered.mcap");
  if (!recovery.ok()) {
    std::cerr << recovery.error().detail << '\n';
    return 1;
  }
  // Messages are in the order of the calls, so the recovered ones are a prefix.
  std::istringstream lines(expected.str());
  std::ofstream expected_recovered(folder + "/expected_recovered.jsonl");
  std::string line;
  for (std::uint64_t k = 0; k < recovery.value().source.message_count; ++k) {
    std::getline(lines, line);
    expected_recovered << line << '\n';
  }
  return 0;
}

int read(const std::string& path) {
  auto file = proto::open_input_file(path);
  Printer printer(std::cout);
  auto scan = file.ok() ? proto::scan_recording(*file.value(), printer)
                        : proto::Result<proto::RecordingScan>(file.error());
  if (!scan.ok()) std::cerr << scan.error().detail << '\n';
  if (scan.ok()) {
    for (const std::string& problem : scan.value().container.problems) std::cerr << problem << '\n';
  }
  return scan.ok() && scan.value().container.intact() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "write") == 0) return write(argv[2]);
  if (argc == 3 && std::strcmp(argv[1], "read") == 0) return read(argv[2]);
  std::cerr << "usage: judged_recording write FOLDER | read FILE\n";
  return 2;
}
