#include "estimator/assessment/model_test/verdict.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "service/messages/message_text.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

constexpr double kNoise = 1e-3;   // [rad]
constexpr double kSwing = 1.0;    // [rad]
constexpr double kPeriod = 1e-2;  // [s]
constexpr int kSamples = 3000;

/// A refined, converged calibration of a swing read with noise. Its simulation is off by a slow
/// wave with amplitude `error`.
Calibration swing(double error) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal(0.0, kNoise);
  Calibration calibration;
  calibration.kind = EstimateKind::kPhysical;
  calibration.refined = true;
  calibration.termination = calibration.refinement_termination = Termination::kCostTolerance;
  calibration.mechanism = make_pendulum({});
  calibration.acceleration_noise = Eigen::VectorXd::Zero(1);
  SegmentTrajectory& trajectory = calibration.trajectories.emplace_back();
  trajectory.step = kPeriod;
  trajectory.measured.resize(kSamples, 1);
  trajectory.simulated.resize(kSamples, 1);
  double squares = 0.0;
  for (int k = 0; k < kSamples; ++k) {
    const double truth = kSwing * std::sin(3.0 * k * kPeriod);
    trajectory.measured(k, 0) = truth + normal(random);
    trajectory.simulated(k, 0) = truth + error * std::sin(1.7 * k * kPeriod);
    squares += std::pow(trajectory.simulated(k, 0) - trajectory.measured(k, 0), 2);
  }
  trajectory.estimated = trajectory.simulated;
  calibration.simulation = {
      {calibration.mechanism.joints[0].name, std::sqrt(squares / kSamples), JointKind::kRevolute}};
  calibration.agreement = {12.0, 14.0, 0.6};
  return calibration;
}

VerdictKind kind_of(const Calibration& calibration) { return judge_model(calibration).kind; }

std::string text_of_verdict(const Calibration& calibration) {
  return service::format_verdict(judge_model(calibration));
}

bool says(const Calibration& calibration, const std::string& part) {
  return text_of_verdict(calibration).find(part) != std::string::npos;
}

TEST(Verdict, AcceptsResidualsAtNoiseLevel) {
  EXPECT_EQ(kind_of(swing(0.0)), VerdictKind::kAccepted);
  EXPECT_TRUE(says(swing(0.0), "the segments agree (Cochran's Q = 12, 14 degrees of freedom)"))
      << text_of_verdict(swing(0.0));
}

// A contradicted description is not accepted even if residuals are at the noise level and all parts
// agree.
TEST(Verdict, ReportsAContradictedDescription) {
  Calibration calibration = swing(0.0);
  calibration.contradictions = {
      {.name = "2.a_x", .unit = "m", .kept = 0.05474, .value = 0.05, .standard_deviation = 0.001}};
  EXPECT_EQ(kind_of(calibration), VerdictKind::kApproximate);
  EXPECT_TRUE(says(calibration, "the model fits to the noise of the readings, but not exactly: "));
  EXPECT_TRUE(says(calibration,
                   "the recordings contradict the rig file (2.a_x is fixed at 0.05474 m, but the "
                   "readings fit 0.0500 ± 0.0010 m)"))
      << text_of_verdict(calibration);
}

// The rms of a wave is its amplitude over √2, plus the noise: a wave of 2 √2 σ gives √5 σ in all,
// one of 10 √2 σ ten times the noise and more. Being slow, either belongs to the model.
TEST(Verdict, ComparesResidualsWithTheNoise) {
  const Calibration slow = swing(2.0 * std::sqrt(2.0) * kNoise);
  EXPECT_EQ(kind_of(slow), VerdictKind::kApproximate);
  // The standard deviation of the motion is kSwing/√2.
  EXPECT_TRUE(
      says(slow,
           "the model fits to 0.31 % of the motion over 30 s, but not exactly: residuals are "
           "2.2 times the sensor noise"))
      << text_of_verdict(slow);
  const Calibration wrong = swing(10.0 * std::sqrt(2.0) * kNoise);
  EXPECT_EQ(kind_of(wrong), VerdictKind::kApproximate);
  EXPECT_TRUE(says(wrong, "residuals are 10.0 times the sensor noise") ||
              says(wrong, "residuals are 10 times the sensor noise"))
      << text_of_verdict(wrong);
}

