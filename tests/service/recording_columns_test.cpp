// Columns of files that no rig file describes yet, and files that are no recordings.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "proto/recording/export/export_mat.hpp"
#include "proto/recording/recording_writer.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "tests/proto/array_samples.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;

std::vector<std::string> names_of(const RecordingColumns& recording) {
  std::vector<std::string> names;
  for (const NamedColumn& column : recording.columns) names.push_back(column.name);
  return names;
}

/// A swing in a group, beside an index made by PyTables, a setting and a pandas table.
void write_hdf5(const std::string& path) {
  Hdf5Writer out(path);
  for (const char* group : {"run", "run/_i_table"}) out.group(group);
  std::vector<double> times, angles;
  for (int k = 0; k < 200; ++k) {
    times.push_back(0.01 * k);
    angles.push_back(0.5 * std::cos(0.1 * k));
  }
  out.put("run/t_s", times);
  out.put("run/theta_rad", angles);
  out.put("run/mass", {0.3});
  out.put("run/_i_table/sorted", times);
  struct Row {
    double index;
    double block[2];
  };
  const hsize_t two = 2;
  const hid_t block = H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &two);
  const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(Row));
  H5Tinsert(type, "index", offsetof(Row, index), H5T_NATIVE_DOUBLE);
  H5Tinsert(type, "values_block_0", offsetof(Row, block), block);
  out.put("run/table", {3}, type, nullptr);
}

// HDF5 is recognized by its content, whatever the file's name. The index beside a table is not
// listed as a column.
TEST(RecordingColumns, OfHdf5) {
  const TemporaryFolder folder;
  write_hdf5(folder.file("run.h5"));
  std::filesystem::copy_file(folder.file("run.h5"), folder.file("run.dat"));
  for (const char* name : {"run.h5", "run.dat"}) {
    EXPECT_EQ(detect_file_format(folder.file(name)), RecordingFileFormat::kArrays);
    const RecordingColumns recording = read_recording_columns(folder.file(name));
    EXPECT_EQ(names_of(recording), (std::vector<std::string>{"t_s", "theta_rad"}));
    EXPECT_EQ(recording.columns[0].values.size(), 200U);
    expect_parts(recording.fault, {"pandas", "format='fixed'"});
  }
  run_successfully("info " + folder.file("run.h5"), {"theta_rad"});
  const std::string rig = folder.file("rig.textproto");
  run_successfully("init --kind pendulum --length 0.3 --from " + folder.file("run.h5") + " --out " +
                   rig);
  EXPECT_EQ(import_recording(folder.file("run.h5"), load_rig(rig)).summary.rows, 200);
  const Rig other = load_rig(config("rig-pendulum.textproto"));
  expect_parts(refusal([&] { (void)import_recording(folder.file("run.h5"), other); }),
               {"run.h5", "no array", "format='fixed'"});
}

TEST(RecordingColumns, OfWordsAreListedAsText) {
  const TemporaryFolder folder;
  const std::string path =
      folder.write("states.csv", "recording,t_s,q\nrun.csv,0,1\nrun.csv,0.1,2\n");
  const RecordingColumns found = read_recording_columns(path);
  EXPECT_EQ(found.texts, std::vector<std::string>{"recording"});
  EXPECT_EQ(found.fault, "");
  const ProgramRun run =
      run_successfully("info " + path, {"recording    text", "t_s             2"});
  EXPECT_EQ(run.out.find("note:"), std::string::npos) << run.out;
  // Text among numbers is an error of that row.
  const RecordingColumns wrong =
      read_recording_columns(folder.write("wrong.csv", "t_s,q\n0,1\n1,x\n"));
  EXPECT_TRUE(wrong.texts.empty());
  expect_parts(wrong.fault, {"wrong.csv:3:2", "\"x\" is not a finite number"});
}

TEST(RecordingColumns, OfMat) {
  const TemporaryFolder folder;
  auto writer = proto::RecordingWriter::create(
      folder.file("run.mcap"), {.joints = {"a", "b"}, .epoch_unix_ns = 0, .facts = {}});
  ASSERT_TRUE(writer.ok());
  for (int k = 0; k < 100; ++k) {
    proto::Sample sample;
    sample.sequence = static_cast<std::uint64_t>(k);
    sample.device_time_us = 1000 * k;
    sample.timestamp_s = 1e-3 * k;
    sample.channel_count = 2;
    sample.angle_rad = {std::sin(0.01 * k), std::cos(0.01 * k)};
    sample.valid = {true, true};
    ASSERT_TRUE(writer.value().write(sample).ok());
  }
  ASSERT_TRUE(writer.value().finish().ok());
  ASSERT_TRUE(proto::export_mat(folder.file("run.mcap"), folder.file("run.mat")).ok());
  const std::vector<std::string> names = names_of(read_recording_columns(folder.file("run.mat")));
  for (const char* name : {"time_s", "angle_rad(:,1)", "angle_rad(:,2)", "command_V"}) {
    EXPECT_EQ(std::ranges::count(names, name), 1) << name;
  }
  EXPECT_EQ(std::ranges::count(names, "release_s"), 0);
  // A rig file that names the file's own variables uses them, with other joint names.
  const std::string rig = folder.file("rig.textproto");
  run_successfully(
      "init --kind double-pendulum --length 0.3,0.2 --no-motor --time time_s "
      "--angle 'angle_rad(:,1),angle_rad(:,2)' --angle-unit rad --from " +
      folder.file("run.mat") + " --out " + rig);
  EXPECT_EQ(import_recording(folder.file("run.mat"), load_rig(rig)).summary.rows, 100);
  // Output of rigcal-daq has no columns, and the message says so.
  expect_parts(refusal([&] { (void)read_recording_columns(folder.file("run.mcap")); }),
               {"run.mcap", "rigcal export"});
}

