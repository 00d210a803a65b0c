#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "estimator/calibrate/calibrate.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/stopped_motion.hpp"

// Rigs that hit end stops, estimated from data of simulators in minimal coordinates.

namespace estimator {
namespace {

using namespace test_support;

/// Encoding of angles: noise with a standard deviation, then quantization; 0: none.
struct Encoding {
  double noise = 0.0, count = 0.0;
};

Recording recorded(StoppedMotion rig, const Eigen::Vector2d& angles, const Eigen::Vector2d& rates,
                   int joints, double duration, double period, const Encoding& encoding,
                   unsigned seed) {
  rig.q = angles;
  rig.v = rates;
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Segment segment;
  segment.period = period;
  segment.angles =
      rig.sample(period, static_cast<int>(std::lround(duration / period))).leftCols(joints);
  segment.controls.resize(segment.angles.rows(), 0);
  for (double& reading : segment.angles.reshaped()) {
    if (encoding.noise > 0.0) reading += encoding.noise * normal(random);
    if (encoding.count > 0.0) reading = encoding.count * std::round(reading / encoding.count);
  }
  return {"run " + std::to_string(seed), {segment}};
}

/// Frees parameters with given start values.
Mechanism started(Mechanism mechanism, const std::map<std::string, double>& starts) {
  for (const auto& [name, start] : starts) {
    auto& parameter = parameter_of(mechanism, name);
    parameter.value = start;
    parameter.free = true;
  }
  return mechanism;
}

/// Errors of the estimates in units of their standard deviations, over many draws.
struct Coverage {
  std::map<std::string, double> truth;
  int beyond_three = 0, within_two = 0, count = 0, unconverged = 0;

  void add(const Calibration& result) {
    if (!result.converged() || !result.refined) ++unconverged;
    for (const ParameterEstimate& estimate : result.parameters) {
      const double z = (estimate.value - truth.at(estimate.name)) / estimate.standard_deviation;
      if (!(std::abs(z) < 3.0)) {
        ++beyond_three;
        ADD_FAILURE() << estimate.name << " " << estimate.value << " ± "
                      << estimate.standard_deviation << " for " << truth.at(estimate.name);
      }
      within_two += std::abs(z) < 1.96 ? 1 : 0;
      ++count;
    }
  }

  /// One of 370 estimates lies beyond three standard deviations. Misses of 95 % intervals are
  /// limited by four binomial standard deviations, exceeded by chance once in a thousand times.
  void expect() const {
    EXPECT_EQ(unconverged, 0);
    const double mean = 0.95 * count, deviation = std::sqrt(0.95 * 0.05 * count);
    EXPECT_GE(within_two, mean - 4.0 * deviation) << "of " << count;
    ::testing::Test::RecordProperty("within_95_percent_intervals", within_two);
    ::testing::Test::RecordProperty("estimates", count);
    std::cout << within_two << " of " << count << " estimates within their 95 % intervals\n";
  }
};

/// A pendulum shaped like make_pendulum that hits a stop past the bottom, from a release and from a
/// push, as two recordings.
constexpr double kJ = 3.96e-3, kArm = 0.428 * 0.092, kInertia = kJ + 0.428 * 0.092 * 0.092;
struct StruckPendulum {
  double side = 1.0, position = -0.15, restitution = 0.6, b = 3e-4;

