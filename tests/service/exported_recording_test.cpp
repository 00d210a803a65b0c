#include "service/recordings/formats/recording_formats.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "proto/recording/export/export_csv.hpp"
#include "proto/recording/export/export_mat.hpp"
#include "proto/recording/recording_writer.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "service/simulation/simulation.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using test_support::expect_parts;
using test_support::refusal;

/// A rig file that names other columns, with channels in reverse order.
Rig furuta() { return load_rig(config("rig-furuta.textproto")); }

/// A rig file without a CSV format.
Rig undescribed() {
  Rig rig = furuta();
  rig.format.reset();
  return rig;
}

/// A recording with a release, a gap, an invalid reading, a clock error and odd digits.
void write_run(const std::string& path, bool released = true,
               const std::vector<std::string>& slides = {}) {
  auto writer = proto::RecordingWriter::create(
      path, {.joints = {"2", "1"}, .slides = slides, .epoch_unix_ns = 0, .facts = {}});
  ASSERT_TRUE(writer.ok()) << writer.error().detail;
  const auto add_event = [&](double time_s, const std::string& phase) {
    proto::Event event;
    event.timestamp_s = time_s;
    event.kind = proto::EventKind::kScenario;
    event.name = phase;
    ASSERT_TRUE(writer.value().write(event).ok());
  };
  add_event(0.0, "waiting for hold");
  for (int k = 0; k < 3000; ++k) {
    if (k == 400 && released) add_event(0.4001, "running");
    if (k >= 1200 && k < 1900) continue;
    proto::Sample sample;
    sample.sequence = static_cast<std::uint64_t>(k) + 17;
    sample.device_time_us = 1000 * k + (k % 5 == 0 ? 1 : 0);
    sample.timestamp_s = 0.00099999 * k + 1e-7 / 3.0;
    sample.channel_count = 2;
    sample.angle_rad = {std::sin(0.01 * k) / 3.0, std::cos(0.007 * k) / 7.0};
    sample.encoder_counts = {k, -k};
    sample.valid = {k % 50 != 7, true};
    if (!sample.valid[0]) sample.angle_rad[0] = std::numeric_limits<double>::quiet_NaN();
    sample.command[0] = 0.1 * std::sin(0.002 * k);
    ASSERT_TRUE(writer.value().write(sample).ok());
  }
  proto::ClockFit fit;
  fit.timestamp_s = 2.9;
  fit.rate_error_ppm = 11.0 / 3.0;
  fit.rate_error_ppm_sd = 0.01;
  fit.point_count = 10;
  ASSERT_TRUE(writer.value().write(fit).ok());
  ASSERT_TRUE(writer.value().finish().ok());
}

void expect_same(const ImportedRecording& is, const ImportedRecording& should) {
  ASSERT_EQ(is.recording.segments.size(), should.recording.segments.size());
  for (std::size_t i = 0; i < should.recording.segments.size(); ++i) {
    const estimator::Segment& a = is.recording.segments[i];
    const estimator::Segment& b = should.recording.segments[i];
    EXPECT_EQ(a.start, b.start);
    EXPECT_EQ(a.period, b.period);
    ASSERT_EQ(a.angles.rows(), b.angles.rows());
    ASSERT_EQ(a.angles.cols(), b.angles.cols());
    for (Eigen::Index k = 0; k < b.angles.size(); ++k) {
      const double x = a.angles.data()[k], y = b.angles.data()[k];
      ASSERT_TRUE(x == y || (std::isnan(x) && std::isnan(y))) << k;
    }
    EXPECT_EQ(a.controls, b.controls);
  }
  EXPECT_EQ(is.summary.rows_before_release, should.summary.rows_before_release);
  EXPECT_EQ(is.summary.missing_samples, should.summary.missing_samples);
}