// White residuals above the noise level may come from a sensor.
TEST(Verdict, DoubtsWhiteResiduals) {
  Calibration calibration = swing(0.0);
  std::mt19937 random(8);
  std::normal_distribution<double> normal(0.0, 2.0 * kNoise);
  SegmentTrajectory& trajectory = calibration.trajectories.front();
  for (double& angle : trajectory.simulated.reshaped()) angle += normal(random);
  calibration.simulation.front().rmse =
      std::sqrt((trajectory.simulated - trajectory.measured).squaredNorm() / kSamples);
  EXPECT_EQ(kind_of(calibration), VerdictKind::kDoubtful) << text_of_verdict(calibration);
}

// A slow wave smaller than the noise is doubtful. Together with parts that disagree, the model is
// rejected.
TEST(Verdict, ReportsCorrelatedResiduals) {
  Calibration calibration = swing(0.5 * kNoise);
  EXPECT_EQ(kind_of(calibration), VerdictKind::kDoubtful);
  EXPECT_TRUE(says(calibration, "correlated")) << text_of_verdict(calibration);
  calibration.agreement = {95.0, 60.0, 2.7e-3};
  EXPECT_EQ(kind_of(calibration), VerdictKind::kApproximate);
  calibration.agreement = {70.0, 60.0, 0.18};
  EXPECT_EQ(kind_of(calibration), VerdictKind::kDoubtful);
}

// Quantization errors are correlated while a joint moves slowly, although the model is right.
TEST(Verdict, AcceptsQuantizationErrors) {
  Calibration calibration = swing(0.0);
  constexpr double kCoarse = 2.0 * M_PI / 512.0;
  SegmentTrajectory& trajectory = calibration.trajectories.front();
  double squares = 0.0;
  for (int k = 0; k < kSamples; ++k) {
    double& reading = trajectory.measured(k, 0);
    reading = kCoarse * std::round(trajectory.simulated(k, 0) / kCoarse);
    squares += std::pow(reading - trajectory.simulated(k, 0), 2);
  }
  calibration.simulation.front().rmse = std::sqrt(squares / kSamples);
  EXPECT_EQ(kind_of(calibration), VerdictKind::kAccepted) << text_of_verdict(calibration);
}

TEST(Verdict, ReportsDisagreeingPartsOfTheRecordings) {
  Calibration calibration = swing(0.0);
  calibration.agreement = {412.0, 60.0, 1e-50};
  EXPECT_EQ(kind_of(calibration), VerdictKind::kApproximate);
  EXPECT_TRUE(says(calibration, "the segments disagree (Cochran's Q = 412, 60 degrees of freedom)"))
      << text_of_verdict(calibration);
  calibration.agreement = {95.0, 60.0, 2.7e-3};
  EXPECT_EQ(kind_of(calibration), VerdictKind::kDoubtful);
  calibration.agreement = {70.0, 60.0, 0.18};
  EXPECT_EQ(kind_of(calibration), VerdictKind::kAccepted);
}

