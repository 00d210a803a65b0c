#include "service/rig/init/column_recognition.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <sstream>

#include "service/rig/init/rig_proposal.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using test_support::expect_parts;
using test_support::refusal;

constexpr int kRows = 2000;

/// A recording with 1000 rows per second, with the time in units of `tick`.
struct Column {
  std::string name;
  std::function<double(double time)> value;
};

class Guess : public ::testing::Test {
 protected:
  std::vector<ColumnProfile> look(const std::vector<Column>& columns) {
    std::ostringstream text;
    text.precision(10);
    for (const Column& column : columns) text << (&column == &columns[0] ? "" : ",") << column.name;
    text << '\n';
    for (int k = 0; k < kRows; ++k) {
      for (const Column& column : columns) {
        text << (&column == &columns[0] ? "" : ",") << column.value(1e-3 * k);
      }
      text << '\n';
    }
    return profile_columns(folder_.write("run.csv", text.str()));
  }

  RigAnswers propose(RigKind kind, const std::vector<Column>& columns,
                     const ColumnChoice& choice = {}) {
    RigAnswers answers;
    answers.kind = kind;
    answers.source = "run.csv";
    answers.links.resize(link_names(kind, 2).size());
    propose_columns(look(columns), choice, answers);
    return answers;
  }

  TemporaryFolder folder_;
};

double swing(double t) { return 0.6 * std::exp(-t) * std::cos(2.0 * M_PI * 4.0 * t); }
double drive(double t) { return std::sin(9.0 * t); }

TEST_F(Guess, AssignsColumnsByName) {
  const auto answers =
      propose(RigKind::kFuruta, {{"t_ms", [](double t) { return 1e3 * t; }},
                                 {"omega1_rad_s", drive},
                                 {"pend_deg", [](double t) { return 50.0 * swing(t); }},
                                 {"arm_deg", [](double t) { return 20.0 * swing(t); }},
                                 {"u_des_V", drive},
                                 {"voltage", drive}});
  EXPECT_EQ(answers.time_column, "t_ms");
  EXPECT_EQ(answers.time_unit, TimeUnit::kMillisecond);
  ASSERT_EQ(answers.readings.size(), 2U);
  EXPECT_EQ(answers.readings[0].column, "arm_deg");  // the arm first, in any column order
  EXPECT_EQ(answers.readings[1].column, "pend_deg");
  EXPECT_EQ(answers.readings[1].unit, ReadingUnit::kDegree);
  ASSERT_TRUE(answers.motor.has_value());
  EXPECT_EQ(answers.motor->column, "voltage");
  EXPECT_EQ(answers.motor->unit, "V");
}

// A ROS effort is a command, in newtons for a prismatic joint.
TEST_F(Guess, RecognizesAnEffortAsACommand) {
  const auto cart = propose(RigKind::kCartPole, {{"header.stamp", [](double t) { return t; }},
                                                 {"pole_joint", swing},
                                                 {"cart_joint", [](double t) { return t; }},
                                                 {"pole_joint.effort", [](double) { return 0.0; }},
                                                 {"cart_joint.effort", drive}});
  ASSERT_EQ(cart.readings.size(), 2U);
  EXPECT_EQ(cart.readings[0].column, "cart_joint");
  EXPECT_EQ(cart.readings[1].column, "pole_joint");
  ASSERT_TRUE(cart.motor.has_value());
  EXPECT_EQ(cart.motor->column, "cart_joint.effort");
  EXPECT_EQ(cart.motor->unit, "N");
  for (const char* name : {"elbow.effort", "elbow_eff"}) {
    const auto arm =
        propose(RigKind::kPendulum,
                {{"t", [](double t) { return t; }}, {"elbow.position", swing}, {name, drive}});
    EXPECT_EQ(arm.readings.at(0).column, "elbow.position") << name;
    ASSERT_TRUE(arm.motor.has_value()) << name;
    EXPECT_EQ(arm.motor->column, name);
    EXPECT_EQ(arm.motor->unit, "N·m");
  }
}

// A duty is within ±1. A PWM of 255 steps or in percent is a number without a unit.
TEST_F(Guess, RecognizesADutyWithinOne) {
  const auto unit = [&](const std::string& name, double most) {
    return guess_command_unit(
        look({{name, [most](double t) { return most * std::cos(9.0 * t); }}})[0]);
  };
  EXPECT_EQ(unit("motor_duty", 1.0), "duty");
  EXPECT_EQ(unit("pwm", 0.3), "duty");
  EXPECT_EQ(unit("pwm", 1.01), "1");
  EXPECT_EQ(unit("pwm", 255.0), "1");
  EXPECT_EQ(unit("voltage", 0.3), "V");
}