class Exported : public ::testing::Test {
 protected:
  void SetUp() override {
    write_run(file("run.mcap"));
    ASSERT_TRUE(proto::export_csv(file("run.mcap"), file("run.csv")).ok());
    ASSERT_TRUE(proto::export_mat(file("run.mcap"), file("run.mat")).ok());
  }
  std::string file(const std::string& name) const { return folder_.file(name); }
  std::string refused(const std::string& from, const std::string& to) {
    std::string text = contents_of(file("run.csv"));
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
    folder_.write("bad.csv", text);
    return refusal([&] { (void)import_recording(file("bad.csv"), furuta()); });
  }

  TemporaryFolder folder_;
};

// Gaps, invalid readings, the clock and the release must be equal to the last bit, whatever columns
// the rig file names.
TEST_F(Exported, ReadsLikeTheRecording) {
  const ImportedRecording original = import_recording(file("run.mcap"), furuta());
  ASSERT_EQ(original.recording.segments.size(), 2U);
  EXPECT_EQ(original.summary.rows_before_release, 401);
  for (const char* name : {"run.csv", "run.mat"}) {
    SCOPED_TRACE(name);
    const ImportedRecording exported = import_recording(file(name), furuta());
    expect_same(exported, original);
    for (const std::string& note : exported.summary.notes) {
      EXPECT_EQ(note.find("cut off"), std::string::npos) << note;
    }
    expect_same(import_recording(file(name), undescribed()), original);
  }
}

// A prismatic channel has another unit in its column's name and, in a MAT file, beside it.
TEST_F(Exported, OfAPrismaticJointReadsLikeTheRecording) {
  write_run(file("cart.mcap"), true, {"1"});
  ASSERT_TRUE(proto::export_csv(file("cart.mcap"), file("cart.csv")).ok());
  ASSERT_TRUE(proto::export_mat(file("cart.mcap"), file("cart.mat")).ok());
  EXPECT_TRUE(contents_of(file("cart.csv")).starts_with("time_s,2_rad,1_m,"));
  const ImportedRecording original = import_recording(file("run.mcap"), furuta());
  for (const char* name : {"cart.mcap", "cart.csv", "cart.mat"}) {
    SCOPED_TRACE(name);
    expect_same(import_recording(file(name), undescribed()), original);
  }
}

// Older exports contain neither clock nor release, but times.
TEST_F(Exported, OfAnOlderReleaseReadsToo) {
  std::string text = contents_of(file("run.csv"));
  std::string old;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    std::string line = text.substr(begin, end - begin);
    for (int cells = 0; cells < 2; ++cells) line.resize(line.rfind(','));
    old += line + "\n";
    begin = end + 1;
  }
  folder_.write("old.csv", old);
  const ImportedRecording imported = import_recording(file("old.csv"), undescribed());
  EXPECT_EQ(imported.summary.rows_before_release, 0);
  EXPECT_NEAR(imported.summary.period, 0.00099999, 1e-9);
}

// If the rig file's own columns are present, they are used.
TEST_F(Exported, YieldsToTheRigFilesColumns) {
  Rig rig = furuta();
  rig.format->time_column = "time_s";
  for (EncoderColumn& angle : rig.format->angles) {
    angle.column = angle.joint + "_rad";
    angle.allow_missing = true;
    angle.scale = -1.0;
  }
  rig.format->controls.front().column = "command_V";
  rig.format->segment_column.clear();
  const ImportedRecording imported = import_recording(file("run.csv"), rig);
  EXPECT_EQ(imported.recording.segments.front().angles(0, 0), -std::cos(0.0) / 7.0);
}

TEST_F(Exported, OfARunThatWasNeverLetGoIsRefused) {
  write_run(file("held.mcap"), false);
  ASSERT_TRUE(proto::export_csv(file("held.mcap"), file("held.csv")).ok());
  ASSERT_TRUE(proto::export_mat(file("held.mcap"), file("held.mat")).ok());
  for (const char* name : {"held.mcap", "held.csv", "held.mat"}) {
    expect_parts(refusal([&] { (void)import_recording(file(name), furuta()); }),
                 {name, "never released"});
  }
}

