#include "estimator/calibrate/state_estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "estimator/calibrate/calibrate.hpp"
#include "tests/estimator/calibrate/sensed_furuta.hpp"
#include "tests/estimator/newton_loads.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

namespace estimator {
namespace {

using namespace test_support;
using test_support::kFine;
using test_support::kFirst;

constexpr int kJoints = 2;

/// Motion and loads of both joints at a sample of a recording, from the simulator.
Eigen::RowVectorXd truth_at(Eigen::Index sample) {
  const ReferenceFuruta rig = viscous_furuta();
  const Eigen::MatrixXd& motion = furuta_motion();
  const Eigen::Index at = (sample + kFirst) * kFines;
  const Eigen::Vector2d angle = motion.row(at).head(2), rate = motion.row(at).tail(2);
  const Eigen::Vector2d acceleration =
      (-3.0 * motion.row(at).tail(2) + 4.0 * motion.row(at + 1).tail(2) -
       motion.row(at + 2).tail(2)) /
      (2.0 * kFine);
  const Mechanism mechanism = sensed_mechanism();
  const auto loads = newton_loads(mechanism, angle, rate, acceleration);
  Eigen::RowVectorXd truth = Eigen::RowVectorXd::Constant(kJoints * kStateQuantities, std::nan(""));
  for (int j = 0; j < kJoints; ++j) {
    const NewtonLoad& load = loads[static_cast<std::size_t>(j)];
    const double friction = -(j == 0 ? rig.b_1 : rig.b_2) * rate[j];
    const double motor = rig.K * furuta_control(sample + kFirst);
    truth[StateEstimate::column_index(j, StateQuantity::kAngle)] = angle[j];
    truth[StateEstimate::column_index(j, StateQuantity::kRate)] = rate[j];
    truth[StateEstimate::column_index(j, StateQuantity::kAcceleration)] = acceleration[j];
    truth[StateEstimate::column_index(j, JointLoad::kTorque)] = friction + (j == 0 ? motor : 0.0);
    if (j == 0) truth[StateEstimate::column_index(j, JointLoad::kMotorTorque)] = motor;
    truth[StateEstimate::column_index(j, JointLoad::kFriction)] = friction;
    truth.segment<3>(StateEstimate::column_index(j, JointLoad::kMomentX)) = load.moment;
    truth.segment<3>(StateEstimate::column_index(j, JointLoad::kForceX)) = load.force;
  }
  return truth;
}

/// Errors in units of their standard deviations.
class Scores {
 public:
  void add(double error, double deviation) {
    squares_ += std::pow(error / deviation, 2);
    covered_ += std::abs(error) < kNormalHalfWidth95 * deviation ? 1.0 : 0.0;
    count_ += 1.0;
  }
  double mean_square() const { return squares_ / count_; }
  double coverage() const { return covered_ / count_; }
  double count() const { return count_; }

 private:
  double squares_ = 0.0, covered_ = 0.0, count_ = 0.0;
};

/// Adds the scores of an estimate at every `stride`-th sample, for all uncertain quantities.
void score(const StateEstimate& found, int first, int stride, std::vector<Scores>& scores) {
  for (Eigen::Index k = first; k < found.values.rows(); k += stride) {
    const Eigen::RowVectorXd truth = truth_at(k);
    for (Eigen::Index i = 0; i < truth.size(); ++i) {
      EXPECT_EQ(std::isnan(truth[i]), std::isnan(found.values(k, i))) << i;
      const double deviation = found.deviations(k, i);
      if (std::isnan(truth[i])) continue;
      // Below: round-off of the reference's differences; known parameters make some torques exact.
      if (deviation > 1e-5) {
        scores[static_cast<std::size_t>(i)].add(found.values(k, i) - truth[i], deviation);
      } else {
        EXPECT_NEAR(found.values(k, i), truth[i], 1e-4) << i;
      }
    }
  }
}

std::vector<Scores> no_scores() { return std::vector<Scores>(kJoints * kStateQuantities); }

/// @param mean_square_tolerance  for each quantity, from the degrees of freedom of the draws
void expect_scores(const std::vector<Scores>& scores, double mean_square_tolerance) {
  double covered = 0.0, count = 0.0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i].count() == 0.0) continue;
    EXPECT_NEAR(scores[i].mean_square(), 1.0, mean_square_tolerance) << "quantity " << i;
    covered += scores[i].coverage() * scores[i].count();
    count += scores[i].count();
  }
  EXPECT_GE(covered / count, 0.93);
  EXPECT_LE(covered / count, 0.97);
}

StateEstimate estimated(const Mechanism& mechanism, const Segment& segment,
                        const StateEstimationOptions& options) {
  const auto all = estimate_states(mechanism, mechanism, {{"imu", {segment}}}, {}, {}, options);
  EXPECT_EQ(all.size(), 1u);
  EXPECT_EQ(all.front().times.size(), static_cast<std::size_t>(segment.sample_count()));
  return all.front();
}