TEST(RecordingKinds, OtherFilesAreRefusedWithARemedy) {
  const TemporaryFolder folder;
  folder.write("run.parquet", "PAR1\x15\x04 and so on PAR1");
  folder.write("run.json", "\n {\"rig\": \"r\", \"version\": \"1\"}");
  const Rig rig = load_rig(config("rig-furuta.textproto"));
  expect_parts(refusal([&] { (void)import_recording(folder.file("run.parquet"), rig); }),
               {"run.parquet: Parquet files are not supported", "to_csv"});
  expect_parts(refusal([&] { (void)import_recording(folder.file("run.json"), rig); }),
               {"run.json: a result of rigcal is not a recording", "--parameters"});
  folder.write("can.log", "(1436509052.249713) can0 044#2A366C2BBA\n(1436509052.25) can0 1#0\n");
  folder.write("can.txt", "  can0  044   [2]  2A 36\n  can0  045   [1]  01\n");
  expect_parts(refusal([&] { (void)import_recording(folder.file("can.log"), rig); }),
               {"can.log: logs of a CAN bus are not supported", "CanutilsLogReader('"});
  expect_parts(refusal([&] { (void)import_recording(folder.file("can.txt"), rig); }),
               {"can.txt: printed frames of a CAN bus", "candump -l"});
  for (const char* command :
       {"info ", "init --kind pendulum --out x.textproto --from ", "export --out x.csv "}) {
    run_refused(command + folder.file("run.parquet"),
                {"run.parquet: Parquet files are not supported", "to_csv"});
  }
}

/// Two time spans, irregular and regular, a gap, a missing reading.
estimator::Recording uneven() {
  estimator::Recording recording{.name = "r", .segments = {}};
  for (int s = 0; s < 2; ++s) {
    estimator::Segment segment;
    segment.start = 3.0 * s;
    segment.period = 0.01;
    segment.angles.resize(60, 2);
    segment.controls.resize(60, 1);
    for (int k = 0; k < 60; ++k) {
      segment.angles.row(k) << std::sin(0.1 * k + s), std::cos(0.07 * k);
      segment.controls(k, 0) = 0.1 * (k % 7);
      if (s == 1) segment.times.push_back(0.01 * k + (k % 3 == 0 ? 0.004 : 0.0));
    }
    recording.segments.push_back(segment);
  }
  recording.segments[0].angles(7, 1) = std::nan("");
  return recording;
}

// Without the rig file's columns and with them: signs, units and zeros as stated.
TEST(RecordingCsv, IsReadBackWithItsRigFile) {
  const TemporaryFolder folder;
  Rig plain = load_rig(config("rig-furuta.textproto"));
  plain.format.reset();
  Rig formatted = load_rig(config("rig-furuta.textproto"));
  for (EncoderColumn& angle : formatted.format->angles) {
    angle.allow_missing = true;
    angle.scale = -M_PI / 180.0;
    angle.offset = 0.5;
  }
  const estimator::Recording recording = uneven();
  for (const Rig* rig : {&plain, &formatted}) {
    EXPECT_TRUE(list_csv_losses(*rig, recording).empty());
    folder.write("run.csv", format_recording_csv(*rig, recording));
    const auto read = import_recording(folder.file("run.csv"), *rig).recording.segments;
    ASSERT_EQ(read.size(), 2U);
    for (std::size_t s = 0; s < 2; ++s) {
      const estimator::Segment& is = read[s];
      const estimator::Segment& was = recording.segments[s];
      ASSERT_EQ(is.angles.rows(), was.angles.rows());
      for (Eigen::Index k = 0; k < is.angles.rows(); ++k) {
        EXPECT_NEAR(is.start + is.time(k), was.start + was.time(k), 1e-9);
        for (Eigen::Index i = 0; i < 2; ++i) {
          const double a = is.angles(k, i), b = was.angles(k, i);
          EXPECT_TRUE(std::abs(a - b) < 1e-9 || (std::isnan(a) && std::isnan(b))) << k;
        }
        EXPECT_NEAR(is.controls(k, 0), was.controls(k, 0), 1e-9);
      }
    }
  }
}

TEST(RecordingCsv, ReportsWhatItOmits) {
  Rig rig = load_rig(config("rig-furuta.textproto"));
  rig.format->time_column.clear();
  rig.format->rate = 100.0;
  const std::vector<std::string> losses = list_csv_losses(rig, uneven());
  ASSERT_EQ(losses.size(), 2U);
  expect_parts(losses[0], {"gaps", "time { column"});
  expect_parts(losses[1], {"allow_missing"});
}

}  // namespace
}  // namespace service
