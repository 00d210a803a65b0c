// Output of `rigcal estimate` and `rigcal-sim --truth`, read back as recordings.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <sstream>

#include "estimator/model/encoder.hpp"
#include "service/recordings/formats/recording_file.hpp"
#include "service/result/state_output.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;

constexpr double kPeriod = 0.002;  // [s]

/// Artificial states: every joint and motor has its own numbers.
estimator::StateEstimate make_states(const Rig& rig, const std::string& name, double start,
                                     int rows = 60) {
  const int joints = rig.mechanism.joint_count();
  estimator::StateEstimate states;
  states.recording = name;
  states.start = start;
  states.values.setConstant(rows, joints * estimator::kStateQuantities, 7.0);
  states.deviations.setConstant(rows, states.values.cols(), 1e-3);
  int motors = 0;
  for (const estimator::Joint& joint : rig.mechanism.joints) motors += joint.motor.present ? 1 : 0;
  states.controls.resize(rows, motors);
  for (int k = 0; k < rows; ++k) {
    states.times.push_back(kPeriod * k);
    for (int j = 0; j < joints; ++j) {
      states.values(k,
                    estimator::StateEstimate::column_index(j, estimator::StateQuantity::kAngle)) =
          0.3 * (j + 1) + 0.1 * std::sin(0.05 * (j + 1) * k + start);
    }
    for (int m = 0; m < motors; ++m) states.controls(k, m) = 0.25 * (k % 4) + m;
  }
  return states;
}

std::vector<int> all_quantities() {
  std::vector<int> all;
  for (int i = 0; i < estimator::kStateQuantities; ++i) all.push_back(i);
  return all;
}

/// Checks that times, readings and controls are those of the states, to the digits in the file.
/// @param start  where times continue, if not where they began [s]
void expect_states(const estimator::Segment& is, const estimator::StateEstimate& states,
                   const Rig& rig, std::optional<double> start = {}) {
  constexpr double kDigits = 1e-9;  // CSV has ten
  ASSERT_EQ(is.angles.rows(), states.values.rows());
  EXPECT_NEAR(is.start, start.value_or(states.start), kDigits);
  EXPECT_NEAR(is.period, kPeriod, kDigits);
  const std::vector<estimator::Encoder> sensors = estimator::used_encoders(rig.mechanism);
  ASSERT_EQ(is.angles.cols(), std::ssize(sensors));
  for (Eigen::Index k = 0; k < is.angles.rows(); ++k) {
    for (std::size_t i = 0; i < sensors.size(); ++i) {
      const double offset =
          rig.mechanism.parameters[static_cast<std::size_t>(sensors[i].offset)].value;
      const double reading = sensors[i].sum([&](int joint) {
        return states.values(
            k, estimator::StateEstimate::column_index(joint, estimator::StateQuantity::kAngle));
      });
      EXPECT_NEAR(is.angles(k, static_cast<Eigen::Index>(i)), reading - offset, kDigits);
    }
  }
  ASSERT_EQ(is.controls.cols(), states.controls.cols());
  EXPECT_TRUE(is.controls.isApprox(states.controls, kDigits));
}

/// The Furuta pendulum with encoder offsets.
Rig offset_furuta() {
  Rig rig = load_rig(config("rig-furuta.textproto"));
  int nth = 0;
  for (const estimator::Encoder& sensor : estimator::used_encoders(rig.mechanism)) {
    rig.mechanism.parameters[static_cast<std::size_t>(sensor.offset)].value = 0.01 * ++nth;
  }
  return rig;
}

class ComputedMotion : public ::testing::TestWithParam<const char*> {
 protected:
  Rig rig() const {
    return std::string(GetParam()) == "offset" ? offset_furuta() : load_rig(config(GetParam()));
  }
  std::string file(const std::string& name) const { return folder_.file(name); }
  TemporaryFolder folder_;
};

// Encoders of revolute joints, between bodies and of prismatic joints. Offsets and signs of the rig
// file's columns are not applied again.
TEST_P(ComputedMotion, OfAnEstimateIsReadBack) {
  const Rig rig = this->rig();
  const estimator::StateEstimate states = make_states(rig, "run.csv", 1.5);
  folder_.write("states.csv", format_state_csv(rig.mechanism, {states}, all_quantities()));
  write_state_mcap(file("states.mcap"), rig.mechanism, {states}, all_quantities());
  for (const char* name : {"states.csv", "states.mcap"}) {
    SCOPED_TRACE(name);
    const ImportedRecording imported = import_recording(file(name), rig);
    ASSERT_EQ(imported.recording.segments.size(), 1U);
    expect_states(imported.recording.segments.front(), states, rig);
    ASSERT_FALSE(imported.summary.notes.empty());
    expect_parts(imported.summary.notes.back(), {"estimates from a model"});
  }
}

