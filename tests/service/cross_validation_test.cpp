#include "estimator/calibrate/cross_validation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "estimator/calibrate/calibrate.hpp"
#include "proto/calibration.pb.h"
#include "service/recordings/recording_selection.hpp"
#include "service/report/cross_validation_report.hpp"
#include "service/result/validation_message.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/json.hpp"
#include "tests/support/parameters.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;

constexpr double kNoise = 1e-3;         // [rad]
constexpr double kTrueInertia = 0.002;  // [kg·m²] about the centre of mass

/// One swing of the pendulum of configs/rig-pendulum.textproto at 200 Hz, from an independent
/// integration of (J + m l²) θ̈ = −m g l sin θ − b θ̇, with white noise.
estimator::Recording swing(const std::string& name, double start_angle, unsigned seed) {
  constexpr double kMass = 0.428, kLength = 0.092, kGravity = 9.82, kViscous = 5e-4;
  constexpr double kPeriod = 0.005;
  constexpr int kSubsteps = 20, kRows = 601;
  const double inertia = kTrueInertia + kMass * kLength * kLength;
  const auto acceleration = [&](double theta, double omega) {
    return (-kMass * kGravity * kLength * std::sin(theta) - kViscous * omega) / inertia;
  };
  std::mt19937 engine(seed);
  std::normal_distribution<double> noise(0.0, kNoise);
  estimator::Segment segment;
  segment.period = kPeriod;
  segment.angles.resize(kRows, 1);
  segment.controls.resize(kRows, 0);
  double theta = start_angle, omega = 0.0;
  for (int k = 0; k < kRows; ++k) {
    segment.angles(k, 0) = theta + noise(engine);
    const double h = kPeriod / kSubsteps;
    for (int i = 0; i < kSubsteps; ++i) {  // midpoint rule: error O(h²) = 1e-7
      const double theta_half = theta + 0.5 * h * omega;
      const double omega_half = omega + 0.5 * h * acceleration(theta, omega);
      theta += h * omega_half;
      omega += h * acceleration(theta_half, omega_half);
    }
  }
  return {name, {segment}};
}

std::vector<estimator::Recording> three_swings() {
  return {swing("a", 1.0, 1), swing("b", 0.7, 2), swing("c", 1.4, 3)};
}

Rig pendulum() { return load_rig(config("rig-pendulum.textproto")); }

const estimator::CrossValidation& validation_of_swings() {
  static const estimator::CrossValidation kValidation =
      estimator::cross_validate(pendulum().mechanism, three_swings());
  return kValidation;
}

// With fixed parameters only states are estimated: parameters must not change, and a wrong inertia
// must show. Catches an evaluation that fits parameters unnoticed, and problems that need free
// ones.
TEST(CrossValidation, EvaluationFixesParametersAndRevealsWrongOnes) {
  const estimator::Calibration calibration =
      estimator::calibrate(pendulum().mechanism, three_swings());
  const estimator::ParameterEvaluation right =
      estimator::evaluate_parameters(calibration.mechanism, three_swings());
  EXPECT_TRUE(estimator::is_converged(right.termination));
  EXPECT_TRUE(estimator::is_converged(right.simulation_termination));
  ASSERT_EQ(right.simulation.size(), 1U);
  EXPECT_EQ(right.simulation[0].joint, "pivot");
  // The noise is 1 mrad; the rest is the stepper's first-order error at 5 ms.
  EXPECT_GT(right.simulation[0].rmse, 0.9 * kNoise);
  EXPECT_LT(right.simulation[0].rmse, 3.0 * kNoise);
  estimator::Mechanism wrong = calibration.mechanism;
  parameter_of(wrong, "pendulum.J_zz").value *= 1.3;
  const estimator::ParameterEvaluation off = estimator::evaluate_parameters(wrong, three_swings());
  // 30 % of J is 11 % of J + m l²: 5 % of the period, so whole swings after 3 s.
  EXPECT_GT(off.simulation[0].rmse, 50.0 * kNoise);
  EXPECT_GT(off.cost, right.cost);
}

