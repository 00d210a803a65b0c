#include "estimator/model/turning_axis.hpp"

#include <gtest/gtest.h>

#include "estimator/model/mechanisms/chain.hpp"
#include "estimator/model/mechanisms/frames.hpp"
#include "tests/support/mechanisms/furuta.hpp"

namespace estimator {
namespace {

// All links of a planar chain turn about z alone; a Furuta's arm about its own z, its pendulum
// about more than one direction; a cart about none.
TEST(TurningAxis, IsThatOfAllHingesOnTheWayOrNone) {
  ChainDescription chain;
  chain.links = 3;
  for (int body = 0; body < 3; ++body) {
    const auto axis = turning_axis(make_chain(chain), body);
    ASSERT_TRUE(axis.has_value());
    EXPECT_NEAR(std::abs(axis->z()), 1.0, 1e-12);
  }
  const Mechanism furuta = make_furuta();
  ASSERT_TRUE(turning_axis(furuta, 0).has_value());
  EXPECT_NEAR(std::abs(turning_axis(furuta, 0)->z()), 1.0, 1e-12);
  EXPECT_FALSE(turning_axis(furuta, 1).has_value());
  Mechanism cart;
  cart.bodies = {{"cart"}};
  cart.hinges.resize(1);
  cart.hinges[0].name = "rail";
  cart.hinges[0].kind = JointKind::kPrismatic;
  make_parameters(cart);
  ASSERT_TRUE(turning_axis(cart, 0).has_value());
  EXPECT_TRUE(turning_axis(cart, 0)->isZero());
}

}  // namespace
}  // namespace estimator