// A model with noisy controls is judged by predicted torques and motions, not by the simulation,
// which cannot follow the motion. The limits are 1.5 and 3 times the expected error.
TEST(Verdict, JudgesNoisyControlsByPredictions) {
  const auto predicted = [](double torque, double motion) {
    Calibration calibration = swing(0.0);
    calibration.refined = false;
    calibration.simulation.front().rmse = 2.0 * kSwing;
    calibration.torque_predictions = {{"1", JointKind::kRevolute, 0.01, 0.01, 2.0},
                                      {"2", JointKind::kRevolute, torque * 0.01, 0.01, 2.0}};
    calibration.motion_predictions = {{"1", JointKind::kRevolute, 0.05, 1e-4, 1e-4},
                                      {"1", JointKind::kRevolute, 1.0, motion * 1e-3, 1e-3}};
    return calibration;
  };
  EXPECT_EQ(kind_of(predicted(1.49, 1.49)), VerdictKind::kAccepted);
  EXPECT_TRUE(says(predicted(1.4, 1.0), "torques are predicted to 0.7 %"))
      << text_of_verdict(predicted(1.4, 1.0));
  EXPECT_EQ(kind_of(predicted(1.51, 1.0)), VerdictKind::kDoubtful);
  EXPECT_EQ(kind_of(predicted(1.0, 1.51)), VerdictKind::kDoubtful);
  EXPECT_EQ(kind_of(predicted(3.01, 1.0)), VerdictKind::kApproximate);
  EXPECT_TRUE(says(predicted(3.01, 1.0), "the model fits to 1.5 % of a torque, but not exactly"))
      << text_of_verdict(predicted(3.01, 1.0));
  EXPECT_EQ(kind_of(predicted(1.0, 3.01)), VerdictKind::kApproximate);
  EXPECT_EQ(kind_of(predicted(9.9, 1.0)), VerdictKind::kApproximate);  // 4.95 % of the torque
  EXPECT_EQ(kind_of(predicted(10.1, 1.0)), VerdictKind::kRejected);
  // Without torques, or if they are at the noise, the share of the motion 1 s ahead decides.
  for (const auto& [share, kind] :
       {std::pair(0.049, VerdictKind::kApproximate), std::pair(0.051, VerdictKind::kRejected)}) {
    Calibration loop = predicted(1.0, share * kSwing / std::sqrt(2.0) / 1e-3);
    EXPECT_EQ(kind_of(loop), kind) << text_of_verdict(loop);
    loop.torque_predictions.clear();
    EXPECT_EQ(kind_of(loop), kind) << text_of_verdict(loop);
  }
  EXPECT_TRUE(says(predicted(1.0, 3.2),
                   "the model fits to 0.45 % of the motion 1 s ahead, but not exactly: motions are "
                   "predicted 1 s ahead with an error of 0.0032 rad, 3.2 times"))
      << text_of_verdict(predicted(1.0, 3.2));
  EXPECT_EQ(kind_of(predicted(68.0, 1.0)), VerdictKind::kNoFit);  // 34 % of the torque
  EXPECT_EQ(kind_of(predicted(std::nan(""), 1.0)), VerdictKind::kNoFit);
  EXPECT_EQ(kind_of(predicted(1.0, std::nan(""))), VerdictKind::kRejected);

  Calibration disagreeing = predicted(1.0, 1.0);
  disagreeing.agreement = {412.0, 60.0, 1e-50};
  EXPECT_EQ(kind_of(disagreeing), VerdictKind::kDoubtful);
  disagreeing = predicted(2.0, 1.0);
  disagreeing.agreement = {412.0, 60.0, 1e-50};
  EXPECT_EQ(kind_of(disagreeing), VerdictKind::kApproximate);
}