// Matched recordings of one pendulum: held-out ones are predicted about as well as fitted ones, and
// the parameters agree between folds within their standard deviations.
TEST(CrossValidation, PredictsMatchedRecordings) {
  const estimator::CrossValidation& v = validation_of_swings();
  ASSERT_EQ(v.folds.size(), 3U);
  EXPECT_EQ(v.parts, (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_EQ(v.simulation.size(), 1U);
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      EXPECT_GT(v.simulation[0](i, j), 0.9 * kNoise) << i << j;
      EXPECT_LT(v.simulation[0](i, j), 4.0 * kNoise) << i << j;
    }
  }
  const CrossValidationErrors errors = compute_cross_validation_errors(v);
  EXPECT_NEAR(std::pow(errors.simulation[0].rmse, 2),
              v.simulation[0].diagonal().squaredNorm() / 3.0, 1e-15);
}

// The off-diagonal fits are those of the fold's own calibration: with parts of equal length its
// mean square is that of the two entries. Catches exchanged rows and columns.
TEST(CrossValidation, MatrixContainsPredictionErrorsOnTheDiagonal) {
  const estimator::CrossValidation& v = validation_of_swings();
  for (int i = 0; i < 3; ++i) {
    SCOPED_TRACE(i);
    const estimator::CrossValidationFold& fold = v.folds[static_cast<std::size_t>(i)];
    EXPECT_NEAR(v.simulation[0](i, i), fold.evaluation.simulation[0].rmse, 1e-12);
    EXPECT_NEAR(v.observation(i, i), fold.evaluation.observation_rmse, 1e-12);
    double squares = 0.0;
    for (int j = 0; j < 3; ++j) squares += j == i ? 0.0 : std::pow(v.simulation[0](i, j), 2);
    EXPECT_NEAR(std::sqrt(squares / 2.0), fold.calibration.simulation[0].rmse, 1e-12);
  }
}

// The jackknife over n folds, from the folds' own numbers.
TEST(CrossValidation, SpreadIsTheJackknifeDeviationOverTheFolds) {
  const estimator::CrossValidation& v = validation_of_swings();
  ASSERT_EQ(v.parameters.size(), v.folds[0].calibration.parameters.size());
  for (std::size_t p = 0; p < v.parameters.size(); ++p) {
    const auto value = [&](std::size_t f) { return v.folds[f].calibration.parameters[p].value; };
    const double mean = (value(0) + value(1) + value(2)) / 3.0;
    double squares = 0.0;
    for (std::size_t f = 0; f < 3; ++f) squares += (value(f) - mean) * (value(f) - mean);
    EXPECT_NEAR(v.parameters[p].mean, mean, 1e-12 * std::abs(mean));
    EXPECT_NEAR(v.parameters[p].standard_deviation, std::sqrt(2.0 / 3.0 * squares),
                1e-9 * std::abs(mean));
  }
}

TEST(CrossValidation, NeedsTwoPiecesAndStopsOnRequest) {
  EXPECT_THROW(estimator::cross_validate(pendulum().mechanism, {three_swings()[0]}),
               std::invalid_argument);
  const std::atomic<bool> stop{true};
  estimator::CalibrationMonitor monitor;
  monitor.stop = &stop;
  const estimator::CrossValidation v =
      estimator::cross_validate(pendulum().mechanism, three_swings(), {}, monitor);
  EXPECT_TRUE(v.stopped);
  EXPECT_TRUE(v.folds.empty());
}

TEST(CrossValidation, ReadsBackByTheSchemaAndIsPrinted) {
  const estimator::CrossValidation& v = validation_of_swings();
  CalibrationMetadata context;
  context.rig = "test <rig>";
  const auto result =
      from_json<rigcal::v1::CrossValidationResult>(cross_validation_json(v, context));
  ASSERT_EQ(result.folds_size(), 3);
  EXPECT_EQ(result.folds(1).held_out(), "b");
  EXPECT_EQ(result.folds(1).simulation(0).rmse_rad(), v.simulation[0](1, 1));
  EXPECT_EQ(result.simulation_matrices(0).rmse_rad(2).values(0), v.simulation[0](2, 0));
  EXPECT_EQ(result.parameters_size(), static_cast<int>(v.parameters.size()));
  EXPECT_TRUE(result.converged());
  expect_parts(format_cross_validation(v, 0.5),
               {"held out", "open loop pivot", "pendulum.J_zz", "between folds", "Converged"});
  expect_parts(render_cross_validation_page(v, context),
               {"Cross-validation of test &lt;rig&gt;", "held-out", "without 3", "angle [rad]"});
}