INSTANTIATE_TEST_SUITE_P(Rigs, ComputedMotion,
                         ::testing::Values("offset", "rig-multiarm-double.textproto",
                                           "rig-cartpole.textproto", "rig-chain3imu.textproto",
                                           "rig-fourbar.textproto"));

// Recordings, gaps and restarting times separate segments again; a name may contain commas.
TEST(StateRecording, KeepsRecordingsApart) {
  const TemporaryFolder folder;
  const Rig rig = load_rig(config("rig-furuta.textproto"));
  const std::vector<estimator::StateEstimate> states = {
      make_states(rig, "a, \"b\".csv", 0.0), make_states(rig, "a, \"b\".csv", 5.0),
      make_states(rig, "c.csv", 5.12), make_states(rig, "c.csv", 0.3)};
  folder.write("states.csv",
               format_state_csv(rig.mechanism, states, find_state_quantities("angle")));
  write_state_mcap(folder.file("states.mcap"), rig.mechanism, {states[0], states[1], states[3]},
                   find_state_quantities("angle"));
  const auto csv = import_recording(folder.file("states.csv"), rig).recording.segments;
  ASSERT_EQ(csv.size(), 4U);
  for (std::size_t i = 0; i < 3; ++i) expect_states(csv[i], states[i], rig);
  expect_states(csv[3], states[3], rig, 6.3);  // the previous one ends at 5.238 s
  const auto mcap = import_recording(folder.file("states.mcap"), rig).recording.segments;
  ASSERT_EQ(mcap.size(), 3U);
  expect_states(mcap[2], states[3], rig, 6.3);
}

TEST(StateRecording, WithoutAnglesOrOfAnotherRigIsRefused) {
  const TemporaryFolder folder;
  const Rig rig = load_rig(config("rig-furuta.textproto"));
  const std::vector<estimator::StateEstimate> states = {make_states(rig, "run.csv", 0.0)};
  folder.write("rates.csv", format_state_csv(rig.mechanism, states, find_state_quantities("rate")));
  write_state_mcap(folder.file("rates.mcap"), rig.mechanism, states, find_state_quantities("rate"));
  for (const char* name : {"rates.csv", "rates.mcap"}) {
    expect_parts(refusal([&] { (void)import_recording(folder.file(name), rig); }),
                 {name, "joint \"1\"", "--only angle"});
  }
  write_state_mcap(folder.file("states.mcap"), rig.mechanism, states, all_quantities());
  const Rig other = load_rig(config("rig-pendulum.textproto"));
  expect_parts(refusal([&] { (void)import_recording(folder.file("states.mcap"), other); }),
               {"states.mcap", "has no data for the joints", "estimated with"});
}

/// Output as of rigcal-sim --truth, held for ten rows.
std::string truth_text(int rows_before_release) {
  std::ostringstream text;
  text << "time_s,unit_time_us,sample_sequence,theta1_rad,theta2_rad,omega1_rad_s,omega2_rad_s,"
          "count1,count2,command_V,tripped,held\n";
  for (int k = 0; k < 80; ++k) {
    text << 0.001 * k << ',' << 1000 * k << ',' << (k < 5 ? "" : std::to_string(k - 5)) << ','
         << 0.01 * k << ',' << 3.0 - 0.02 * k << ",10,-20,0,0," << (k % 3) << ",0,"
         << (k < rows_before_release ? 1 : 0) << '\n';
  }
  return text.str();
}

TEST(TruthRecording, IsReadFromTheReleaseOn) {
  const TemporaryFolder folder;
  folder.write("truth.csv", truth_text(10));
  const Rig rig = offset_furuta();
  const ImportedRecording imported = import_recording(folder.file("truth.csv"), rig);
  ASSERT_EQ(imported.recording.segments.size(), 1U);
  const estimator::Segment& segment = imported.recording.segments.front();
  ASSERT_EQ(segment.angles.rows(), 70);
  EXPECT_NEAR(segment.start, 0.010, 1e-12);
  EXPECT_NEAR(segment.angles(0, 0), 0.1 - 0.01, 1e-12);
  EXPECT_NEAR(segment.angles(1, 1), 2.78 - 0.02, 1e-12);
  EXPECT_EQ(segment.controls(1, 0), 2.0);
  EXPECT_EQ(imported.summary.rows_before_release, 10);
}

TEST(TruthRecording, OfAnotherRigOrWithoutReleaseIsRefused) {
  const TemporaryFolder folder;
  folder.write("truth.csv", truth_text(80));
  expect_parts(refusal([&] {
                 (void)import_recording(folder.file("truth.csv"),
                                        load_rig(config("rig-furuta.textproto")));
               }),
               {"truth.csv", "never released"});
  expect_parts(refusal([&] {
                 (void)import_recording(folder.file("truth.csv"),
                                        load_rig(config("rig-pendulum.textproto")));
               }),
               {"truth.csv", "2 joints", "rig-pendulum.textproto"});
}

}  // namespace
}  // namespace service
