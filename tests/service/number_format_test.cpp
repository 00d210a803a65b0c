#include "service/text/number_format.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace service {
namespace {

std::string both(double value, double sd) {
  const Measured m = format_measured(value, sd);
  return m.value + " ± " + m.standard_deviation;
}

// Two notations of one magnitude, "3.4e2" beside "551e-12", are what one rule is to prevent.
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

// Rounding that ends in the next notation is written there.
TEST(NumberFormat, RoundsIntoTheNextNotation) {
  EXPECT_EQ(format_number(0.00099996), "0.001");
  EXPECT_EQ(format_number(99999.6), "100e3");
  EXPECT_EQ(format_number(999960.0), "1e6");
  EXPECT_EQ(format_number(9.9996e-7), "1e-6");
  EXPECT_EQ(format_number(99.6, 2), "100");
  EXPECT_EQ(format_number(9.6, 1), "10");
  EXPECT_EQ(both(0.00099998, 1e-7), "999.98e-6 ± 0.10e-6");
  EXPECT_EQ(both(0.000999996, 1e-7), "0.00100000 ± 0.00000010");
  EXPECT_EQ(both(99999.8, 12.0), "100.000e3 ± 0.012e3");
}

TEST(NumberFormat, KeepsZeroAndWhatIsNoNumberApart) {
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
  EXPECT_EQ(both(0.0039601, 2.34e-6), "0.0039601 ± 0.0000023");
  EXPECT_EQ(both(3.96012e-4, 2.34e-6), "396.0e-6 ± 2.3e-6");
  EXPECT_EQ(both(-12.3456, 0.9961), "-12.3 ± 1.0");
  EXPECT_EQ(both(1234567.0, 2000.0), "1.2346e6 ± 0.0020e6");
  EXPECT_EQ(both(9.994e-4, 4.3e-6), "999.4e-6 ± 4.3e-6");
  EXPECT_EQ(both(2.5e-5, 0.0), "25e-6 ± -");
  EXPECT_EQ(both(2.5, 0.0), "2.5 ± -");
  EXPECT_EQ(both(2.5, NAN), "2.5 ± -");
  EXPECT_EQ(both(NAN, 1.0), "- ± -");
}

// A value that is smaller than its deviation takes the deviation's notation.
TEST(NumberFormat, FollowsADeviationAboveItsValue) {
  EXPECT_EQ(both(5.0, 30.0), "5 ± 30");
  EXPECT_EQ(both(5.0, INFINITY), "5 ± inf");
  EXPECT_EQ(both(0.0, 1e-4), "0 ± 100e-6");
  EXPECT_EQ(both(-0.01, 3.0), "0 ± 3.0");
  EXPECT_EQ(both(-3e-5, 0.02), "0 ± 0.020");
  EXPECT_EQ(both(3e-5, 4e5), "0 ± 400e3");
}

// Beyond double precision there are no common decimals.
TEST(NumberFormat, TellsADeviationFarBelowItsValue) {
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

}  // namespace
}  // namespace service
