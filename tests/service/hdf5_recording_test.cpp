#include "service/recordings/formats/recording_formats.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <cmath>
#include <fstream>

#include "service/recordings/formats/recording_file.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using test_support::expect_parts;
using test_support::refusal;

constexpr std::size_t kRows = 400;
constexpr double kTurn = 2e-3;  // [rad] per count

double angle_at(std::size_t k) { return 0.4 * std::sin(0.03 * static_cast<double>(k)); }

/// Writes with the HDF5 library itself.
class Hdf5Out {
 public:
  explicit Hdf5Out(const std::string& path)
      : file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)) {}
  ~Hdf5Out() { H5Fclose(file_); }

  void group(const char* name) {
    H5Gclose(H5Gcreate2(file_, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }

  void put(const char* name, const std::vector<hsize_t>& extent, hid_t type, const void* data) {
    const hid_t space = H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr);
    const hid_t set = H5Dcreate2(file_, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (data != nullptr) H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
    H5Dclose(set);
    H5Sclose(space);
  }

  void put(const char* name, const std::vector<double>& values) {
    put(name, {values.size()}, H5T_NATIVE_DOUBLE, values.data());
  }

 private:
  hid_t file_;
};

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
  test_support::TemporaryFolder folder_;
  std::string path_ = folder_.file("run.h5");
};

TEST_F(Hdf5, ReadsDataSetsInGroupsByPathOrByTheirLastName) {
  {
    Hdf5Out out(path_);
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
    Hdf5Out out(path_);
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
    Hdf5Out out(path_);
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
    Hdf5Out out(path_);
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
    Hdf5Out out(path_);
    out.put("t", times());
    out.put("theta", holes);
  }
  const ImportedRecording imported =
      import_recording(path_, pendulum("t", "theta", "allow_missing: true"));
  EXPECT_TRUE(std::isnan(imported.recording.segments.front().angles(7, 0)));
  expect_parts(refusal([&] { import_recording(path_, pendulum("t", "theta")); }),
               {"run.h5", "data set \"theta\", row 8", "not finite"});
}

TEST_F(Hdf5, RefusalsNameTheFileAndTheDataSet) {
  {
    Hdf5Out out(path_);
    out.group("a");
    out.group("b");
    out.put("t", times());
    out.put("a/theta", angles());
    out.put("b/theta", angles());
    out.put("short", {1.0, 2.0});
    out.put("nothing", std::vector<double>());
  }
  const auto reported = [&](const char* time, const char* angle) {
    return refusal([&] { import_recording(path_, pendulum(time, angle)); });
  };
  expect_parts(reported("t", "alpha"),
               {"run.h5: no data set \"alpha\"", "\"a/theta\"", "recording { }"});
  expect_parts(reported("t", "theta"), {"no data set \"theta\", or several in groups"});
  expect_parts(reported("t", "short"), {"data set \"short\" has 2 elements, \"t\" 400"});
  expect_parts(reported("nothing", "nothing"), {"empty"});
  Rig undescribed = pendulum("t", "theta");
  undescribed.format.reset();
  expect_parts(refusal([&] { import_recording(path_, undescribed); }),
               {"rig.textproto: has no recording { }", "\"b/theta\""});
  std::ofstream(path_) << "t,theta\n0,1\n";
  expect_parts(reported("t", "theta"), {"run.h5: is not an HDF5 file"});
  expect_parts(refusal([&] { import_recording("gone.h5", pendulum("t", "theta")); }),
               {"gone.h5: cannot be opened: No such file"});
}

}  // namespace
}  // namespace service