// --- parts ------------------------------------------------------------------------------------

estimator::Recording two_segments() {
  estimator::Recording recording{"r", {}};
  for (const int rows : {100, 47}) {
    estimator::Segment segment;
    segment.start = rows;
    segment.period = 0.5;
    segment.angles = Eigen::VectorXd::LinSpaced(rows, 0.0, rows - 1.0);
    segment.controls = 10.0 * segment.angles;
    recording.segments.push_back(segment);
  }
  return recording;
}

std::vector<UsedRecording> uses_of_two_segments() {
  UsedRecording use;
  // Segment 0 was not selected.
  use.segments = {{0, 0, 0, 0}, {1, 100, 149.5, 100}, {2, 47, 70, 47}};
  return {use};
}

// Every sample must be used once and in order, with its own time and control.
TEST(RecordingParts, ContainEverySampleOnce) {
  for (const HeldOutPartOptions& cut : {HeldOutPartOptions{HeldOutPartKind::kSegment, 0, 0.0},
                                        HeldOutPartOptions{HeldOutPartKind::kRecording, 4, 0.0},
                                        HeldOutPartOptions{HeldOutPartKind::kRecording, 0, 10.0}}) {
    const auto parts = cut_into_parts({two_segments()}, uses_of_two_segments(), cut);
    std::size_t source = 0;
    int row = 0;
    for (const estimator::Recording& part : parts) {
      ASSERT_EQ(part.segments.size(), 1U);
      const estimator::Segment& segment = part.segments[0];
      EXPECT_DOUBLE_EQ(segment.start, two_segments().segments[source].start + 0.5 * row);
      for (int k = 0; k < segment.sample_count(); ++k, ++row) {
        EXPECT_EQ(segment.angles(k, 0), row);
        EXPECT_EQ(segment.controls(k, 0), 10.0 * row);
      }
      if (row == two_segments().segments[source].sample_count()) {
        ++source;
        row = 0;
      }
    }
    EXPECT_EQ(source, 2U);
  }
}

TEST(RecordingParts, NameTheirSource) {
  const auto segments =
      cut_into_parts({two_segments()}, uses_of_two_segments(), {HeldOutPartKind::kSegment, 0, 0.0});
  ASSERT_EQ(segments.size(), 2U);
  EXPECT_EQ(segments[0].name, "r segment 1");
  EXPECT_EQ(segments[1].name, "r segment 2");
  const auto halves = cut_into_parts({two_segments()}, uses_of_two_segments(),
                                     {HeldOutPartKind::kRecording, 2, 0.0});
  ASSERT_EQ(halves.size(), 4U);
  EXPECT_EQ(halves[1].name, "r segment 1 125 s to 149.5 s");
}

TEST(RecordingParts, NamesOmitCommonFolders) {
  EXPECT_EQ(remove_common_folders({"/d/a/x.csv 1", "/d/a/x.csv 2"}),
            (std::vector<std::string>{"x.csv 1", "x.csv 2"}));
  EXPECT_EQ(remove_common_folders({"d/a/x.csv", "d/ab/x.csv"}),
            (std::vector<std::string>{"a/x.csv", "ab/x.csv"}));
  EXPECT_EQ(remove_common_folders({"x", "y"}), (std::vector<std::string>{"x", "y"}));
}

TEST(RecordingParts, TooFewOrTooShortAreRefused) {
  estimator::Recording one = two_segments();
  one.segments.pop_back();
  UsedRecording use;
  use.segments = {{0, 0, 0, 100}};
  expect_parts(refusal([&] {
                 (void)cut_into_parts({one}, {use}, {HeldOutPartKind::kSegment, 0, 0.0});
               }),
               {"r: ", "at least two parts", "--parts"});
  expect_parts(refusal([&] {
                 (void)cut_into_parts({one}, {use}, {HeldOutPartKind::kSegment, 30, 0.0});
               }),
               {"r: ", "3 samples", "fewer or longer"});
}

}  // namespace
}  // namespace service