// A model whose errors exceed the noise fits approximately up to 5 % of the motion of its worst
// encoder, and is rejected beyond.
TEST(Verdict, IsApproximateForErrorsThatAreSmallRelativeToTheMotion) {
  EXPECT_EQ(kind_of(swing(0.049 * kSwing)), VerdictKind::kApproximate);
  EXPECT_EQ(kind_of(swing(0.051 * kSwing)), VerdictKind::kRejected);
  EXPECT_TRUE(says(swing(0.1 * kSwing),
                   "the model is rejected, with an error of 9.9 % of the motion over 30 s: "))
      << text_of_verdict(swing(0.1 * kSwing));
  Calibration two = swing(0.01 * kSwing);
  SegmentTrajectory& trajectory = two.trajectories.front();
  for (Eigen::MatrixXd* matrix :
       {&trajectory.measured, &trajectory.simulated, &trajectory.estimated}) {
    matrix->conservativeResize(Eigen::NoChange, 2);
    matrix->col(1) = matrix->col(0);
  }
  two.simulation.push_back({"second", 0.06 * kSwing / std::sqrt(2.0), JointKind::kRevolute});
  EXPECT_EQ(kind_of(two), VerdictKind::kRejected) << text_of_verdict(two);
  EXPECT_NEAR(judge_model(two).error.share, 0.06, 1e-3);
  // The encoder of a joint that moves less than its noise does not count.
  two.simulation.back().rmse = 1.2 * kNoise;
  trajectory.measured.col(1) -= trajectory.simulated.col(1);
  trajectory.simulated.col(1).setZero();
  EXPECT_EQ(kind_of(two), VerdictKind::kApproximate) << text_of_verdict(two);
  EXPECT_NEAR(judge_model(two).error.share, 0.01, 1e-3);
}

// Residuals above a third of the motion mean "no fit", even if the solver has converged.
TEST(Verdict, IsNoFitBeyondAThirdOfTheMotion) {
  const double third = kSwing / 3.0;  // both as amplitudes
  Calibration below = swing(0.95 * third), above = swing(1.05 * third);
  EXPECT_EQ(kind_of(below), VerdictKind::kRejected);
  EXPECT_EQ(kind_of(above), VerdictKind::kNoFit);
  EXPECT_TRUE(says(above, "35 % of the motion")) << text_of_verdict(above);
  above.verdict = judge_model(above);
  EXPECT_FALSE(above.converged());
  below.verdict = judge_model(below);
  EXPECT_TRUE(below.converged());
}

// If the simulation diverges, none of its errors can be compared.
TEST(Verdict, IsNoFitIfTheSimulationFails) {
  for (const double broken : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    Calibration calibration = swing(0.0);
    calibration.refined = false;
    calibration.termination = Termination::kMaxIterations;
    calibration.simulation.front().rmse = broken;
    EXPECT_EQ(kind_of(calibration), VerdictKind::kNoFit) << broken;
  }
}

// A motion shorter than the horizon has no acceleration to compare with: doubtful, not rejected.
TEST(Verdict, IsDoubtfulForAShortMotion) {
  Calibration calibration = swing(0.0);
  calibration.refined = false;
  calibration.acceleration_noise[0] = 1e-3;
  SegmentTrajectory& trajectory = calibration.trajectories.front();
  trajectory.measured.conservativeResize(30, 1);
  trajectory.simulated.conservativeResize(30, 1);
  trajectory.estimated = trajectory.simulated;
  EXPECT_EQ(kind_of(calibration), VerdictKind::kRejected) << text_of_verdict(calibration);
}

// A joint at rest that shows only noise is not unexplained motion.
TEST(Verdict, IgnoresJointsAtRest) {
  Calibration calibration = swing(0.0);
  SegmentTrajectory& trajectory = calibration.trajectories.front();
  trajectory.measured -= trajectory.simulated;
  trajectory.simulated.setZero();
  EXPECT_EQ(kind_of(calibration), VerdictKind::kAccepted) << text_of_verdict(calibration);
}

