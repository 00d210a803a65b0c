#include "estimator/diagnostics/repair/suspected_jump.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/estimator/diagnostics/made_up_motion.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

namespace estimator {
namespace {

using namespace test_support;

constexpr double kSidesPeriod = 4e-3;  // [s]
constexpr int kSidesRows = 1000;
constexpr double kSidesNoise = 1e-4;  // [rad]

/// A swing whose encoder slips by `slip` at a row.
Recording slipping(const ReferencePendulum& rig, const std::string& name, int row, double slip) {
  Eigen::VectorXd angles =
      as_read(test_support::simulate(rig, {1.5, 0.0}, kSidesPeriod, kSidesRows).col(0), kSidesNoise,
              0.0, 3);
  angles.tail(angles.size() - row).array() += slip;
  return {name, {segment_of(angles, 1.0 / kSidesPeriod)}};
}

Mechanism described_swing(const ReferencePendulum& rig) {
  return freed(pendulum_of(rig), {"P.J_zz", "1.b"});
}

// A model that fits one side of the slip is enough, wherever it lies, also with other recordings.
TEST(SingleJumpPlausibility, AcceptsAModelThatFitsOneSide) {
  const ReferencePendulum rig{.b = 1e-3};
  const Mechanism mechanism = described_swing(rig);
  for (const int row : {kSidesRows / 5, 4 * kSidesRows / 5}) {
    for (const double slip : {0.02, -0.02}) {
      EXPECT_TRUE(is_single_jump_plausible(mechanism, {slipping(rig, "slips", row, slip)}, {}))
          << row;
      EXPECT_TRUE(is_single_jump_plausible(
          mechanism, {slipping(rig, "clean", 0, 0.0), slipping(rig, "slips", row, slip)}, {}));
    }
  }
}

// A model error throughout is no jump, and a jump in one recording does not explain another.
TEST(SingleJumpPlausibility, RejectsAnotherFrictionLaw) {
  const ReferencePendulum rig{.b = 1e-3};
  ReferencePendulum dry = rig;
  dry.tau_c = dry.tau_s = 0.02;  // it still swings at the end
  const Mechanism mechanism = described_swing(rig);
  EXPECT_FALSE(is_single_jump_plausible(mechanism, {slipping(dry, "dry", 0, 0.0)}, {}));
  EXPECT_FALSE(is_single_jump_plausible(
      mechanism, {slipping(rig, "clean", 0, 0.0), slipping(dry, "dry", 0, 0.0)}, {}));
}

}  // namespace
}  // namespace estimator
