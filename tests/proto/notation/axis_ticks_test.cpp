#include "proto/notation/axis_ticks.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace notation {
namespace {

using Texts = std::vector<std::string>;

TEST(NiceTicks, AreRoundAndCoverTheRange) {
  EXPECT_EQ(nice_ticks(0.0, 10.0, 10).size(), 11U);
  const std::vector<double> ticks = nice_ticks(-0.3, 0.3, 6);
  ASSERT_EQ(ticks.size(), 7U);
  for (int k = 0; k < 7; ++k) EXPECT_NEAR(ticks[static_cast<std::size_t>(k)], 0.1 * (k - 3), 1e-15);
  EXPECT_EQ(ticks[3], 0.0);
  for (const double tick : nice_ticks(0.00123, 0.00987, 5)) {
    EXPECT_NEAR(tick * 1e3, std::round(tick * 1e3 * 2.0) / 2.0, 1e-9);
  }
  EXPECT_EQ(nice_ticks(2.0, 2.0, 5).size(), 1U);
}

// With a fixed four digits, neighbours at any spacing could look alike: 20203, 20203, 20202, 20202.
TEST(TickLabels, DistinguishNeighbours) {
  EXPECT_EQ(tick_labels({20202.0, 20202.5, 20203.0}).texts,
            (Texts{"20202.0", "20202.5", "20203.0"}));
  EXPECT_EQ(tick_labels({20201.0, 20202.0, 20203.0}).texts, (Texts{"20201", "20202", "20203"}));
  EXPECT_EQ(tick_labels({-1.0, -0.5, 0.0, 0.5}).texts, (Texts{"-1.0", "-0.5", "0", "0.5"}));
  EXPECT_EQ(tick_labels({0.0, 500.0, 1000.0}).texts, (Texts{"0", "500", "1000"}));
  for (const double low : {-1e6, -20202.98, -3e-9, 0.0, 0.00123, 1.0, 20202.98, 123456.7}) {
    for (const double range : {1e-3, 0.3, 7.0, 2e5}) {
      const TickLabels reported = tick_labels(nice_ticks(low, low + range, 6));
      for (std::size_t k = 1; k < reported.texts.size(); ++k) {
        EXPECT_NE(reported.texts[k], reported.texts[k - 1]) << low << ' ' << range;
      }
    }
  }
}

// One exponent along an axis: "500e-6" below "0.001" looks like the larger of the two.
TEST(TickLabels, ShareOneExponent) {
  EXPECT_EQ(tick_labels({0.0, 5e-4, 1e-3}).texts, (Texts{"0", "0.0005", "0.0010"}));
  EXPECT_EQ(tick_labels({0.0, 2e-4, 4e-4}).texts, (Texts{"0", "200e-6", "400e-6"}));
  EXPECT_EQ(tick_labels({0.0, 5e4, 1e5}).texts, (Texts{"0", "50e3", "100e3"}));
  EXPECT_EQ(tick_labels({4e-7, 5e-7}).texts, (Texts{"400e-9", "500e-9"}));
}

// Digits common to all labels that are too long are shown once, as an offset above the axis.
TEST(TickLabels, ShowCommonDigitsAsAnOffset) {
  const TickLabels above = tick_labels({20202.70, 20202.75, 20202.80});
  EXPECT_EQ(above.texts, (Texts{"0", "0.05", "0.10"}));
  EXPECT_EQ(above.offset, "20202.7");
  const TickLabels across = tick_labels({20202.98, 20203.00, 20203.02});
  EXPECT_EQ(across.texts, (Texts{"0.08", "0.10", "0.12"}));
  EXPECT_EQ(across.offset, "20202.9");
  const TickLabels below = tick_labels({-1234567.5, -1234567.0});
  EXPECT_EQ(below.texts, (Texts{"-0.5", "0"}));
  EXPECT_EQ(below.offset, "-1.234567e6");
  EXPECT_TRUE(tick_labels({-1.25e-5, 0.0, 1.25e-5}).offset.empty());  // no common digits
}

TEST(TickLabels, CountOnNoNeighbour) {
  EXPECT_EQ(tick_labels({}).texts, Texts{});
  EXPECT_EQ(tick_labels({20202.75}).texts, Texts{"20203"});
  EXPECT_EQ(tick_labels({2.0, 2.0}).texts, (Texts{"2", "2"}));
}

TEST(LabelWithOffset, StandsBeforeTheUnit) {
  EXPECT_EQ(label_with_offset("angle [rad]", ""), "angle [rad]");
  EXPECT_EQ(label_with_offset("angle [rad]", "1.5"), "angle − 1.5 [rad]");
  EXPECT_EQ(label_with_offset("angle [rad]", "-1.5"), "angle + 1.5 [rad]");
  EXPECT_EQ(label_with_offset("cost", "20202"), "cost − 20202");
}

}  // namespace
}  // namespace notation