// Through the upright a simulation diverges, however good the model, so states and parameters
// decide: with all accelerations explained, with a part of them, with almost none. A swing of 1 rad
// at 3 rad/s has an rms acceleration of 9/√2 rad/s², of which averaging over 0.2 s leaves (2
// sin(0.3)/0.6)²; a noise of σ leaves σ/√0.2.
TEST(Verdict, AcceptsExplainedButUnpredictableMotion) {
  Calibration calibration = swing(0.0);
  calibration.refined = false;
  calibration.trajectories.front().simulated.array() += 3.0;
  calibration.simulation.front().rmse = 3.0;
  EXPECT_EQ(kind_of(calibration), VerdictKind::kAccepted) << text_of_verdict(calibration);
  const double seen = 9.0 / std::sqrt(2.0) * std::pow(2.0 * std::sin(0.3) / 0.6, 2);
  const double third = seen / 3.0 * std::sqrt(0.2);
  calibration.acceleration_noise[0] = 0.95 * third;
  EXPECT_EQ(kind_of(calibration), VerdictKind::kRejected);
  EXPECT_TRUE(says(calibration, "some accelerations are unexplained"));
  calibration.acceleration_noise[0] = 1.05 * third;
  EXPECT_EQ(kind_of(calibration), VerdictKind::kNoFit);
  // 1e-4 is within the standard deviations: no more than a hint.
  calibration.acceleration_noise[0] = 3.0 * third * 0.95e-4;
  EXPECT_EQ(kind_of(calibration), VerdictKind::kDoubtful);
  EXPECT_TRUE(says(calibration, "a small part of the accelerations is unexplained"));
  calibration.acceleration_noise[0] = 3.0 * third * 1.05e-4;
  EXPECT_EQ(kind_of(calibration), VerdictKind::kApproximate);
  calibration.acceleration_noise[0] = 3.0 * third * 0.049;
  EXPECT_TRUE(says(calibration, "the model fits to 4.9 % of the accelerations, but not exactly"))
      << text_of_verdict(calibration);
  calibration.acceleration_noise[0] = 3.0 * third * 0.051;
  EXPECT_EQ(kind_of(calibration), VerdictKind::kRejected);
  calibration.mechanism.joints[0].name = "one that nobody reads";
  calibration.acceleration_noise[0] = 3.0 * third * 0.95e-4;
  EXPECT_EQ(kind_of(calibration), VerdictKind::kRejected);
  calibration.mechanism.joints[0].name = calibration.simulation.front().joint;
  calibration.acceleration_noise[0] = 0.0;
  calibration.termination = Termination::kMaxIterations;
  EXPECT_EQ(kind_of(calibration), VerdictKind::kNoFit);
}

// The same swing read at irregular times, a third of the rows dense and the rest far apart.
// Accelerations must be those of the motion at the times of the readings.
TEST(Verdict, UsesSampleTimesForAccelerations) {
  Calibration calibration = swing(0.0);
  calibration.refined = false;
  calibration.simulation.front().rmse = 3.0;
  SegmentTrajectory& trajectory = calibration.trajectories.front();
  double time = 0.0;
  for (int k = 0; k < kSamples; ++k) {
    trajectory.times.push_back(time);
    trajectory.measured(k, 0) = kSwing * std::sin(3.0 * time);
    time += (k % 600 < 200 ? 0.1 : 1.45) * kPeriod;
  }
  trajectory.step = trajectory.times.back() / (kSamples - 1);
  trajectory.estimated = trajectory.simulated = trajectory.measured;
  const double third = 3.0 / std::sqrt(2.0) * std::sqrt(0.2);  // of 9/√2 rad/s²
  calibration.acceleration_noise[0] = 0.85 * third;
  EXPECT_EQ(kind_of(calibration), VerdictKind::kRejected);
  calibration.acceleration_noise[0] = 1.15 * third;
  EXPECT_EQ(kind_of(calibration), VerdictKind::kNoFit);
}

TEST(Verdict, HasANameForEachKind) {
  EXPECT_EQ(to_string(VerdictKind::kAccepted), "accepted");
  EXPECT_EQ(to_string(VerdictKind::kDoubtful), "doubtful");
  EXPECT_EQ(to_string(VerdictKind::kApproximate), "approximate");
  EXPECT_EQ(to_string(VerdictKind::kRejected), "rejected");
  EXPECT_EQ(to_string(VerdictKind::kNoFit), "no-fit");
}

}  // namespace
}  // namespace estimator
