#include "estimator/model/placement.hpp"

#include <gtest/gtest.h>

#include "tests/support/mechanisms/chain.hpp"
#include "tests/support/mechanisms/frames.hpp"
#include "tests/support/mechanisms/furuta.hpp"

namespace estimator {
namespace {

// All links of a planar chain turn about z alone; a Furuta's arm about its own z, its pendulum
// about more than one direction; a cart about none.
TEST(TurningAxis, IsTheCommonAxisOfAllJointsOrNone) {
  ChainDescription chain;
  chain.links = 3;
  for (int body = 0; body < 3; ++body) {
    const auto axis = find_single_rotation_axis(make_chain(chain), body);
    ASSERT_TRUE(axis.has_value());
    EXPECT_NEAR(std::abs(axis->z()), 1.0, 1e-12);
  }
  const Mechanism furuta = make_furuta();
  ASSERT_TRUE(find_single_rotation_axis(furuta, 0).has_value());
  EXPECT_NEAR(std::abs(find_single_rotation_axis(furuta, 0)->z()), 1.0, 1e-12);
  EXPECT_FALSE(find_single_rotation_axis(furuta, 1).has_value());
  Mechanism cart;
  cart.bodies = {{"cart"}};
  cart.joints.resize(1);
  cart.joints[0].name = "rail";
  cart.joints[0].kind = JointKind::kPrismatic;
  make_parameters(cart);
  ASSERT_TRUE(find_single_rotation_axis(cart, 0).has_value());
  EXPECT_TRUE(find_single_rotation_axis(cart, 0)->isZero());
}

}  // namespace
}  // namespace estimator
