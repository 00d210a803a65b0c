// Recordings in MAT, HDF5 and NumPy files whose signals are in structures, cells or rows, and files
// of other programs.

#include <gtest/gtest.h>

#include "service/recordings/formats/recording_file.hpp"
#include "tests/proto/array_samples.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/evaluation_data.hpp"

namespace service {
namespace {

using namespace test_support;

/// A pendulum whose recordings have these columns. Any speed is accepted.
Rig rig_with_columns(const std::string& time, const std::string& angle) {
  return parse_rig("rig.textproto", R"(
    body { name: "arm" mass { value: 0.5 }
      inertia { xx { value: 0.02 } yy { value: 0.02 } zz { value: 0.02 } } }
    joint { name: "1"
      parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
      child { body: "arm" point { y { value: 0.2 } } axis { z: 1 } zero_direction { y: -1 } }
      friction { viscous { value: 1e-4 free: true } } encoder {} }
    gravity { magnitude { value: 9.81 } }
    recording { time { column: ")" + time +
                                        R"(" } angle { joint: "1" column: ")" + angle +
                                        R"(" unit: RADIAN } speed_max_rad_per_s: 1e6 })");
}

class ArrayRecording : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(write_simulink_mat(path_, true)); }

  double value_at(const std::string& time, const std::string& angle, Eigen::Index row) const {
    const auto imported = import_recording(path_, rig_with_columns(time, angle));
    EXPECT_EQ(imported.summary.rows, static_cast<int>(kSampleRows));
    return imported.recording.segments.front().angles(row, 0);
  }

  std::string reported(const std::string& time, const std::string& angle) const {
    return refusal([&] { (void)import_recording(path_, rig_with_columns(time, angle)); });
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.file("run.mat");
};

TEST_F(ArrayRecording, NamesColumnsAndRows) {
  EXPECT_EQ(value_at("theta.time", "theta.signals(1).values(:,2)", 7), 107.0);
  EXPECT_EQ(value_at("time", "theta.signals(1).values(2)", 7), 107.0);
  EXPECT_EQ(value_at("cells{1}", "theta.signals(2).values", 7), 7.0);
  EXPECT_EQ(value_at("ans(1,:)", "ans(2,:)", 7), 7.0);
}

TEST_F(ArrayRecording, RefusalsListNamesWithSizes) {
  expect_parts(reported("time", "phi"),
               {"run.mat: no array \"phi\"", "\"theta.time\" (50)", "\"ans\" (2×50)"});
  expect_parts(reported("time", "ans"), {"\"ans\" is a matrix, 2×50", "rows", "\"ans(1,:)\""});
  expect_parts(reported("time", "theta.signals(1).values(:,3)"), {"50×2", "values(:,1)"});
  expect_parts(reported("time", "z"), {"run.mat: \"z\" is complex", "real(x)"});
  expect_parts(reported("time", "theta.signals(1).dimensions"), {"has 1 elements", "50"});
}

TEST_F(ArrayRecording, ListsSignalsAndOtherArrays) {
  const RecordingColumns found = read_recording_columns(path_);
  std::vector<std::string> names;
  for (const NamedColumn& column : found.columns) {
    names.push_back(column.name);
    EXPECT_EQ(column.values.size(), kSampleRows) << column.name;
  }
  EXPECT_EQ(names, (std::vector<std::string>{
                       "theta.time", "theta.signals(1).values(:,1)", "theta.signals(1).values(:,2)",
                       "theta.signals(2).values", "ans(1,:)", "ans(2,:)", "cells{1}"}));
  EXPECT_EQ(found.others.size(), 3U);  // with the complex number
  run_successfully("info " + path_,
                   {"theta.signals(1).values(:,2)", "ans(2,:)", "Not columns:",
                    "\"theta.signals(1).dimensions\" has the size 1", "is complex"});
  run_successfully("init --kind pendulum --length 0.3 --from " + path_ + " --out " +
                   folder_.file("rig.textproto") +
                   " --time 'ans(1,:)' --angle 'theta.signals(1).values(:,2)' --angle-unit rad");
}

TEST_F(ArrayRecording, OfNumpyIsImported) {
  const std::string path = folder_.file("run.npz");
  std::ofstream(path, std::ios::binary) << proto::as_text(test_support::make_zip(
      {{"t.npy", make_npy(sample_times(), "50,")}, {"q.npy", make_npy(sample_matrix(2), "50, 2")}},
      true));
  const auto imported = import_recording(path, rig_with_columns("t", "q(:,2)"));
  // Stored by rows: the second number of row 7 is the sixteenth.
  EXPECT_EQ(imported.recording.segments.front().angles(7, 0), 15.0);
}

// Simulink's "Structure with time" and "To File", and a file of hdf5storage.
TEST(ArrayFiles, OfFieldReportsAreImported) {
  const auto data = find_evaluation_data();
  if (!data || !std::filesystem::exists(*data / "field_reports")) {
    GTEST_SKIP() << "no field reports (../shared/data or RIG_DATA)";
  }
  struct Case {
    const char *file, *time, *angle;
  };
  for (const auto& [file, time, angle] :
       {Case{"swt.mat", "theta.time", "theta.signals.values"},
        Case{"tofile.mat", "ans(1,:)", "ans(2,:)"}, Case{"hs.mat", "t", "theta"}}) {
    const std::string path = (*data / "field_reports" / file).string();
    EXPECT_EQ(import_recording(path, rig_with_columns(time, angle)).summary.rows, 2000) << file;
    run_successfully("info " + path, {time, angle, "2000"});
  }
}

TEST(ForeignFiles, AreRefusedWithAConversion) {
  const TemporaryFolder folder;
  const Rig rig = rig_with_columns("t", "q");
  struct Case {
    const char* name;
    std::string begin;
    const char* remedy;
  };
  for (const Case& each :
       {Case{"run.parquet", "PAR1", "pandas.read_parquet('"},
        Case{"run.feather", "ARROW1", "pandas.read_feather('"},
        Case{"run.tdms", "TDSm", "nptdms.TdmsFile.read('"},
        Case{"run.xlsx", "PK\x03\x04" + std::string(26, '\0') + "[Content_Types]",
             "pandas.read_excel('"},
        Case{"run.xls", "\xD0\xCF\x11\xE0", "Save the sheet as CSV"},
        Case{"run.csv.gz", "\x1F\x8B", "gunzip"},
        Case{"run.bag", "#ROSBAG V2.0\n", "rosbags-convert"},
        Case{"run.ulg", "ULog\x01", "ulog2csv"}}) {
    const std::string path = folder.write(each.name, each.begin + "content");
    const std::string message = refusal([&] { (void)import_recording(path, rig); });
    expect_parts(message, {each.name, "are not supported", each.remedy});
    run_refused("info " + path, {each.name, each.remedy});
  }
}

TEST(ForeignFiles, FolderOfABagIsRefusedWithTheFileToGive) {
  const TemporaryFolder folder;
  folder.write("metadata.yaml", "rosbag2_bagfile_information:\n");
  const std::string path = std::filesystem::path(folder.file("metadata.yaml")).parent_path();
  expect_parts(refusal([&] { (void)import_recording(path, rig_with_columns("t", "q")); }),
               {"is the folder of a ROS 2 bag", ".db3"});
}

}  // namespace
}  // namespace service
