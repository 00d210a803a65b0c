#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "daq/console/recording_sink.hpp"
#include "daq/scenario/catalog.hpp"
#include "firmware_iface/sim/inertial_sensor.hpp"
#include "proto/recording/export/export_csv.hpp"
#include "proto/recording/export/export_mat.hpp"
#include "proto/recording/recording_info.hpp"
#include "proto/text/files.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/recordings/formats/recording_formats.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/daq/simulated_rig.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/temporary_folder.hpp"

namespace {

namespace sim = firmware_iface::sim;
using test_support::expect_parts;
using test_support::TemporaryFolder;

constexpr int kAxes = 6;

/// The shipped Furuta pendulum with two inertial sensors, and a third that is not recorded.
service::Rig make_rig() {
  const std::string path = test_support::source_folder() + "/configs/rig-furuta.textproto";
  return service::parse_rig(path, proto::read_file(path) + R"(
inertial_sensor { name: "spare" body: "B" gyroscope {} }
inertial_sensor { name: "imu-b" body: "B" gyroscope {} accelerometer {} }
inertial_sensor { name: "imu-a" body: "A" gyroscope {} accelerometer {} }
)");
}

sim::SimulationSettings make_simulation() {
  sim::SimulationSettings settings = daq::simulation_settings();
  settings.unit.inertial_count = 2;
  for (const int joint : {0, 1}) {
    sim::InertialSensorSettings& sensor = settings.unit.inertial[static_cast<std::size_t>(joint)];
    sensor.joint = joint;
    sensor.point = {0.02, 0.01, -0.03};
    sensor.mounting = {0.1, -0.2, 0.3};
    sensor.gyro_range = joint == 0 ? 0.3 : 0.0;  // less than the arm's rotation rate
    sensor.dropout = 0.02;
  }
  return settings;
}

daq::LoopSettings make_loop(const sim::SimulationSettings& simulation) {
  daq::LoopSettings settings = daq::furuta_settings();
  settings.inertial_count = 2;
  for (std::size_t i = 0; i < 2; ++i) {
    const sim::InertialSensorSettings& sensor = simulation.unit.inertial[i];
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      const double counts = axis < 3 ? sensor.gyro_counts : sensor.accel_counts;
      settings.inertial[i].si_per_count[axis] = 1.0 / counts;
      settings.inertial[i].counts_max[axis] = static_cast<std::int16_t>(
          axis < 3 && sensor.gyro_range > 0.0 ? std::floor(sensor.gyro_range * counts) : 32767);
    }
  }
  return settings;
}

/// Records a run. Returns the true state at each sample.
std::map<std::uint64_t, sim::TrueState> record(const sim::SimulationSettings& simulation,
                                               const std::string& path) {
  proto::RecordingHeader header;
  header.joints = {"1", "2"};
  header.inertial_sensors = {"imu-a", "imu-b"};
  auto writer = proto::RecordingWriter::create(path, header);
  EXPECT_TRUE(writer.ok()) << writer.error().detail;
  daq::RecordingSink sink(std::move(writer.value()));
  const daq::Scenario scenario("pulse",
                               daq::Pulse{.amplitude = 6.0, .start_s = 0.1, .width_s = 0.3}, 1.0);
  daq::SimulatedRig rig(scenario, make_loop(simulation), simulation, daq::furuta_limits(), &sink);
  rig.keep_truth();
  rig.run();
  rig.finish();
  EXPECT_TRUE(sink.finish().ok());
  return rig.truth();
}

void expect_equal(const estimator::Segment& expected, const estimator::Segment& actual) {
  ASSERT_EQ(actual.inertial.rows(), expected.inertial.rows());
  ASSERT_EQ(actual.inertial.cols(), expected.inertial.cols());
  for (Eigen::Index row = 0; row < expected.inertial.rows(); ++row) {
    for (Eigen::Index k = 0; k < expected.inertial.cols(); ++k) {
      const double a = expected.inertial(row, k), b = actual.inertial(row, k);
      ASSERT_TRUE(a == b || (std::isnan(a) && std::isnan(b))) << row << ' ' << k;
    }
  }
}

