#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <random>

#include "proto/recording/export/export_csv.hpp"
#include "proto/recording/export/export_mat.hpp"
#include "proto/recording/recording_writer.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "service/simulation/simulation.hpp"
#include "tests/proto/array_samples.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;

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
               const std::vector<std::string>& slides = {}, int trip = 3000) {
  auto writer = proto::RecordingWriter::create(
      path, {.joints = {"2", "1"}, .slides = slides, .epoch_unix_ns = 0, .facts = {}});
  ASSERT_TRUE(writer.ok()) << writer.error().detail;
  const auto add_event = [&](double time_s, const std::string& phase) {
    proto::Event event{.timestamp_s = time_s, .kind = proto::EventKind::kScenario, .name = phase};
    ASSERT_TRUE(writer.value().write(event).ok());
  };
  add_event(0.0, "waiting for hold");
  for (int k = 0; k < 3000; ++k) {
    if (k == 400 && released) add_event(0.4001, "running");
    if (k >= 1200 && k < 1900) continue;
    proto::Sample sample;
    sample.tripped = k < 10 || k >= trip;  // until the run clears the unit's trip, and at the end
    if (k == trip) {
      proto::Event event;
      event.timestamp_s = 0.00099999 * k;
      event.kind = proto::EventKind::kTrip;
      event.text = "the unit was tripped";
      ASSERT_TRUE(writer.value().write(event).ok());
    }
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

// The motors of a unit that is tripped from the first sample on are off all the time, as in a
// release that exceeds a limit. All rows are used, with commands of zero.
TEST_F(Exported, UsesAllRowsOfATrippedUnitLikeTheRecording) {
  write_run(file("off.mcap"), true, {}, 0);
  ASSERT_TRUE(proto::export_csv(file("off.mcap"), file("off.csv")).ok());
  ASSERT_TRUE(proto::export_mat(file("off.mcap"), file("off.mat")).ok());
  const ImportedRecording original = import_recording(file("off.mcap"), furuta());
  EXPECT_EQ(original.summary.rows_after_trip, 0);
  ASSERT_EQ(original.recording.segments.size(), 2U);
  EXPECT_EQ(original.recording.segments[1].sample_count(), 1100);
  EXPECT_TRUE((original.recording.segments[0].controls.array() == 0.0).all());
  ASSERT_FALSE(original.summary.notes.empty());
  EXPECT_TRUE(std::ranges::any_of(original.summary.notes, [](const std::string& note) {
    return note.find("its motors were off; all rows are used") != std::string::npos;
  }));
  for (const char* name : {"off.csv", "off.mat"}) {
    SCOPED_TRACE(name);
    expect_same(import_recording(file(name), furuta()), original);
  }
}

// Exports contain no events, but the state of the unit in each sample.
TEST_F(Exported, EndsAtATripLikeTheRecording) {
  write_run(file("trip.mcap"), true, {}, 2600);
  ASSERT_TRUE(proto::export_csv(file("trip.mcap"), file("trip.csv")).ok());
  ASSERT_TRUE(proto::export_mat(file("trip.mcap"), file("trip.mat")).ok());
  const ImportedRecording original = import_recording(file("trip.mcap"), furuta());
  EXPECT_EQ(original.summary.rows_after_trip, 400);
  ASSERT_EQ(original.recording.segments.size(), 2U);
  EXPECT_EQ(original.recording.segments[1].sample_count(), 700);
  for (const char* name : {"trip.csv", "trip.mat"}) {
    SCOPED_TRACE(name);
    expect_same(import_recording(file(name), furuta()), original);
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

TEST_F(Exported, OfARunWithoutReleaseIsRefused) {
  write_run(file("held.mcap"), false);
  ASSERT_TRUE(proto::export_csv(file("held.mcap"), file("held.csv")).ok());
  ASSERT_TRUE(proto::export_mat(file("held.mcap"), file("held.mat")).ok());
  for (const char* name : {"held.mcap", "held.csv", "held.mat"}) {
    expect_parts(refusal([&] { (void)import_recording(file(name), furuta()); }),
                 {name, "never released"});
  }
}

TEST_F(Exported, WithEditsIsRefusedWithTheLine) {
  expect_parts(refused(",18,1000,", ",17,1000,"), {"bad.csv:3:", "export the recording again"});
  expect_parts(refused(",18,1000,", ",18.5,1000,"), {"bad.csv:3:", "integer"});
  expect_parts(refused(",18,1000,", ",18,x,"), {"bad.csv:3:", "\"x\" is not a finite number"});
  expect_parts(refused("time_s,", "time,"), {"bad.csv:1: no columns "});
  const Rig other = load_rig(config("rig-pendulum.textproto"));
  expect_parts(refusal([&] { (void)import_recording(file("run.csv"), other); }),
               {"run.csv: has no joint \"pivot\""});
}

// The rig file's columns name the variables.
TEST_F(Exported, MatOfOtherProgramsIsReadByVariables) {
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

constexpr std::size_t kRows = 400;
constexpr double kTurn = 2e-3;  // [rad] per count

double angle_at(std::size_t k) { return 0.4 * std::sin(0.03 * static_cast<double>(k)); }

std::vector<double> times() {
  std::vector<double> t(kRows);
  for (std::size_t k = 0; k < kRows; ++k) t[k] = 0.005 * static_cast<double>(k);
  return t;
}

std::vector<double> angles() {
  std::vector<double> angle(kRows);
  for (std::size_t k = 0; k < kRows; ++k) angle[k] = angle_at(k);
  return angle;
}

/// A pendulum whose recordings have the columns `time` and `angle`.
Rig pendulum(const std::string& time, const std::string& angle, const std::string& more = "") {
  return parse_rig("rig.textproto", R"(
    body {
      name: "arm" mass { value: 0.5 }
      inertia { xx { value: 0.02 } yy { value: 0.02 } zz { value: 0.02 } }
    }
    joint {
      name: "1"
      parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
      child {
        body: "arm" point { y { value: 0.2 } }
        axis { z: 1 } zero_direction { y: -1 }
      }
      friction { viscous { value: 1e-4 free: true } }
      encoder {}
    }
    gravity { magnitude { value: 9.81 } }
    recording { time { column: ")" + time +
                                        R"(" } angle { joint: "1" column: ")" + angle +
                                        R"(" unit: RADIAN )" + more +
                                        R"( } speed_max_rad_per_s: 1e4 })");
}

void expect_swing(const ImportedRecording& imported) {
  ASSERT_EQ(imported.recording.segments.size(), 1u);
  const estimator::Segment& segment = imported.recording.segments.front();
  ASSERT_EQ(segment.angles.rows(), static_cast<Eigen::Index>(kRows));
  EXPECT_NEAR(segment.period, 0.005, 1e-12);
  for (std::size_t k = 0; k < kRows; ++k) {
    ASSERT_NEAR(segment.angles(static_cast<Eigen::Index>(k), 0), angle_at(k), 1e-9) << k;
  }
}

class Hdf5 : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string path_ = folder_.file("run.h5");
};

TEST_F(Hdf5, ReadsDataSetsInGroupsByPathOrByTheirLastName) {
  {
    Hdf5Writer out(path_);
    out.group("run");
    out.put("run/t", times());
    out.put("run/theta", angles());
    out.put("note", {1.0});
  }
  for (const auto& [time, angle] : {std::pair("run/t", "run/theta"), std::pair("/run/t", "theta"),
                                    std::pair("t", "/run/theta")}) {
    SCOPED_TRACE(angle);
    expect_swing(import_recording(path_, pendulum(time, angle)));
  }
}

TEST_F(Hdf5, ReadsColumnsOfMatricesAndRows) {
  std::vector<float> log(2 * kRows);
  for (std::size_t k = 0; k < kRows; ++k) {
    log[2 * k] = static_cast<float>(2.0 * angle_at(k));
    log[2 * k + 1] = static_cast<float>(angle_at(k));
  }
  {
    Hdf5Writer out(path_);
    out.put("lying", {1, kRows}, H5T_NATIVE_DOUBLE, times().data());
    out.put("standing", {kRows, 1}, H5T_NATIVE_DOUBLE, angles().data());
    out.put("log", {kRows, 2}, H5T_NATIVE_FLOAT, log.data());
  }
  expect_swing(import_recording(path_, pendulum("lying", "standing")));
  const ImportedRecording rounded = import_recording(path_, pendulum("lying", "log(2)"));
  EXPECT_NEAR(rounded.recording.segments.front().angles(50, 0), angle_at(50), 1e-7);
  const ImportedRecording twice = import_recording(path_, pendulum("lying", "log(1)"));
  EXPECT_NEAR(twice.recording.segments.front().angles(50, 0), 2.0 * angle_at(50), 1e-7);
}

TEST_F(Hdf5, ReadsFieldsOfTables) {
  struct Row {
    double t;
    int counts;
  };
  std::vector<Row> rows(kRows);
  for (std::size_t k = 0; k < kRows; ++k) {
    rows[k] = {times()[k], static_cast<int>(std::lround(angle_at(k) / kTurn))};
  }
  {
    Hdf5Writer out(path_);
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(Row));
    H5Tinsert(type, "t", offsetof(Row, t), H5T_NATIVE_DOUBLE);
    H5Tinsert(type, "counts", offsetof(Row, counts), H5T_NATIVE_INT);
    out.put("log", {kRows}, type, rows.data());
    H5Tclose(type);
  }
  const Rig rig = pendulum("log.t", "log.counts");
  const ImportedRecording imported = import_recording(path_, rig);
  EXPECT_EQ(imported.recording.segments.front().angles(50, 0), std::lround(angle_at(50) / kTurn));
}

TEST_F(Hdf5, ReadsFramesOfPandasByTheNamesOfTheirColumns) {
  std::vector<double> block(2 * kRows);
  for (std::size_t k = 0; k < kRows; ++k) {
    block[2 * k] = times()[k];
    block[2 * k + 1] = angle_at(k);
  }
  {
    Hdf5Writer out(path_);
    out.group("run");
    out.put("run/block0_values", {kRows, 2}, H5T_NATIVE_DOUBLE, block.data());
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, 5);
    out.put("run/block0_items", {2}, text, "t\0\0\0\0theta");
    H5Tclose(text);
  }
  expect_swing(import_recording(path_, pendulum("t", "run/theta")));
}

TEST_F(Hdf5, MissingReadingsAreAllowedByTheRigFile) {
  std::vector<double> holes = angles();
  holes[7] = std::nan("");
  {
    Hdf5Writer out(path_);
    out.put("t", times());
    out.put("theta", holes);
  }
  const ImportedRecording imported =
      import_recording(path_, pendulum("t", "theta", "allow_missing: true"));
  EXPECT_TRUE(std::isnan(imported.recording.segments.front().angles(7, 0)));
  expect_parts(refusal([&] { import_recording(path_, pendulum("t", "theta")); }),
               {"run.h5", "array \"theta\", row 8", "not finite", "allow_missing: true"});
  const std::string timeless = refusal([&] { import_recording(path_, pendulum("theta", "t")); });
  expect_parts(timeless, {"array \"theta\", row 8", "not finite. Remove the row"});
  EXPECT_EQ(timeless.find("allow_missing"), std::string::npos) << timeless;
}

TEST_F(Hdf5, RefusalsNameTheFileAndTheDataSet) {
  {
    Hdf5Writer out(path_);
    out.group("a");
    out.group("b");
    out.put("t", times());
    out.put("a/theta", angles());
    out.put("b/theta", angles());
    out.put("short", {1.0, 2.0});
    out.put("nothing", std::vector<double>());
    out.put("none", std::vector<double>());
  }
  const auto reported = [&](const char* time, const char* angle) {
    return refusal([&] { import_recording(path_, pendulum(time, angle)); });
  };
  expect_parts(reported("t", "alpha"),
               {"run.h5: no array \"alpha\"", "\"a/theta\"", "recording { }"});
  expect_parts(reported("t", "theta"), {"no array \"theta\", or several in groups"});
  expect_parts(reported("t", "short"), {"array \"short\" has 2 elements, \"t\" 400"});
  expect_parts(reported("nothing", "none"), {"empty"});
  Rig undescribed = pendulum("t", "theta");
  undescribed.format.reset();
  expect_parts(refusal([&] { import_recording(path_, undescribed); }),
               {"rig.textproto: has no recording { }", "\"b/theta\""});
  std::ofstream(path_) << "t,theta\n0,1\n";
  expect_parts(reported("t", "theta"), {"run.h5: is not a MAT, HDF5 or NumPy file"});
  expect_parts(refusal([&] { import_recording("gone.h5", pendulum("t", "theta")); }),
               {"gone.h5", "No such file"});
}

}  // namespace
}  // namespace service
