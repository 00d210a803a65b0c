#include <gtest/gtest.h>
#include <matio.h>

#include <cmath>

#include "proto/recording/arrays/array_file.hpp"
#include "proto/recording/export/export_csv.hpp"
#include "proto/recording/export/export_mat.hpp"
#include "proto/recording/recording_info.hpp"
#include "proto/recording/recording_reader.hpp"
#include "proto/recording/recording_rules.hpp"
#include "proto/text/files.hpp"
#include "proto/text/table/csv_table.hpp"
#include "tests/proto/recording_support.hpp"
#include "tests/support/refusal.hpp"

namespace proto {
namespace {

using namespace test_support;
using test_support::TemporaryFolder;

// 600 samples, of which numbers 200 to 239 are missing, and a clock that is off by 250 ppm.
std::string record_run(const TemporaryFolder& folder,
                       const RecordingHeader& header = furuta_header()) {
  const std::string path = folder.file("run.mcap");
  auto writer = require(RecordingWriter::create(path, header));
  for (std::uint64_t k = 0; k < 600; ++k) {
    if (k >= 200 && k < 240) continue;
    EXPECT_TRUE(ok(writer.write(make_sample(k))));
  }
  EXPECT_TRUE(ok(writer.write(Gap{0.2, 200, 30, GapCause::kLink})));
  EXPECT_TRUE(ok(writer.write(ClockFit{.timestamp_s = 0.6, .rate_error_ppm = 250.0})));
  EXPECT_TRUE(ok(writer.write(Event{
      .timestamp_s = 0.6, .kind = EventKind::kTrip, .name = "speed_limit", .text = "31 > 30"})));
  EXPECT_TRUE(ok(writer.finish()));
  return path;
}

// The estimator needs uniform sampling: a gap must split the series, the unit's clock must be
// corrected, and an invalid channel must be NaN and not the last value.
TEST(MakeSeries, CutsAtGapsAndCorrectsTheClock) {
  const TemporaryFolder folder;
  const auto recording = require(read_recording(record_run(folder)));
  const Series series = require(make_uniform_series(recording));
  EXPECT_EQ(series.joints, furuta_header().joints);
  ASSERT_EQ(series.segments.size(), 2u);
  const SeriesSegment& second = series.segments[1];
  EXPECT_EQ(series.segments[0].row_count, 200u);
  EXPECT_EQ(second.row_count, 360u);
  EXPECT_DOUBLE_EQ(second.start_s, 0.240);
  EXPECT_DOUBLE_EQ(second.period_s, 1e-3 / (1.0 + 250e-6));  // a fast unit ticks early
  ASSERT_EQ(second.angle_rad.size(), 720u);
  ASSERT_EQ(second.command.size(), 360u);
  for (std::uint64_t row = 0; row < 360; ++row) {
    const Sample sample = make_sample(240 + row);
    EXPECT_EQ(second.angle_rad[2 * row], sample.angle_rad[0]);
    EXPECT_EQ(std::isnan(second.angle_rad[2 * row + 1]), !sample.valid[1]);
    EXPECT_EQ(second.command[row], sample.command[0]);
  }
}

// A unit that stalls continues its sequence but its clock jumps: a uniform series would hide it.
TEST(MakeSeries, CutsWhereTheUnitsClockJumps) {
  Recording recording;
  recording.header = furuta_header();
  for (std::uint64_t k = 0; k < 100; ++k) {
    recording.samples.push_back(make_sample(k));
    if (k >= 60) recording.samples.back().device_time_us += 700;
  }
  const auto series = require(make_uniform_series(recording));
  ASSERT_EQ(series.segments.size(), 2u);
  EXPECT_EQ(series.segments[0].row_count, 60u);
}

TEST(MakeSeries, RefusesARecordingWithoutTwoSamplesInARow) {
  Recording recording;
  recording.header = furuta_header();
  for (const std::uint64_t k : {0U, 2U, 4U}) recording.samples.push_back(make_sample(k));
  EXPECT_FALSE(make_uniform_series(recording).ok());
}

// Exported and read by the program's own CSV reader, every double must be the same.
TEST(ExportCsv, LosesNoDigit) {
  const TemporaryFolder folder;
  const std::string csv = folder.file("run.csv");
  const auto scan = require(export_csv(record_run(folder), csv));
  EXPECT_EQ(scan.sample_count, 560u);
  const CsvTable table = parse_csv(csv, read_file(csv),
                                   {{"time_s"},
                                    {"arm_rad"},
                                    {"pendulum_rad", MissingCells::kAllowed},
                                    {"command_V"},
                                    {"segment"},
                                    {"arm_counts"},
                                    {"pendulum_valid"},
                                    {"error_count"}});
  ASSERT_EQ(table.row_count(), 560);
  for (std::size_t row = 0; row < 560; ++row) {
    const std::uint64_t k = row < 200 ? row : row + 40;
    const Sample sample = make_sample(k);
    ASSERT_EQ(table.values[0][row], sample.timestamp_s);
    ASSERT_EQ(table.values[1][row], sample.angle_rad[0]);
    ASSERT_EQ(std::isnan(table.values[2][row]), !sample.valid[1]);
    ASSERT_TRUE(!sample.valid[1] || table.values[2][row] == sample.angle_rad[1]);
    ASSERT_EQ(table.values[3][row], sample.command[0]);
    ASSERT_EQ(table.values[4][row], k < 200 ? 1.0 : 2.0);
    ASSERT_EQ(table.values[5][row], static_cast<double>(sample.encoder_counts[0]));
    ASSERT_EQ(table.values[6][row], sample.valid[1] ? 1.0 : 0.0);
    ASSERT_EQ(table.values[7][row], static_cast<double>(sample.error_count));
  }
}

TEST(Export, OverwritesNothingAndLeavesNoFiles) {
  const TemporaryFolder folder;
  const std::string run = record_run(folder);
  write_bytes(folder.file("taken"), test_support::Bytes{'x'});
  write_bytes(folder.file("no.mcap"), test_support::Bytes{'x'});
  for (const auto& convert : {export_csv, export_mat}) {
    EXPECT_EQ(require_error(convert(run, folder.file("taken"))).code, ErrorCode::kExists);
    expect_parts(require_error(convert(folder.file("no.mcap"), folder.file("out"))).detail,
                 {"no.mcap"});
  }
  EXPECT_EQ(read_bytes(folder.file("taken")).size(), 1u);
  EXPECT_EQ(folder.file_count(), 3u);
}

// Read back with the usual MAT library: shapes, column order, names.
TEST(ExportMat, ContainsTheSameNumbers) {
  const TemporaryFolder folder;
  const std::string path = folder.file("run.mat");
  ASSERT_TRUE(ok(export_mat(record_run(folder), path)));
  mat_t* file = Mat_Open(path.c_str(), MAT_ACC_RDONLY);
  ASSERT_NE(file, nullptr);
  const auto read = [&](const char* name) {
    return std::unique_ptr<matvar_t, void (*)(matvar_t*)>(Mat_VarRead(file, name), Mat_VarFree);
  };
  const auto angles = read("angle_rad");
  ASSERT_TRUE(angles);
  ASSERT_EQ(angles->dims[0], 560u);
  ASSERT_EQ(angles->dims[1], 2u);
  const auto* values = static_cast<const double*>(angles->data);
  const auto times = read("time_s");
  ASSERT_TRUE(times);
  for (std::size_t row = 0; row < 560; ++row) {
    const Sample sample = make_sample(row < 200 ? row : row + 40);
    ASSERT_EQ(static_cast<const double*>(times->data)[row], sample.timestamp_s);
    ASSERT_EQ(values[row], sample.angle_rad[0]);
    ASSERT_EQ(std::isnan(values[560 + row]), !sample.valid[1]);
  }
  const auto gaps = read("gaps");
  ASSERT_TRUE(gaps);
  ASSERT_EQ(gaps->dims[0], 2u);
  EXPECT_EQ(static_cast<const double*>(gaps->data)[0], 200.0);
  EXPECT_EQ(static_cast<const double*>(gaps->data)[3], 10.0);
  const auto joints = read("hinges");
  ASSERT_TRUE(joints);
  const matvar_t* second = Mat_VarGetCell(joints.get(), 1);
  EXPECT_EQ(std::string(static_cast<const char*>(second->data), second->nbytes), "pendulum");
  const auto facts = read("facts");
  ASSERT_TRUE(facts);
  const matvar_t* rig = Mat_VarGetStructFieldByName(facts.get(), "rig", 0);
  ASSERT_NE(rig, nullptr);
  EXPECT_EQ(std::string(static_cast<const char*>(rig->data), rig->nbytes), "furuta");
  Mat_Close(file);
}

// A prismatic joint is read in metres, and every table labels that channel so. A recording without
// one has no new entries.
TEST(Recordings, LabelPrismaticChannels) {
  const TemporaryFolder folder;
  const std::string run = record_run(folder, cart_header());
  ASSERT_TRUE(ok(export_csv(run, folder.file("run.csv"))));
  EXPECT_TRUE(
      read_file(folder.file("run.csv")).starts_with("time_s,arm_m,pendulum_rad,command_V,"));
  ASSERT_TRUE(ok(export_mat(run, folder.file("run.mat"))));
  const auto mat = open_array_file(folder.file("run.mat"));
  EXPECT_EQ(mat->find("angle_rad"), nullptr);
  EXPECT_EQ(mat->find(kMatReadings)->count(), 2 * 560u);
  EXPECT_EQ(mat->read_texts(kMatUnits), (std::vector<std::string>{"m", "rad"}));
  const auto info = require(inspect_recording(run));
  const std::string text = to_text(info);
  expect_parts(text, {"arm         -0.3000 to 0.2990 m, 0", " rad, "});
  EXPECT_EQ(info.header.slides, std::vector<std::string>{"arm"});
  EXPECT_FALSE(info.header.facts.contains("slides"));

  const TemporaryFolder other;
  const std::string turning = record_run(other);
  EXPECT_EQ(to_text(inspect_recording(turning).value()).find(" m, "), std::string::npos);
  EXPECT_EQ(read_file(turning).find("slides"), std::string::npos);
}

// A rig with two motors: sample k commands k and -k/2.
std::string record_two_motors(const TemporaryFolder& folder) {
  RecordingHeader header = furuta_header();
  header.motors = {"pendulum", "left_arm"};
  header.command_units = {"N·m", "duty"};
  const std::string path = folder.file("two.mcap");
  auto writer = require(RecordingWriter::create(path, header));
  for (std::uint64_t k = 0; k < 5; ++k) {
    Sample sample = make_sample(k);
    sample.motor_count = 2;
    sample.command = {static_cast<double>(k), 0.0 - 0.5 * static_cast<double>(k)};
    EXPECT_TRUE(ok(writer.write(sample)));
  }
  EXPECT_TRUE(ok(writer.finish()));
  return path;
}

// Every table must label the motors and their units: a mislabelled column would be calibrated
// without notice.
TEST(Recordings, NameTheCommandsOfSeveralMotors) {
  const TemporaryFolder folder;
  const std::string run = record_two_motors(folder);
  ASSERT_TRUE(ok(export_csv(run, folder.file("run.csv"))));
  const std::string csv = read_file(folder.file("run.csv"));
  EXPECT_TRUE(csv.starts_with(
      "time_s,arm_rad,pendulum_rad,command_pendulum_Nm,command_left_arm_duty,segment,"))
      << csv.substr(0, 90);
  EXPECT_NE(csv.find(",3,-1.5,1,3,"), std::string::npos) << csv;
  ASSERT_TRUE(ok(export_mat(run, folder.file("run.mat"))));
  const auto mat = open_array_file(folder.file("run.mat"));
  EXPECT_EQ(mat->read(*mat->find(kMatCommands)),
            (std::vector<double>{0, 1, 2, 3, 4, 0, -0.5, -1.0, -1.5, -2.0}));
  EXPECT_EQ(mat->read_texts(kMatMotors), (std::vector<std::string>{"pendulum", "left_arm"}));
  EXPECT_EQ(mat->read_texts(kMatCommandUnits), (std::vector<std::string>{"N·m", "duty"}));
  const auto info = require(inspect_recording(run));
  const std::string text = to_text(info);
  expect_parts(text, {"command     0.000 to 4.000 N·m at pendulum\n",
                      "command     -2.000 to 0.000 duty at left_arm\n"});
  const auto series = require(make_uniform_series(read_recording(run).value()));
  EXPECT_EQ(series.command_count, 2U);
  EXPECT_EQ(series.segments[0].command,
            (std::vector<double>{0, 0, 1, -0.5, 2, -1, 3, -1.5, 4, -2}));
}

// The column of a single motor is labelled with its unit, or with volts if the unit is unknown.
TEST(CommandColumns, ShowTheUnit) {
  const auto columns = [](const std::vector<std::string>& motors,
                          const std::vector<std::string>& units) {
    return join_names(command_columns({.motors = motors, .command_units = units}));
  };
  EXPECT_EQ(columns({}, {}), "command_V");
  EXPECT_EQ(columns({"arm"}, {}), "command_V");
  EXPECT_EQ(columns({"arm"}, {"V"}), "command_V");
  EXPECT_EQ(columns({"arm"}, {"A"}), "command_A");
  EXPECT_EQ(columns({"arm"}, {"duty"}), "command_duty");
  EXPECT_EQ(columns({"arm"}, {"N·m/s"}), "command_Nms");
  EXPECT_EQ(columns({"a", "b"}, {"V", ""}), "command_a_V,command_b_V");
}

// Motors are read back from column names, which omit the joint of a single motor.
TEST(CommandColumns, AreReadBack) {
  const auto read = [](const std::vector<std::string>& columns) {
    RecordingHeader header;
    if (!read_command_columns(columns, header)) return std::string("refused");
    return join_names(header.motors) + " " + join_names(header.command_units);
  };
  EXPECT_EQ(read({"command_V"}), " ");
  EXPECT_EQ(read({"command_duty"}), " ");
  EXPECT_EQ(read({"command_left_arm_V", "command_b_duty"}), "left_arm,b V,duty");
  EXPECT_EQ(read({}), "refused");
  EXPECT_EQ(read({"current_A"}), "refused");
  EXPECT_EQ(read({"command_arm_V"}), "refused");
  EXPECT_EQ(read({"command_V", "command_A"}), "refused");
  EXPECT_EQ(read({"command_arm_V", "command_arm_A"}), "refused");
  EXPECT_EQ(read({"command__V", "command_b_A"}), "refused");
}

// The printed summary must match the file.
TEST(InspectRecording, ReportsContentAndGaps) {
  const TemporaryFolder folder;
  const auto info = require(inspect_recording(record_run(folder)));
  EXPECT_EQ(info.scan.sample_count, 560u);
  EXPECT_EQ(info.missing_sample_count(), 40u);
  EXPECT_EQ(info.missing_counts[static_cast<std::size_t>(GapCause::kLink)], 30u);
  EXPECT_EQ(info.missing_counts[static_cast<std::size_t>(GapCause::kNotListed)], 10u);
  EXPECT_DOUBLE_EQ(info.last_s, 0.599);
  std::uint64_t invalid = 0;
  for (std::uint64_t k = 0; k < 600; ++k) invalid += (k < 200 || k >= 240) && k % 17 == 5 ? 1 : 0;
  EXPECT_EQ(info.channels[1].invalid_count, invalid);
  EXPECT_DOUBLE_EQ(info.channels[0].angle_rad_min, -0.3);
  EXPECT_DOUBLE_EQ(info.channels[0].angle_rad_max, 1e-3 * 599 - 0.3);
  const std::string text = to_text(info);
  expect_parts(text, {"560 in 0.599 s", "40 samples in 2 gaps", "30 lost on the link",
                      "speed_limit: 31 > 30", "+250.00", "furuta", "all checksums correct",
                      "2023-11-14 22:13:20 UTC"});
}

TEST(InspectRecording, ReportsACutOffRecording) {
  const TemporaryFolder folder;
  const test_support::Bytes bytes = read_bytes(record_run(folder));
  write_bytes(folder.file("cut.mcap"), std::span(bytes).first(bytes.size() / 2));
  const auto info = require(inspect_recording(folder.file("cut.mcap")));
  EXPECT_NE(to_text(info).find("incomplete: repair it"), std::string::npos);
  EXPECT_FALSE(info.scan.container.intact());
}

}  // namespace
}  // namespace proto
