#include <gtest/gtest.h>

#include <filesystem>

#include "proto/recording/recording_reader.hpp"
#include "proto/recording/recording_writer.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"

// rigcal info, export and recover on recordings of the DAQ.

namespace service {
namespace {

using test_support::expect_parts;

// Half a second with a gap of 20 samples and a trip; optionally unfinished, as after a crash.
void write_recording(const std::string& path, bool finished) {
  auto writer =
      proto::RecordingWriter::create(path, {.joints = {"arm", "rod"},
                                            .motors = {"arm"},
                                            .command_units = {"A"},
                                            .epoch_unix_ns = 1'700'000'000'000'000'000,
                                            .facts = {{"rig", "furuta"}, {"ttl_ms", "20"}}});
  ASSERT_TRUE(writer.ok());
  proto::Event trip;
  trip.kind = proto::EventKind::kTrip;
  trip.name = "speed";
  trip.text = "arm: speed 41.2 rad/s, allowed 40 rad/s";
  ASSERT_TRUE(writer.value().write(trip).ok());
  for (std::uint64_t k = 0; k < 500; ++k) {
    if (k >= 100 && k < 120) continue;
    proto::Sample sample;
    sample.timestamp_s = 1e-3 * static_cast<double>(k);
    sample.sequence = k;
    sample.device_time_us = static_cast<std::int64_t>(1000 * k);
    sample.channel_count = 2;
    sample.valid = {true, true};
    sample.angle_rad = {0.25, -0.5};
    sample.driving = true;
    ASSERT_TRUE(writer.value().write(sample).ok());
  }
  ASSERT_TRUE(finished ? writer.value().finish().ok() : writer.value().flush().ok());
}

TEST(RecordingCommands, InfoReportsContentAndGaps) {
  const TemporaryFolder folder;
  write_recording(folder.file("run.mcap"), true);
  run_successfully("info " + folder.file("run.mcap"),
                   {"480 in 0.499 s", "20 samples in 1 gaps", "speed 41.2 rad/s", "furuta",
                    "command     0.000 to 0.000 A at arm", "all checksums correct"});
}

TEST(RecordingCommands, ExportWritesEachFormatOnce) {
  const TemporaryFolder folder;
  write_recording(folder.file("run.mcap"), true);
  const std::string command = "export " + folder.file("run.mcap") + " --out " +
                              folder.file("run.csv") + " --out " + folder.file("run.mat");
  const ProgramRun run =
      run_successfully(command, {"run.csv: 480 samples", "run.mat: 480 samples"});
  const std::string csv = contents_of(folder.file("run.csv"));
  EXPECT_TRUE(csv.starts_with("time_s,arm_rad,rod_rad,command_A,segment,")) << csv.substr(0, 80);
  EXPECT_NE(csv.find("\n0.12,0.25,-0.5,0,2,120,"), std::string::npos) << "segment 2 after the hole";
  EXPECT_TRUE(contents_of(folder.file("run.mat")).starts_with("MATLAB 5.0 MAT-file"));

  run_refused(command, {"run.csv", "exists already"});
  EXPECT_EQ(contents_of(folder.file("run.csv")), csv);
}

// The recovered file is finished, holds the same samples, and states how the run ended.
TEST(RecordingCommands, RecoverMakesACutOffRecordingWhole) {
  const TemporaryFolder folder;
  write_recording(folder.file("run.mcap"), false);
  const std::string part = folder.file("run.mcap.part");
  const ProgramRun before = run_rigcal("info " + part);
  expect_parts(before.out, {"cut off", "rigcal recover"});
  const ProgramRun run =
      run_successfully("recover " + part, {"run.recovered.mcap", "read back and compared"});
  const ProgramRun after = run_rigcal("info " + folder.file("run.recovered.mcap"));
  expect_parts(after.out, {"all checksums correct", "480 in 0.499 s", "interrupted", "20 ms"});
  EXPECT_EQ(run_rigcal("recover " + part).exit_code, 1) << "must not replace what it wrote";
}

TEST(RecordingCommands, WrongInputIsRefusedWithTheRemedy) {
  const TemporaryFolder folder;
  write_recording(folder.file("run.mcap"), true);
  folder.write("text.mcap", "time,angle\n");
  expect_refused("info " + folder.file("none.mcap"), {"none.mcap", "No such file"});
  expect_refused("info " + folder.file("text.mcap"), {"text.mcap", "does not start as an MCAP file",
                                                      "give a recording of rigcal-daq", ".csv"});
  folder.write("short.mcap", "");
  expect_refused("info " + folder.file("short.mcap"),
                 {"short.mcap", "too short", "give a recording"});
  folder.write("run.csv", "time,angle\n0,1\n1,2\n");
  expect_refused("export " + folder.file("run.csv") + " --out " + folder.file("a.csv"),
                 {"run.csv", "neither a rigcal-daq recording (MCAP) nor a rig file", "--rig RIG"});
  for (const char* ending : {".mat", ".h5"}) {
    expect_refused("info none" + std::string(ending), {"cannot be opened", "No such file"});
  }
  expect_refused("export " + folder.file("run.mcap") + " --out " + folder.file("run.xlsx"),
                 {"run.xlsx", ".csv or .mat"});
  expect_refused("export " + folder.file("run.mcap") + " --out " + folder.file("none/run.csv"),
                 {"none/run.csv"});
  expect_refused("export " + folder.file("run.mcap"), {"--out"});
  expect_refused("recover " + folder.file("text.mcap"), {"text.mcap", "MCAP"});
  EXPECT_FALSE(std::filesystem::exists(folder.file("text.recovered.mcap")));
}

}  // namespace
}  // namespace service