TEST_F(Exported, ThatSomebodyChangedIsRefusedWithItsLine) {
  expect_parts(refused(",18,1000,", ",17,1000,"), {"bad.csv:3:", "export the recording again"});
  expect_parts(refused(",18,1000,", ",18.5,1000,"), {"bad.csv:3:", "integer"});
  expect_parts(refused(",18,1000,", ",18,x,"), {"bad.csv:3:", "\"x\" is not a finite number"});
  expect_parts(refused("time_s,", "time,"), {"bad.csv:1: no column "});
  const Rig other = load_rig(config("rig-pendulum.textproto"));
  expect_parts(refusal([&] { (void)import_recording(file("run.csv"), other); }),
               {"run.csv: has no joint \"pivot\""});
}

// The rig file's columns name the variables.
TEST_F(Exported, MatOfOthersReadsByItsVariables) {
  Rig rig = furuta();
  rig.format->time_column = "time_s";
  for (std::size_t i = 0; i < 2; ++i) {
    rig.format->angles[i].column = i == 0 ? "angle_rad(2)" : "angle_rad(1)";
    rig.format->angles[i].allow_missing = true;
    rig.format->angles[i].scale = 1.0;
    rig.format->angles[i].offset = 0.0;
  }
  rig.format->controls.front().column = "command_V";
  rig.format->segment_column.clear();
  std::string bytes = contents_of(file("run.mat"));
  // Without its own joint names, it is treated as any MAT file.
  ASSERT_TRUE(proto::export_mat(file("run.mcap"), file("copy.mat")).ok());
  const ImportedRecording imported = import_recording(file("copy.mat"), rig);
  EXPECT_GT(imported.recording.segments.size(), 0U);
  rig.format->angles[0].column = "nothing";
  EXPECT_NO_THROW((void)import_recording(file("copy.mat"), rig)) << "is recognised nevertheless";
}

// A MAT file truncated or altered anywhere is read, or refused in a sentence with its name.
TEST_F(Exported, DamagedMatIsReadOrRefused) {
  const std::string whole = contents_of(file("run.mat"));
  std::mt19937 random(1);
  int refusals = 0;
  for (int trial = 0; trial < 400; ++trial) {
    std::string bytes = whole;
    if (trial % 4 == 0) bytes.resize(random() % bytes.size());
    for (unsigned flips = 0; flips < 1 + random() % 4 && !bytes.empty(); ++flips) {
      const std::size_t at = trial % 2 == 0 ? random() % std::min<std::size_t>(bytes.size(), 512)
                                            : random() % bytes.size();
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
    }
    const std::string path = folder_.write("damaged.mat", bytes);
    try {
      (void)import_recording(path, furuta());
    } catch (const proto::InputError& error) {
      ++refusals;
      EXPECT_NE(std::string(error.what()).find("damaged.mat"), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(refusals, 100);
}

// The output of `simulate` can be read without recording { }.
TEST(SimulationCsv, IsReadWithoutARecordingFormat) {
  SimulatedRun run;
  run.period = 1e-3;
  run.angles.resize(200, 2);
  run.controls.resize(200, 1);
  for (Eigen::Index k = 0; k < 200; ++k) {
    run.angles.row(k) << std::sin(0.01 * static_cast<double>(k)), 0.1 / 3.0;
    run.controls(k, 0) = 0.25 * static_cast<double>(k % 7);
  }
  const TemporaryFolder folder;
  const Rig rig = undescribed();
  const std::string path = folder.write("plain.csv", simulation_csv(rig, run));
  const ImportedRecording imported = import_recording(path, rig);
  ASSERT_EQ(imported.recording.segments.size(), 1U);
  const estimator::Segment& segment = imported.recording.segments.front();
  EXPECT_EQ(segment.period, 1e-3);
  EXPECT_LT((segment.angles - run.angles).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_EQ(segment.controls, run.controls);
  expect_parts(
      refusal([&] { (void)import_recording(folder.write("other.csv", "a,b\n1,2\n"), rig); }),
      {"has no recording { } for CSV files", "recording { }"});
}

}  // namespace
}  // namespace service
