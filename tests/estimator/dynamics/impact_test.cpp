#include "estimator/dynamics/impact.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>

#include "estimator/math/dual.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

Eigen::MatrixXd random_mass(int n, std::mt19937& random) {
  std::normal_distribution<double> normal;
  const Eigen::MatrixXd A = Eigen::MatrixXd::NullaryExpr(n, n, [&] { return normal(random); });
  return A * A.transpose() + 0.05 * Eigen::MatrixXd::Identity(n, n);
}

double energy(const Eigen::MatrixXd& mass, const Eigen::VectorXd& rates) {
  return 0.5 * rates.dot(mass * rates);
}

// One stop: the joint rebounds at e times its speed, and momentum changes only along it. With the
// sign of [MTM, eq. 17] it would continue.
TEST(Impact, ReversesTheJointWithAnImpulseAlongItOnly) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  for (int trial = 0; trial < 200; ++trial) {
    const int n = 1 + trial % 6, joint = trial % n;
    const Eigen::MatrixXd M = random_mass(n, random);
    const Eigen::MatrixXd before = Eigen::MatrixXd::NullaryExpr(n, 1, [&] { return unit(random); });
    const double e = trial % 5 == 0 ? 0.0 : trial % 5 == 1 ? 1.0 : std::abs(unit(random));
    const Eigen::MatrixXd after = resolve_impact<double>(M, before, {{joint, e}});
    const double rounding = 1e-11 * M.norm();  // condition numbers up to 1e3
    EXPECT_NEAR(after(joint, 0), -e * before(joint, 0), rounding);
    Eigen::VectorXd impulse = M * (after - before);
    EXPECT_LE(impulse[joint] * before(joint, 0), 0.0) << "the stop pulls";
    impulse[joint] = 0.0;
    EXPECT_LT(impulse.norm(), rounding);
    // ½ Λ (1 − e) v⁻ with Λ = −(1 + e) v⁻/(M⁻¹)_jj.
    const double loss =
        0.5 * (1.0 - e * e) * std::pow(before(joint, 0), 2) / M.inverse()(joint, joint);
    EXPECT_NEAR(energy(M, before.col(0)) - energy(M, after.col(0)), loss, rounding);
  }
}

// Some joints rest at their stops when another hits its stop: none penetrates, no impulse pulls,
// and energy never grows, whatever the restitutions.
TEST(Impact, NeverAddsEnergyAndNeverPulls) {
  std::mt19937 random(8);
  std::uniform_real_distribution<double> unit(-1.0, 1.0);
  int left = 0, stayed = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const int n = 2 + trial % 5;
    const Eigen::MatrixXd M = random_mass(n, random);
    Eigen::VectorXd before = Eigen::VectorXd::NullaryExpr(n, [&] { return unit(random); });
    std::vector<JointStop> stops;
    const int at_stops = 1 + trial % n;
    for (int j = 0; j < at_stops; ++j) {
      const double side = unit(random) < 0.0 ? -1.0 : 1.0;
      const double e = trial % 7 == 0 ? 1.0 : trial % 7 == 1 ? 0.0 : std::abs(unit(random));
      stops.push_back({j, side, JointParameter::kStopLower, 0.0, e});
      // The first approaches its stop; others rest, or approach theirs too.
      before[j] = j == 0 || unit(random) > 0.5 ? -side * std::abs(before[j]) : 0.0;
    }
    const std::vector<int> pushing = find_active_stops(M, before, stops);
    std::vector<ImpactedJoint<double>> struck;
    for (const int i : pushing) {
      const JointStop& stop = stops[static_cast<std::size_t>(i)];
      struck.push_back({stop.joint, stop.restitution});
    }
    const Eigen::MatrixXd start = before;
    const Eigen::VectorXd after = resolve_impact<double>(M, start, struck);
    const double rounding = 1e-10 * M.norm();
    EXPECT_LE(energy(M, after), energy(M, before) + rounding);
    const Eigen::VectorXd impulse = M * (after - before);
    for (int j = 0; j < n; ++j) {
      if (j >= at_stops) {
        EXPECT_NEAR(impulse[j], 0.0, rounding);
        continue;
      }
      const JointStop& stop = stops[static_cast<std::size_t>(j)];
      EXPECT_GE(stop.side * impulse[j], -rounding);
      EXPECT_GE(stop.side * (after[j] + stop.restitution * before[j]), -rounding);
      if (before[j] == 0.0) ++(after[j] == 0.0 || std::abs(after[j]) < rounding ? stayed : left);
    }
  }
  EXPECT_GT(left, 300);
  EXPECT_GT(stayed, 300);
}

