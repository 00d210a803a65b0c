// The output of `init` must calibrate at once, on data of simulators independent of the estimator.
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <sstream>

#include "estimator/calibrate/calibrate.hpp"
#include "service/messages/message_text.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/evaluation_data.hpp"
#include "tests/support/import_csv.hpp"
#include "tests/support/reference_simulators.hpp"

namespace service {
namespace {

using namespace test_support;

constexpr double kPeriod = 0.005;  // [s]
constexpr int kInitRows = 1200;
constexpr double kNoise = 2e-4;  // [rad or m]
constexpr double kDegree = M_PI / 180.0;

/// A recording with these columns; the caller adds noise.
std::string csv_of(const std::string& header, const std::vector<Eigen::VectorXd>& columns) {
  std::ostringstream text;
  text.precision(9);
  text << header << '\n';
  for (Eigen::Index k = 0; k < columns[0].size(); ++k) {
    text << kPeriod * static_cast<double>(k);
    for (const Eigen::VectorXd& column : columns) text << ',' << column[k];
    text << '\n';
  }
  return text.str();
}

Eigen::VectorXd noisy(Eigen::VectorXd values, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0.0, kNoise);
  for (double& value : values) value += normal(random);
  return values;
}

/// Describes the recording with `rigcal init`, and calibrates with the unchanged file.
estimator::Calibration calibrate_described(const std::string& csv, const std::string& options,
                                           const std::string& gravity = "9.82") {
  const TemporaryFolder folder;
  const std::string run = folder.write("run.csv", csv), rig_path = folder.file("rig.textproto");
  const ProgramRun init = run_successfully("init --gravity " + gravity + " --from " + run +
                                           " --out " + rig_path + " " + options);
  if (init.exit_code != 0) return {};
  const Rig rig = load_rig(rig_path);
  return estimator::calibrate(rig.mechanism, {import_csv(run, *rig.format).recording});
}

/// A wrong sign, unit, zero or length causes errors of tenths. The noise permits hundredths, and
/// four standard deviations are exceeded once in ten thousand.
constexpr double kDeviations = 4.0, kKnown = 0.03;

void expect_estimate(const estimator::Calibration& calibration, const std::string& name,
                     double truth) {
  for (const estimator::ParameterEstimate& estimate : calibration.parameters) {
    if (estimate.name != name) continue;
    EXPECT_NEAR(estimate.value, truth, kDeviations * estimate.standard_deviation) << name;
    EXPECT_LT(estimate.standard_deviation, kKnown * truth) << name;
    return;
  }
  ADD_FAILURE() << name << " is not estimated";
}

void expect_estimates(const estimator::Calibration& calibration,
                      const std::map<std::string, double>& truth) {
  EXPECT_TRUE(calibration.converged());
  for (const auto& [name, value] : truth) {
    expect_estimate(calibration, name, value);
  }
  for (const estimator::OpenLoopError& error : calibration.simulation) {
    EXPECT_LT(error.rmse, 3.0 * kNoise) << error.joint;
  }
}

// The coupler's centre of mass is off the line between its joints, and all four have friction.
TEST(InitCalibration, OfAFourBar) {
  const auto data = find_evaluation_data();
  if (!data) GTEST_SKIP() << "no evaluation data beside the checkout";
  const auto calibration =
      calibrate_described(contents_of(*data / "synthetic_planar" / "fourbar_base__noise.csv"),
                          "--kind four-bar --length 0.1 0.28 0.2 --ground 0.3 "
                          "--mass 0.15 0.25 0.2 --command u0",
                          "9.81");
  EXPECT_TRUE(calibration.converged());
  // The noise is 1 mrad. The data's dry friction creeps, that of `init` does not.
  for (const estimator::OpenLoopError& error : calibration.simulation) {
    EXPECT_LT(error.rmse, 2e-3) << error.joint;
  }
  // The y of the coupler's joints in its own frame are 0.01 and 0 m.
  const auto centre = std::ranges::find(calibration.parameters, std::string("coupler.c_y"),
                                        &estimator::ParameterEstimate::name);
  ASSERT_NE(centre, calibration.parameters.end());
  EXPECT_NEAR(centre->value, -0.005, 5e-4);
}

// Degrees from upright, in a column whose name states neither.
TEST(InitCalibration, OfAPendulumInDegreesFromUpright) {
  ReferencePendulum rig;
  rig.b = 4e-4;
  rig.tau_c = rig.tau_s = 1e-3;
  const Eigen::MatrixXd motion = simulate(rig, {1.3, 0.0}, kPeriod, kInitRows);
  const Eigen::VectorXd angle = (noisy(motion.col(0), 1).array() - M_PI) / kDegree;
  const auto calibration = calibrate_described(csv_of("time,angle", {angle}),
                                               "--kind pendulum --mass 0.428 --center 0.092");
  expect_estimates(calibration, {{"rod.J_zz", rig.J}, {"pivot.tau_c", rig.tau_c}});
}

// A planar swing identifies only the inertia about its axis. Inconsistency with the fixed moments
// about other axes is no fault of the estimate; a negative estimate would be one.
TEST(InitCalibration, UnidentifiableMomentsAreNoFault) {
  const ReferencePendulum pendulum;
  const Eigen::MatrixXd motion = simulate(pendulum, {1.3, 0.0}, kPeriod, kInitRows);
  const TemporaryFolder folder;
  const std::string run = folder.write("run.csv", csv_of("t_s,q", {noisy(motion.col(0), 1)}));
  Rig rig = load_rig(config("rig-synthetic-pendulum.textproto"));
  for (const auto unseen : {estimator::BodyParameter::kJxx, estimator::BodyParameter::kJyy}) {
    rig.mechanism.parameter(0, unseen).value = 1e-4;
  }
  rig.format->time_column = "t_s";
  rig.format->angles[0].column = "q";
  const auto calibration =
      estimator::calibrate(rig.mechanism, {import_csv(run, *rig.format).recording});
  expect_estimate(calibration, "pendulum.J_zz", pendulum.J);
  for (const estimator::Message& note : calibration.notes) {
    EXPECT_NE(note.code, estimator::MessageCode::kUnphysicalEstimate) << format_note(note);
  }
}

// The same motion with relative and with absolute angles, one of them with opposite sign.
TEST(InitCalibration, OfADoublePendulumRelativeAndAbsolute) {
  const ReferenceChain chain;
  const Eigen::MatrixXd motion =
      simulate(chain, Eigen::Vector4d(0.9, 0.3, 0.0, 0.0), kPeriod, kInitRows);
  const Eigen::VectorXd first = motion.col(0), second = motion.col(1);
  const std::string sizes =
      "--kind double-pendulum --length 0.3,0.3 --center 0.15,0.15 --mass 0.2 ";
  const std::map<std::string, double> truth = {
      {"link1.J_zz", chain.J}, {"link2.J_zz", chain.J}, {"link2.m", chain.m}};
  const std::string header = "t_s,q1_rad,q2_rad";
  expect_estimates(
      calibrate_described(csv_of(header, {noisy(first, 1), noisy(second - first, 2)}), sizes),
      truth);
  expect_estimates(calibrate_described(csv_of(header, {noisy(first, 1), noisy(-second, 2)}),
                                       sizes + "--absolute --invert q2_rad"),
                   truth);
}

// Counts, a motor, and the pendulum's column before the arm's.
TEST(InitCalibration, OfAFurutaInCounts) {
  ReferenceFuruta rig{.b_1 = 1e-3, .b_2 = 1e-4, .tau_c1 = 4e-3, .tau_c2 = 1e-3, .K = 0.07};
  Eigen::VectorXd u(kInitRows);
  for (Eigen::Index k = 0; k < u.size(); ++k) {
    u[k] = std::sin(2.0 * kPeriod * static_cast<double>(k)) > 0.3 ? 2.0 : -1.5;
  }
  const Eigen::MatrixXd motion = simulate(rig, {0.0, 0.0, 0.0, 0.0}, u, kPeriod);
  const auto counts = [&](Eigen::Index column) -> Eigen::VectorXd {
    return (motion.col(column).head(kInitRows) * 4096.0 / (2.0 * M_PI)).array().round();
  };
  const auto calibration = calibrate_described(
      csv_of("t_s,pend_count,arm_count,u_V", {counts(1), counts(0), u}),
      "--kind furuta --arm-length 0.376 --arm-mass 0.238 --arm-center 0.128 --center 0.092 "
      "--mass 0.428 --counts 4096");
  EXPECT_TRUE(calibration.converged());
  expect_estimate(calibration, "1.K", rig.K);
  expect_estimate(calibration, "pendulum.J_yy", rig.J_Byy);
  // Only the sum with the pendulum's J_xx is identifiable; `init` sets that to 1 % of a rod's.
  const double thin = 0.01 * rig.m_B * std::pow(2.0 * rig.l_2, 2) / 12.0;
  expect_estimate(calibration, "arm.J_zz", rig.J_Azz + rig.J_Bxx - thin);
  for (const estimator::OpenLoopError& error : calibration.simulation) {
    EXPECT_LT(error.rmse, 2e-3) << error.joint;  // a count is 1.5 mrad
  }
}

/// x, θ and their rates by Lagrange's equations; θ = 0 hangs.
struct CartPole {
  double M = 0.6, m = 0.12, l = 0.2, J = 2e-3, b = 2.0, b_pole = 4e-4, K = 1.5, g = 9.82;