// Without units in the names, the values decide: 200 units are degrees, integers are counts, a
// clock with 1000 units per second is in milliseconds.
TEST_F(Guess, DeterminesUnitsFromValues) {
  const auto degrees =
      propose(RigKind::kPendulum, {{"time", [](double t) { return 1e3 * t; }},
                                   {"angle", [](double t) { return 150.0 * swing(t); }}});
  EXPECT_EQ(degrees.time_unit, TimeUnit::kMillisecond);
  EXPECT_EQ(degrees.readings[0].unit, ReadingUnit::kDegree);
  const auto counts =
      propose(RigKind::kPendulum, {{"time", [](double t) { return t; }},
                                   {"enc", [](double t) { return std::round(800.0 * swing(t)); }}});
  EXPECT_EQ(counts.time_unit, TimeUnit::kSecond);
  EXPECT_EQ(counts.readings[0].unit, ReadingUnit::kCount);
  const auto radians =
      propose(RigKind::kPendulum, {{"time", [](double t) { return t; }}, {"q", swing}});
  EXPECT_EQ(radians.readings[0].unit, ReadingUnit::kRadian);
}

// A reading of 4096 counts per turn changes in steps; one written with many digits does not.
TEST_F(Guess, FindsTheCountsOfAReadingThatSteps) {
  const double quantum = 2.0 * M_PI / 4096.0;
  const auto steps =
      look({{"q", [&](double t) { return quantum * std::round(swing(t) / quantum); }}});
  ASSERT_TRUE(guess_counts(steps[0], ReadingUnit::kRadian).has_value());
  EXPECT_EQ(*guess_counts(steps[0], ReadingUnit::kRadian), 4096.0);
  const auto smooth = look({{"q", swing}});
  EXPECT_FALSE(guess_counts(smooth[0], ReadingUnit::kRadian).has_value());
}

// The hanging position is where it comes to rest: at zero, half a turn from there, or anywhere.
TEST_F(Guess, FindsWhereItHangs) {
  const auto at = [&](const std::string& name, double rest) {
    return guess_hanging_reading(look({{name, [rest](double t) { return swing(t) + rest; }}})[0],
                                 ReadingUnit::kRadian, false);
  };
  EXPECT_EQ(at("q", 0.05), 0.0);
  EXPECT_EQ(at("q", M_PI + 0.05), M_PI);
  EXPECT_EQ(at("q", -M_PI + 0.05), M_PI);
  EXPECT_EQ(at("theta_from_upright", 0.0), M_PI);
  EXPECT_NEAR(at("q", 1.2), 1.2, 0.1);
  EXPECT_NEAR(at("q", 1.2 + 2.0 * M_PI), 1.2, 0.1);
  // If driven up, it hangs at its start.
  const auto up =
      look({{"q", [](double t) { return t < 0.5 ? 0.0 : std::min(M_PI, 4.0 * (t - 0.5)); }}});
  EXPECT_EQ(guess_hanging_reading(up[0], ReadingUnit::kRadian, true), 0.0);
  EXPECT_EQ(guess_hanging_reading(up[0], ReadingUnit::kRadian, false), M_PI);
}

TEST_F(Guess, CountsSmallSwings) {
  const auto found =
      estimate_swing_frequency(look({{"q", swing}})[0], ReadingUnit::kRadian, 0.0, 1e-3);
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(*found, 4.0, 0.1);  // off by a part of a swing in eight
  const auto still = estimate_swing_frequency(look({{"q", [](double t) { return 0.1 * t; }}})[0],
                                              ReadingUnit::kRadian, 0.0, 1e-3);
  EXPECT_FALSE(still.has_value());
}

TEST_F(Guess, ListsTheColumnsIfNoneFits) {
  const std::vector<Column> columns = {{"t", [](double t) { return t; }}, {"angle", swing}};
  const std::string missing = refusal([&] { propose(RigKind::kDoublePendulum, columns); });
  expect_parts(missing, {"joint \"2\"", "t, angle"});
  ColumnChoice choice;
  choice.angles = {"phi"};
  const std::string wrong = refusal([&] { propose(RigKind::kPendulum, columns, choice); });
  EXPECT_NE(wrong.find("no column \"phi\""), std::string::npos) << wrong;
  const std::string timeless = refusal([&] { propose(RigKind::kPendulum, {{"angle", swing}}); });
  expect_parts(timeless, {"--time", "--rate"});
}

}  // namespace
}  // namespace service