// The impact law is a template: derivatives by an entry of M, a rate and e.
TEST(Impact, HasTheDerivativesOfItsFormula) {
  std::mt19937 random(4);
  const Eigen::MatrixXd M = random_mass(3, random);
  const Eigen::MatrixXd before = Eigen::Vector3d(-0.7, 0.3, 1.1);
  const auto after = [&](double of_mass, double of_rate, double of_restitution) {
    Eigen::MatrixXd mass = M, rates = before;
    mass(0, 1) = mass(1, 0) += of_mass;
    rates(2, 0) += of_rate;
    return Eigen::VectorXd(
        resolve_impact<double>(mass, rates, {{0, 0.6 + of_restitution}, {2, 0.25}}));
  };
  using DualMatrix = Eigen::Matrix<Dual, Eigen::Dynamic, Eigen::Dynamic>;
  DualMatrix mass = M.cast<Dual>(), rates = before.cast<Dual>();
  const auto along = [](double value, int direction) { return Dual(value, kDualLanes, direction); };
  mass(0, 1) = mass(1, 0) = along(M(0, 1), 0);
  rates(2, 0) = along(before(2, 0), 1);
  const DualMatrix result =
      resolve_impact<Dual>(mass, rates, {{0, along(0.6, 2)}, {2, Dual(0.25)}});
  constexpr double kBy = 1e-6;
  for (int d = 0; d < 3; ++d) {
    const auto at = [&](double by) {
      return after(d == 0 ? by : 0.0, d == 1 ? by : 0.0, d == 2 ? by : 0.0);
    };
    const Eigen::VectorXd slope = (at(kBy) - at(-kBy)) / (2.0 * kBy);
    for (int j = 0; j < 3; ++j) {
      EXPECT_NEAR(result(j, 0).value(), after(0.0, 0.0, 0.0)[j], 1e-12);
      // Truncation (1e-6)² and round-off 1e-16/1e-6.
      EXPECT_NEAR(result(j, 0).derivatives()[d], slope[j], 1e-8);
    }
  }
}

TEST(JointStops, MatchTheMechanism) {
  Mechanism chain = make_chain({.links = 2});
  chain.joints[1].stops.lower = chain.joints[1].stops.upper = true;
  chain.joint_parameter(1, JointParameter::kStopLower).value = -0.4;
  chain.joint_parameter(1, JointParameter::kStopUpper).value = 0.3;
  chain.joint_parameter(1, JointParameter::kRestitution).value = 0.5;
  EXPECT_EQ(chain.joint_parameter(1, JointParameter::kStopUpper).name, "2.stop_upper");
  EXPECT_EQ(chain.joint_parameter(1, JointParameter::kRestitution).name, "2.restitution");
  EXPECT_TRUE(find_mechanism_errors(chain).empty());
  const std::vector<JointStop> stops = joint_end_stops(chain);
  ASSERT_EQ(stops.size(), 2U);
  EXPECT_EQ(stops[0].distance_from_stop(-0.5), -0.5 - -0.4);
  EXPECT_EQ(stops[1].distance_from_stop(0.25), 0.3 - 0.25);
  EXPECT_EQ(stops[1].restitution, 0.5);
  EXPECT_TRUE(are_end_stops_ordered(chain));

  chain.joint_parameter(1, JointParameter::kStopLower).value = 0.3;
  EXPECT_FALSE(are_end_stops_ordered(chain));
  const Message reversed(MessageCode::kReversedStops, {{"parameter", "2.stop_lower"}});
  EXPECT_EQ(find_mechanism_errors(chain), std::vector{reversed});
  chain.joints[1].stops.upper = false;
  EXPECT_TRUE(are_end_stops_ordered(chain)) << "the upper one is none";
  chain.joint_parameter(1, JointParameter::kRestitution).value = 1.01;
  ASSERT_EQ(find_mechanism_errors(chain).size(), 1U);
  EXPECT_EQ(find_mechanism_errors(chain)[0].arguments[0].value, Argument::Value("2.restitution"));
  EXPECT_THROW(require_spook_support(chain), std::invalid_argument);
}

// Loops are refused with the joint's name.
TEST(JointStops, AreRejectedForLoops) {
  Mechanism linkage = make_chain({.links = 3, .closing_point = Eigen::Vector3d(0.35, 0.0, 0.0)});
  EXPECT_TRUE(find_mechanism_errors(linkage).empty());
  linkage.joints[1].stops.upper = true;
  linkage.joint_parameter(1, JointParameter::kStopUpper).value = 3.0;
  const Message refused(MessageCode::kStopsInLoop, {{"joint", "2"}});
  EXPECT_EQ(find_mechanism_errors(linkage), std::vector{refused});
}

}  // namespace
}  // namespace estimator