  Eigen::Vector4d rate(const Eigen::Vector4d& y, double u) const {
    const double s = std::sin(y[1]), c = std::cos(y[1]);
    Eigen::Matrix2d mass;
    mass << M + m, m * l * c, m * l * c, J + m * l * l;
    const Eigen::Vector2d force(K * u - b * y[2] + m * l * s * y[3] * y[3],
                                -b_pole * y[3] - m * g * l * s);
    Eigen::Vector4d rate;
    rate << y[2], y[3], mass.inverse() * force;
    return rate;
  }
};

TEST(InitCalibration, OfACartPole) {
  const CartPole rig;
  constexpr int kSteps = 20;  // of Runge-Kutta's method per row: exact to 1e-9
  constexpr double h = kPeriod / kSteps;
  Eigen::VectorXd u(kInitRows), x(kInitRows), angle(kInitRows);
  Eigen::Vector4d y = Eigen::Vector4d::Zero();
  for (Eigen::Index k = 0; k < kInitRows; ++k) {
    const double time = kPeriod * static_cast<double>(k);
    x[k] = y[0];
    angle[k] = y[1];
    u[k] = std::round(3.0 * std::sin(5.0 * time) + 2.0 * std::sin(2.3 * time));
    for (int i = 0; i < kSteps; ++i) {
      const Eigen::Vector4d k1 = rig.rate(y, u[k]), k2 = rig.rate(y + 0.5 * h * k1, u[k]);
      const Eigen::Vector4d k3 = rig.rate(y + 0.5 * h * k2, u[k]), k4 = rig.rate(y + h * k3, u[k]);
      y += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
    }
  }
  const auto calibration =
      calibrate_described(csv_of("t_s,cart_mm,pole_rad,u", {1e3 * noisy(x, 1), noisy(angle, 2), u}),
                          "--kind cart-pole --cart-mass 0.6 --center 0.2");
  expect_estimates(calibration,
                   {{"pole.J_zz", rig.J}, {"pole.m", rig.m}, {"rail.b", rig.b}, {"rail.K", rig.K}});
}

}  // namespace
}  // namespace service