  Mechanism mechanism() const {
    Mechanism pendulum = make_pendulum();
    place_stop(pendulum, 0, side, position, restitution);
    pendulum.joint_parameter(0, JointParameter::kViscous).value = b;
    return pendulum;
  }
  std::vector<Recording> record(const Encoding& encoding, unsigned seed) const {
    StoppedMotion rig = stopped_pendulum(kInertia, kArm, b);
    rig.stops = {{0, side, position, restitution}};
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    const Eigen::Vector2d angle(side * (0.8 + 0.6 * unit(random)), 0.0);
    const Eigen::Vector2d pushed(side * 0.2, 0.0), speed(side * (3.0 + 2.0 * unit(random)), 0.0);
    return {recorded(rig, angle, {0.0, 0.0}, 1, 4.0, 2e-3, encoding, 2 * seed),
            recorded(rig, pushed, speed, 1, 4.0, 2e-3, encoding, 2 * seed + 1)};
  }
};

constexpr double kPendulumNoise = 5e-4, kPendulumCount = 2.0 * M_PI / 4096.0;

// A swing against a stop on either side, whose position is known or not, over draws of the motion's
// start. A wrong law, derivative or impact time puts estimates many standard deviations off.
TEST(StopCalibration, IntervalsCoverTheTruthForAPendulum) {
  for (const bool counted : {false, true}) {
    for (const bool known : {true, false}) {
      SCOPED_TRACE(::testing::Message()
                   << (counted ? "counts" : "noise") << (known ? ", stop known" : ""));
      const Encoding encoding =
          counted ? Encoding{0.0, kPendulumCount} : Encoding{kPendulumNoise, 0.0};
      const double side = known ? 1.0 : -1.0;
      const StruckPendulum rig{.side = side, .position = -side * 0.15};
      const std::string stop = side > 0.0 ? "1.stop_lower" : "1.stop_upper";
      std::map<std::string, double> starts = {
          {"P.J_zz", 1.2 * kJ}, {"1.b", 1e-4}, {"1.restitution", 0.4}};
      if (!known) starts[stop] = rig.position + 0.03;
      Coverage coverage{.truth = {{"P.J_zz", kJ},
                                  {"1.b", rig.b},
                                  {"1.restitution", rig.restitution},
                                  {stop, rig.position}}};
      for (unsigned seed = 1; seed <= 10; ++seed) {
        SCOPED_TRACE(seed);
        coverage.add(calibrate(started(rig.mechanism(), starts), rig.record(encoding, seed)));
      }
      coverage.expect();
    }
  }
}

// A knee between two stops: thigh and shank share every impulse.
TEST(StopCalibration, IntervalsCoverTheTruthForADoublePendulum) {
  constexpr double kMass = 0.2, kLength = 0.3, kOwn = 1.5e-3;
  Mechanism chain = make_chain({.links = 2});
  for (int j = 0; j < 2; ++j) chain.joint_parameter(j, JointParameter::kViscous).value = 1e-3;
  place_stop(chain, 1, 1.0, -0.3, 0.4);
  place_stop(chain, 1, -1.0, 0.4, 0.4);
  Coverage coverage{.truth = {{"L1.J_zz", kOwn},
                              {"L2.J_zz", kOwn},
                              {"1.b", 1e-3},
                              {"2.restitution", 0.4},
                              {"2.stop_lower", -0.3},
                              {"2.stop_upper", 0.4}}};
  for (unsigned seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    StoppedMotion rig = stopped_double_pendulum(kMass, kLength, kOwn, {1e-3, 1e-3});
    rig.stops = {{1, 1.0, -0.3, 0.4}, {1, -1.0, 0.4, 0.4}};
    coverage.add(calibrate(
        started(chain, {{"L1.J_zz", 1.2 * kOwn},
                        {"L2.J_zz", 0.8 * kOwn},
                        {"1.b", 5e-4},
                        {"2.restitution", 0.6},
                        {"2.stop_lower", -0.28},
                        {"2.stop_upper", 0.42}}),
        {recorded(rig, {0.9 + 0.1 * seed, -0.1}, {0.0, 0.0}, 2, 3.0, 2e-3, {5e-4, 0.0}, seed)}));
  }
  coverage.expect();
}

// A carriage on a spring against its buffer, at a measured position.
TEST(StopCalibration, IntervalsCoverTheTruthForACarriageAtItsBuffer) {
  Mechanism cart = make_pendulum({.mass = 0.5, .distance = 0.0});
  cart.joints[0].kind = JointKind::kPrismatic;
  make_parameters(cart);
  cart.parameter(0, BodyParameter::kMass).value = 0.5;
  cart.joint_parameter(0, JointParameter::kRestAngle).value = 0.05;
  place_stop(cart, 0, -1.0, 0.1, 0.5);
  Coverage coverage{.truth = {{"1.k_s", 8.0}, {"1.b", 0.05}, {"1.restitution", 0.5}}};
  for (unsigned seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE(seed);
    StoppedMotion rig;
    rig.mass = [](const Eigen::Vector2d&) -> Eigen::Matrix2d {
      return Eigen::Vector2d(0.5, 1.0).asDiagonal();
    };
    rig.force = [](const Eigen::Vector2d& q, const Eigen::Vector2d& v) {
      return Eigen::Vector2d(-8.0 * (q[0] - 0.05) - 0.05 * v[0], 0.0);
    };
    rig.stops = {{0, -1.0, 0.1, 0.5}};
    coverage.add(
        calibrate(started(cart, {{"1.k_s", 10.0}, {"1.b", 0.02}, {"1.restitution", 0.8}}),
                  {recorded(rig, {-0.3 - 0.02 * seed, 0.0}, {0.0, 0.0}, 1, 5.0, 2e-3,
                            {seed % 2 == 0 ? 1e-4 : 0.0, seed % 2 == 0 ? 0.0 : 2e-4}, seed)}));
  }
  coverage.expect();
}

// Restitution of zero or one: estimates end at the bound, from within.
TEST(StopCalibration, EstimatesRestitutionAtItsBounds) {
  for (const double restitution : {0.0, 1.0}) {
    SCOPED_TRACE(restitution);
    const StruckPendulum rig{.restitution = restitution};
    const Calibration result =
        calibrate(started(rig.mechanism(), {{"1.b", 1e-4}, {"1.restitution", 0.5}}),
                  rig.record({kPendulumNoise, 0.0}, 1));
    EXPECT_TRUE(result.converged());
    EXPECT_NEAR(result.mechanism.joint_parameter(0, JointParameter::kRestitution).value,
                restitution, 5e-3);
  }
}

}  // namespace
}  // namespace estimator