// Motion and loads of both joints, including the one without encoder: errors must match their
// standard deviations. Loads are compared with Newton's and Euler's laws.
TEST(StateEstimate, StandardDeviationsMatchTheErrors) {
  Mechanism mechanism = sensed_mechanism();
  mechanism.held_out = {"2"};
  constexpr int kSeeds = 60;
  std::vector<Scores> scores = no_scores();
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    score(estimated(mechanism, without_second_encoder(sensed_furuta(0.0, seed)), {}), 50, 300,
          scores);
  }
  // Four numbers determine one motion. 60 recordings give each mean square 60 to 240 degrees of
  // freedom, a standard deviation of 0.18 to 0.09.
  expect_scores(scores, 0.6);
}

/// A calibration's values and their covariance.
UncertainParameters spread_of(const Calibration& calibration) {
  UncertainParameters spread;
  for (const ParameterEstimate& each : calibration.parameters) {
    spread.parameters.push_back(calibration.mechanism.find_parameter(each.name));
  }
  spread.covariance = calibration.covariance;
  return spread;
}

/// States with parameters from a recording: the same one, or another.
std::vector<Scores> scores_with_estimated_parameters(int seeds, unsigned other) {
  std::vector<Scores> scores = no_scores();
  for (unsigned seed = 1; seed <= static_cast<unsigned>(seeds); ++seed) {
    Mechanism mechanism = furuta_to_fit({"imu.mount_x", "imu.p_x", "imu.gyro_bias_y"});
    mechanism.held_out = {"2"};
    CalibrationOptions options;
    options.compare_parts = false;  // of a second or two each, too short
    const auto calibration = calibrate(
        mechanism, {{"imu", {without_second_encoder(sensed_furuta(0.0, seed))}}}, options);
    EXPECT_TRUE(calibration.converged());
    Mechanism values = calibration.mechanism;
    values.held_out = {"2"};
    const Segment segment = without_second_encoder(sensed_furuta(0.0, seed + other));
    StateEstimationOptions wanted;
    wanted.spread = spread_of(calibration);
    score(estimated(values, segment, wanted), 50, 300, scores);
  }
  return scores;
}

// Parameters from another recording have errors independent of the readings.
TEST(StateEstimate, StandardDeviationsIncludeParameterUncertainty) {
  expect_scores(scores_with_estimated_parameters(40, 1000), 0.9);
}

// Parameters from the recording itself have errors that correlate with those of its readings.
TEST(StateEstimate, StandardDeviationsMatchTheErrorsWithParametersOfTheSameRecording) {
  expect_scores(scores_with_estimated_parameters(40, 0), 0.9);
}

// A filter's errors match its standard deviations, and later readings do not affect it. Those with
// a lag lie between the filter's and the smoother's.
TEST(StateEstimate, IsCausalOnRequest) {
  Mechanism mechanism = sensed_mechanism();
  mechanism.held_out = {"2"};
  StateEstimationOptions filtered{.readings = ReadingSelection::kLagged}, lagged = filtered;
  lagged.lag = 0.1;
  std::vector<Scores> scores = no_scores(), lagged_scores = no_scores();
  for (unsigned seed = 1; seed <= 24; ++seed) {
    const Segment segment = without_second_encoder(sensed_furuta(0.0, seed));
    score(estimated(mechanism, segment, filtered), 300, 300, scores);
    score(estimated(mechanism, segment, lagged), 300, 300, lagged_scores);
  }
  expect_scores(scores, 0.9);
  expect_scores(lagged_scores, 0.9);
  const Segment segment = without_second_encoder(sensed_furuta(0.0, 1));
  Segment changed = segment;
  constexpr int kFrom = 1000;
  const Segment other = without_second_encoder(sensed_furuta(0.0, 2));
  changed.angles.bottomRows(changed.sample_count() - kFrom) =
      other.angles.bottomRows(changed.sample_count() - kFrom);
  changed.inertial.bottomRows(changed.sample_count() - kFrom) =
      other.inertial.bottomRows(changed.sample_count() - kFrom);
  const Eigen::Index angle = StateEstimate::column_index(1, StateQuantity::kAngle);
  constexpr int kBefore = kFrom - 100;
  const auto change = [&](const StateEstimationOptions& options) {
    const StateEstimate before = estimated(mechanism, segment, options);
    const StateEstimate after = estimated(mechanism, changed, options);
    return std::abs(before.values(kBefore, angle) - after.values(kBefore, angle)) /
           before.deviations(kBefore, angle);
  };
  // Noise levels come from the whole recording, so later readings have a small effect.
  EXPECT_LT(change(filtered), 0.02);
  EXPECT_LT(change(lagged), 0.02);
  EXPECT_GT(change({}), 0.1);
  const auto deviation = [&](const StateEstimationOptions& options) {
    return estimated(mechanism, segment, options).deviations(kBefore, angle);
  };
  EXPECT_LT(deviation({}), deviation(lagged));
  EXPECT_LT(deviation(lagged), deviation(filtered));
}

}  // namespace
}  // namespace estimator