// From the plant's motion over wire, loop, recording and import: each reading must be in the row of
// its sample and the column of its sensor and axis, to half a count, and dropped or saturated ones
// nowhere. Catches a shift by one sample, since the motion changes by many counts per sample.
TEST(InertialChain, ReadingsArriveInTheirPlaces) {
  const TemporaryFolder folder;
  const sim::SimulationSettings simulation = make_simulation();
  const auto truth = record(simulation, folder.file("run.mcap"));
  const service::Rig rig = make_rig();
  const service::ImportedRecording imported =
      service::import_daq_mcap(folder.file("run.mcap"), rig);
  ASSERT_EQ(imported.recording.segments.size(), 1U);
  const estimator::Segment& segment = imported.recording.segments[0];
  ASSERT_EQ(segment.inertial.rows(), segment.angles.rows());
  ASSERT_EQ(segment.inertial.cols(), 3 * kAxes);
  EXPECT_TRUE(segment.inertial.leftCols(kAxes).array().isNaN().all()) << "the spare is not read";

  int read[2] = {}, saturated = 0;
  double largest_change = 0.0;
  for (Eigen::Index row = 0; row < segment.inertial.rows(); ++row) {
    const sim::TrueState& now = truth.at(static_cast<std::uint64_t>(row));
    sim::Plant plant(std::make_unique<sim::FurutaModel>(daq::furuta_parameters()), now.state);
    for (const int joint : {0, 1}) {
      const sim::InertialSensorSettings& sensor =
          simulation.unit.inertial[static_cast<std::size_t>(joint)];
      const auto exact =
          sim::compute_exact_reading(sensor, plant.compute_body_motion(joint, now.command_V));
      const Eigen::Index first = (joint == 0 ? 2 : 1) * kAxes;
      const bool is_read = !std::isnan(segment.inertial(row, first + 3));
      read[joint] += is_read;
      if (!is_read) continue;
      for (int axis = 0; axis < kAxes; ++axis) {
        const double half_count = 0.5 / (axis < 3 ? sensor.gyro_counts : sensor.accel_counts);
        const double reading = segment.inertial(row, first + axis);
        const double expected = exact[static_cast<std::size_t>(axis)];
        if (joint == 0 && axis < 3 && std::abs(expected) > sensor.gyro_range) {
          EXPECT_TRUE(std::isnan(reading)) << row;
          ++saturated;
          continue;
        }
        if (std::isnan(reading)) continue;  // within a count of the range
        EXPECT_NEAR(reading, expected, half_count * (1.0 + 1e-6)) << row << ' ' << axis;
      }
      if (row > 0 && joint == 1) {
        const double change =
            segment.inertial(row, first + 3) - segment.inertial(row - 1, first + 3);
        largest_change = std::fmax(largest_change, std::abs(change) * sensor.accel_counts);
      }
    }
  }
  const auto rows = static_cast<double>(segment.inertial.rows());
  for (const int joint : {0, 1}) EXPECT_NEAR(read[joint] / rows, 0.98, 0.02);
  EXPECT_GT(saturated, 10);
  EXPECT_GT(largest_change, 10.0);
  std::string notes;
  for (const std::string& note : imported.summary.notes) notes += note + "\n";
  expect_parts(notes, {"\"imu-a\" is saturated in", "\"spare\" is not in the recording"});
}

// An export that is read back must equal the recording.
TEST(InertialChain, ExportsReadBackTheSame) {
  const TemporaryFolder folder;
  record(make_simulation(), folder.file("run.mcap"));
  const service::Rig rig = make_rig();
  const estimator::Segment segment =
      service::import_daq_mcap(folder.file("run.mcap"), rig).recording.segments.at(0);
  ASSERT_TRUE(proto::export_csv(folder.file("run.mcap"), folder.file("run.csv")).ok());
  ASSERT_TRUE(proto::export_mat(folder.file("run.mcap"), folder.file("run.mat")).ok());
  const std::string text = proto::read_file(folder.file("run.csv"));
  expect_equal(
      segment,
      service::import_exported_csv(folder.file("run.csv"), text, rig).recording.segments.at(0));
  expect_equal(segment,
               service::import_arrays(folder.file("run.mat"), rig).recording.segments.at(0));
}

TEST(InertialChain, InformationListsTheSensors) {
  const TemporaryFolder folder;
  record(make_simulation(), folder.file("run.mcap"));
  const auto info = proto::inspect_recording(folder.file("run.mcap"));
  ASSERT_TRUE(info.ok());
  ASSERT_EQ(info.value().inertial.size(), 2U);
  EXPECT_GT(info.value().inertial[0].saturated_count, 10U);
  EXPECT_EQ(info.value().inertial[1].saturated_count, 0U);
  EXPECT_GT(info.value().inertial[1].reading_count, 900U);
  const std::string text = proto::to_text(info.value());
  expect_parts(text, {"imu-a", "readings"});
}

}  // namespace
