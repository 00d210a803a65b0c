#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "proto/notation/axis_ticks.hpp"
#include "proto/notation/number_format.hpp"

namespace notation {
namespace {

std::string both(double value, double sd) { return format_with_deviation(value, sd); }

// One rule avoids two notations of one magnitude, such as "3.4e2" beside "551e-12".
TEST(NumberFormat, IsPlainFromOneThousandthTo99999) {
  EXPECT_EQ(format_number(0.001), "0.001");
  EXPECT_EQ(format_number(-0.001), "-0.001");
  EXPECT_EQ(format_number(0.0009996), "999.6e-6");
  EXPECT_EQ(format_number(std::nextafter(0.001, 0.0)), "0.001");
  EXPECT_EQ(format_number(340.0, 2), "340");
  EXPECT_EQ(format_number(99999.0), "99999");
  EXPECT_EQ(format_number(-99999.0, 2), "-99999");
  EXPECT_EQ(format_number(1e5), "100e3");
  EXPECT_EQ(format_number(123456.0, 6), "123.456e3");
  EXPECT_EQ(format_number(1e6), "1e6");
  EXPECT_EQ(format_number(1e-5), "10e-6");
  EXPECT_EQ(format_number(1e-6), "1e-6");
  EXPECT_EQ(format_number(5.51e-10, 3), "551e-12");
}

// Many zeros after a decimal point are hard to count: "0.00127358" beside "434.2e-6".
TEST(NumberFormat, HasAnExponentWhereSixDecimalsAreTooFew) {
  EXPECT_EQ(format_number(0.001274, 4), "0.001274");
  EXPECT_EQ(format_number(0.00127358, 6), "1.27358e-3");
  EXPECT_EQ(format_number(0.00127400, 6), "0.001274");
  EXPECT_EQ(format_number(-0.0123456, 5), "-0.012346");
  EXPECT_EQ(format_number(-0.0123456, 6), "-12.3456e-3");
  EXPECT_EQ(format_number(1.23456789, 9), "1.23456789");
  EXPECT_EQ(format_number(0.99999999, 7), "1");
  EXPECT_EQ(both(0.00127358, 7.8e-7), "1.27358e-3 ± 0.00078e-3");
  EXPECT_EQ(both(0.0728999, 1.3e-6), "72.8999e-3 ± 0.0013e-3");
  EXPECT_EQ(both(0.0728999, 1.3e-5), "0.072900 ± 0.000013");
  EXPECT_EQ(both(1.23456789, 1.3e-6), "1.2345679 ± 0.0000013");
  EXPECT_EQ(both(0.9999999, 1e-6), "999.9999e-3 ± 0.0010e-3");
  EXPECT_EQ(both(0.99999999, 1e-6), "1.0000000 ± 0.0000010");
}

// A value that rounds up to the next notation is written in that.
TEST(NumberFormat, RoundsIntoTheNextNotation) {
  EXPECT_EQ(format_number(0.00099996), "0.001");
  EXPECT_EQ(format_number(99999.6), "100e3");
  EXPECT_EQ(format_number(999960.0), "1e6");
  EXPECT_EQ(format_number(9.9996e-7), "1e-6");
  EXPECT_EQ(format_number(99.6, 2), "100");
  EXPECT_EQ(format_number(9.6, 1), "10");
  EXPECT_EQ(both(0.00099998, 1e-7), "999.98e-6 ± 0.10e-6");
  EXPECT_EQ(both(0.000999996, 1e-7), "1.00000e-3 ± 0.00010e-3");
  EXPECT_EQ(both(99999.8, 12.0), "100.000e3 ± 0.012e3");
}

TEST(NumberFormat, DistinguishesZeroFromNaN) {
  EXPECT_EQ(format_number(0.0), "0");
  EXPECT_EQ(format_number(-0.0), "0");
  EXPECT_EQ(format_number(NAN), "-");
  EXPECT_EQ(format_number(INFINITY), "inf");
  EXPECT_EQ(format_number(-INFINITY), "-inf");
  EXPECT_EQ(format_signed(1.5), "+1.5");
  EXPECT_EQ(format_signed(-1.5), "-1.5");
  EXPECT_EQ(format_signed(0.0), "0");
  EXPECT_EQ(format_signed(NAN), "-");
}

TEST(NumberFormat, RoundsToTheSecondDigitOfTheDeviation) {
  EXPECT_EQ(both(0.0039601, 2.34e-6), "3.9601e-3 ± 0.0023e-3");
  EXPECT_EQ(both(3.96012e-4, 2.34e-6), "396.0e-6 ± 2.3e-6");
  EXPECT_EQ(both(-12.3456, 0.9961), "-12.3 ± 1.0");
  EXPECT_EQ(both(1234567.0, 2000.0), "1.2346e6 ± 0.0020e6");
  EXPECT_EQ(both(9.994e-4, 4.3e-6), "999.4e-6 ± 4.3e-6");
  EXPECT_EQ(both(2.5e-5, 0.0), "25e-6 ± -");
  EXPECT_EQ(both(2.5, 0.0), "2.5 ± -");
  EXPECT_EQ(both(2.5, NAN), "2.5 ± -");
  EXPECT_EQ(both(NAN, 1.0), "- ± -");
}

// A value smaller than its standard deviation uses the notation of the deviation.
TEST(NumberFormat, FollowsADeviationAboveItsValue) {
  EXPECT_EQ(both(5.0, 30.0), "5 ± 30");
  EXPECT_EQ(both(5.0, INFINITY), "5 ± inf");
  EXPECT_EQ(both(0.0, 1e-4), "0 ± 100e-6");
  EXPECT_EQ(both(-0.01, 3.0), "0 ± 3.0");
  EXPECT_EQ(both(-3e-5, 0.02), "0 ± 0.020");
  EXPECT_EQ(both(3e-5, 4e5), "0 ± 400e3");
}

// Beyond double precision there are no common decimals.
TEST(NumberFormat, ShowsADeviationFarBelowItsValue) {
  EXPECT_EQ(both(1.25, 1e-15), "1.25 ± 1e-15");
  EXPECT_EQ(both(1e300, 1e-300), "1e300 ± 1e-300");
  EXPECT_EQ(format_number(std::numeric_limits<double>::max()), "179.8e306");
}

TEST(NumberFormat, KeepsWholeDigits) {
  EXPECT_EQ(format_number(5.7e-5), "57e-6");
  EXPECT_EQ(format_number(2.61e-7, 2), "261e-9");
  EXPECT_EQ(format_number(261.0, 2), "261");
  EXPECT_EQ(format_number(-0.00107), "-0.00107");
}

// An interval whose ends differ in notation, "958e-6 … 0.001033", is easily misread.
TEST(NumberFormat, WritesARangeWithOneExponent) {
  EXPECT_EQ(format_range(958e-6, 0.001033), "0.000958 … 0.001033");
  EXPECT_EQ(format_range(-0.5, 1e-4), "-0.5 … 0.0001");
  EXPECT_EQ(format_range(2e-4, 9e-4), "200e-6 … 900e-6");
  EXPECT_EQ(format_range(-2e5, 5e4), "-200e3 … 50e3");
  EXPECT_EQ(format_range(1e-9, 10.0), "1e-9 … 10");
  EXPECT_EQ(format_range(0.0, INFINITY), "0 … inf");
}

// The same deviation must not be "0.00078e-3" beside its value and "778e-9" in the next table.
TEST(QuantityFormat, GivesTheSameTextInEveryTable) {
  const QuantityFormat notation(0.00127358, 7.78e-7);
  EXPECT_EQ(notation.format_rounded(0.00127358), "1.27358e-3");
  EXPECT_EQ(notation.format_rounded(0.00127358 - 1.96 * 7.78e-7), "1.27206e-3");
  EXPECT_EQ(notation.format_rounded(0.0), "0");
  EXPECT_EQ(notation.deviation(7.78e-7), "0.00078e-3");
  EXPECT_EQ(notation.deviation(1.2e-8), "0.000012e-3");
  EXPECT_EQ(notation.deviation(0.002), "2.0e-3");
  EXPECT_EQ(notation.deviation(INFINITY), "inf");
  EXPECT_EQ(notation.deviation(0.0), "-");
  EXPECT_EQ(notation.deviation(NAN), "-");
  EXPECT_EQ(notation.exact(0.0012735812345), "1.2735812345e-3");
  EXPECT_EQ(notation.exact(-7.78e-7), "-0.000778e-3");
  EXPECT_EQ(notation.exact(2.0), "2000e-3");
  EXPECT_EQ(notation.exact(0.0), "0");
  EXPECT_EQ(notation.exact(1e-12), "1e-12");
  EXPECT_EQ(QuantityFormat(0.13857, 0.00019).exact(0.13857000163079747), "0.13857000163079747");
  EXPECT_EQ(notation.number(0.001), "1e-3");
  EXPECT_EQ(notation.number(0.5), "500e-3");
  EXPECT_EQ(notation.number(99.996e-3, 4), "100e-3");
  EXPECT_EQ(notation.number(0.0), "0");
  EXPECT_EQ(notation.number(NAN), "-");
  EXPECT_EQ(notation.number(5e5), "500e3");    // not 500000000e-3
  EXPECT_EQ(notation.number(2e-12), "2e-12");  // not 0.000000002e-3
}

// Without a known deviation the value alone determines the notation.
TEST(QuantityFormat, FollowsTheValueWithoutADeviation) {
  for (const double sd : {0.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    const QuantityFormat notation(434.2e-6, sd);
    EXPECT_EQ(notation.number(0.001), "1000e-6") << sd;
    EXPECT_EQ(notation.format_rounded(0.00043421), "434.21e-6") << sd;
    EXPECT_EQ(QuantityFormat(0.0, sd).number(1e-4), "100e-6") << sd;  // a zero determines nothing
    EXPECT_EQ(QuantityFormat(0.0, sd).deviation(1e-4), "100e-6") << sd;
  }
}

// A number that is read back with other bits than were estimated changes predictions.
TEST(ExactNumber, ReadsAsTheSameBits) {
  std::mt19937_64 random(20261124);
  for (int k = 0; k < 200000; ++k) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    const std::string text = format_exact(value);
    const double read = std::strtod(text.c_str(), nullptr);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(read), std::bit_cast<std::uint64_t>(value)) << text;
  }
  std::uniform_real_distribution<double> size(-9.0, 7.0);
  for (int k = 0; k < 200000; ++k) {
    const double value = std::pow(10.0, size(random));
    ASSERT_EQ(std::strtod(format_exact(value).c_str(), nullptr), value);
    const QuantityFormat notation(value * std::pow(10.0, 0.3 * size(random)), 1e-3 * value);
    ASSERT_EQ(std::strtod(notation.exact(value).c_str(), nullptr), value);
  }
}

TEST(ExactNumber, IsWrittenAsOtherNumbersAre) {
  EXPECT_EQ(format_exact(1.4428444509778183e-05), "14.428444509778183e-6");
  EXPECT_EQ(format_exact(-1e-4), "-100e-6");
  EXPECT_EQ(format_exact(1e-5), "10e-6");
  EXPECT_EQ(format_exact(1e-6), "1e-6");
  EXPECT_EQ(format_exact(1e5), "100e3");
  EXPECT_EQ(format_exact(123456.5), "123.4565e3");
  EXPECT_EQ(format_exact(0.001), "0.001");
  EXPECT_EQ(format_exact(0.0043), "0.0043");
  EXPECT_EQ(format_exact(0.0012735812), "0.0012735812");
  EXPECT_EQ(format_exact(-2.0), "-2");
  EXPECT_EQ(format_exact(4096.0), "4096");
  EXPECT_EQ(format_exact(1.0 / 3.0), "0.3333333333333333");
  EXPECT_EQ(format_exact(0.0), "0");
  EXPECT_EQ(format_exact(-0.0), "-0");
  EXPECT_EQ(format_exact(INFINITY), "inf");
  EXPECT_EQ(format_exact(-INFINITY), "-inf");
  EXPECT_EQ(format_exact(NAN), "nan");
}

using Texts = std::vector<std::string>;

TEST(NiceTicks, AreRoundAndCoverTheRange) {
  EXPECT_EQ(choose_axis_ticks(0.0, 10.0, 10).size(), 11U);
  const std::vector<double> ticks = choose_axis_ticks(-0.3, 0.3, 6);
  ASSERT_EQ(ticks.size(), 7U);
  for (int k = 0; k < 7; ++k) EXPECT_NEAR(ticks[static_cast<std::size_t>(k)], 0.1 * (k - 3), 1e-15);
  EXPECT_EQ(ticks[3], 0.0);
  for (const double tick : choose_axis_ticks(0.00123, 0.00987, 5)) {
    EXPECT_NEAR(tick * 1e3, std::round(tick * 1e3 * 2.0) / 2.0, 1e-9);
  }
  EXPECT_EQ(choose_axis_ticks(2.0, 2.0, 5).size(), 1U);
}

// With a fixed four digits, neighbours at any spacing could look alike: 20203, 20203, 20202, 20202.
TEST(TickLabels, DistinguishNeighbours) {
  EXPECT_EQ(format_tick_labels({20202.0, 20202.5, 20203.0}).texts,
            (Texts{"20202.0", "20202.5", "20203.0"}));
  EXPECT_EQ(format_tick_labels({20201.0, 20202.0, 20203.0}).texts,
            (Texts{"20201", "20202", "20203"}));
  EXPECT_EQ(format_tick_labels({-1.0, -0.5, 0.0, 0.5}).texts, (Texts{"-1.0", "-0.5", "0", "0.5"}));
  EXPECT_EQ(format_tick_labels({0.0, 500.0, 1000.0}).texts, (Texts{"0", "500", "1000"}));
  for (const double low : {-1e6, -20202.98, -3e-9, 0.0, 0.00123, 1.0, 20202.98, 123456.7}) {
    for (const double range : {1e-3, 0.3, 7.0, 2e5}) {
      const TickLabels reported = format_tick_labels(choose_axis_ticks(low, low + range, 6));
      for (std::size_t k = 1; k < reported.texts.size(); ++k) {
        EXPECT_NE(reported.texts[k], reported.texts[k - 1]) << low << ' ' << range;
      }
    }
  }
}

// One exponent along an axis: "500e-6" below "0.001" looks like the larger of the two.
TEST(TickLabels, ShareOneExponent) {
  EXPECT_EQ(format_tick_labels({0.0, 5e-4, 1e-3}).texts, (Texts{"0", "0.0005", "0.0010"}));
  EXPECT_EQ(format_tick_labels({0.0, 2e-4, 4e-4}).texts, (Texts{"0", "200e-6", "400e-6"}));
  EXPECT_EQ(format_tick_labels({0.0, 5e4, 1e5}).texts, (Texts{"0", "50e3", "100e3"}));
  EXPECT_EQ(format_tick_labels({4e-7, 5e-7}).texts, (Texts{"400e-9", "500e-9"}));
}

// Digits common to all labels that are too long are shown once, as an offset above the axis.
TEST(TickLabels, ShowCommonDigitsAsAnOffset) {
  const TickLabels above = format_tick_labels({20202.70, 20202.75, 20202.80});
  EXPECT_EQ(above.texts, (Texts{"0", "0.05", "0.10"}));
  EXPECT_EQ(above.offset, "20202.7");
  const TickLabels across = format_tick_labels({20202.98, 20203.00, 20203.02});
  EXPECT_EQ(across.texts, (Texts{"0.08", "0.10", "0.12"}));
  EXPECT_EQ(across.offset, "20202.9");
  const TickLabels below = format_tick_labels({-1234567.5, -1234567.0});
  EXPECT_EQ(below.texts, (Texts{"-0.5", "0"}));
  EXPECT_EQ(below.offset, "-1.234567e6");
  EXPECT_TRUE(format_tick_labels({-1.25e-5, 0.0, 1.25e-5}).offset.empty());  // no common digits
}

TEST(TickLabels, HandleNoneOneAndEqualTicks) {
  EXPECT_EQ(format_tick_labels({}).texts, Texts{});
  EXPECT_EQ(format_tick_labels({20202.75}).texts, Texts{"20203"});
  EXPECT_EQ(format_tick_labels({2.0, 2.0}).texts, (Texts{"2", "2"}));
}

TEST(LabelWithOffset, StandsBeforeTheUnit) {
  EXPECT_EQ(label_with_offset("angle [rad]", ""), "angle [rad]");
  EXPECT_EQ(label_with_offset("angle [rad]", "1.5"), "angle − 1.5 [rad]");
  EXPECT_EQ(label_with_offset("angle [rad]", "-1.5"), "angle + 1.5 [rad]");
  EXPECT_EQ(label_with_offset("cost", "20202"), "cost − 20202");
}

}  // namespace
}  // namespace notation
