#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <sstream>
#include <string>

#include "service/rig/init/column_recognition.hpp"
#include "service/rig/init/rig_answers.hpp"
#include "service/rig/init/rig_proposal.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/parameters.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;

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
    return read_column_profiles(folder_.write("run.csv", text.str()));
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
  EXPECT_EQ(answers.time_unit.name, "ms");
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

// A duty is within ±1, or in percent. A PWM of 255 steps is a number without a unit.
TEST_F(Guess, RecognizesADutyWithinOne) {
  const auto unit = [&](const std::string& name, double most) {
    return guess_command_unit(
               look({{name, [most](double t) { return most * std::cos(9.0 * t); }}})[0])
        .unit;
  };
  EXPECT_EQ(unit("motor_duty", 1.0), "duty");
  EXPECT_EQ(unit("pwm", 0.3), "duty");
  EXPECT_EQ(unit("pwm", 1.01), "1");
  EXPECT_EQ(unit("pwm", 255.0), "1");
  EXPECT_EQ(unit("PWM %", 80.0), "duty");
  EXPECT_EQ(unit("voltage", 0.3), "V");
}

// Without units in the names, the values decide: 200 units are degrees, integers are counts, a
// clock with 1000 units per second is in milliseconds.
TEST_F(Guess, DeterminesUnitsFromValues) {
  const auto degrees =
      propose(RigKind::kPendulum, {{"time", [](double t) { return 1e3 * t; }},
                                   {"angle", [](double t) { return 150.0 * swing(t); }}});
  EXPECT_EQ(degrees.time_unit.name, "ms");
  EXPECT_EQ(degrees.readings[0].unit, ReadingUnit::kDegree);
  const auto counts =
      propose(RigKind::kPendulum, {{"time", [](double t) { return t; }},
                                   {"enc", [](double t) { return std::round(800.0 * swing(t)); }}});
  EXPECT_EQ(counts.time_unit.name, "s");
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
  ASSERT_TRUE(guess_encoder_counts(steps[0], ReadingUnit::kRadian).has_value());
  EXPECT_EQ(*guess_encoder_counts(steps[0], ReadingUnit::kRadian), 4096.0);
  const auto smooth = look({{"q", swing}});
  EXPECT_FALSE(guess_encoder_counts(smooth[0], ReadingUnit::kRadian).has_value());
}

// The hanging position is where it comes to rest: at zero, half a turn from there, or anywhere.
TEST_F(Guess, FindsTheHangingReading) {
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

TEST_F(Guess, EstimatesTheFrequencyOfSmallSwings) {
  const auto found =
      estimate_swing_frequency(look({{"q", swing}})[0], ReadingUnit::kRadian, 0.0, 1e-3);
  ASSERT_TRUE(found.has_value());
  EXPECT_NEAR(*found, 4.0, 0.1);  // off by a part of a swing in eight
  const auto still = estimate_swing_frequency(look({{"q", [](double t) { return 0.1 * t; }}})[0],
                                              ReadingUnit::kRadian, 0.0, 1e-3);
  EXPECT_FALSE(still.has_value());
}

/// Returns the use of a column, with the reason for it.
std::string use_of(const RigAnswers& answers, const std::string& column) {
  for (const ColumnUse& each : answers.columns) {
    if (each.column == column) return each.use + " (" + each.reason + ")";
  }
  return "";
}

// A time column named like a command is not the command too, whether it is given or recognized, and
// the only other column that moves is the angle.
TEST_F(Guess, GivesAColumnOneRole) {
  const std::vector<Column> columns = {{"u", [](double t) { return t; }}, {"y", swing}};
  for (const char* time : {"u", ""}) {
    ColumnChoice choice;
    choice.time = time;
    const RigAnswers answers = propose(RigKind::kPendulum, columns, choice);
    EXPECT_EQ(answers.time_column, "u");
    EXPECT_FALSE(answers.motor.has_value());
    ASSERT_EQ(answers.readings.size(), 1U);
    EXPECT_EQ(answers.readings[0].column, "y");
    EXPECT_EQ(use_of(answers, "u"), std::string("time in s (") +
                                        (*time == 0 ? "it rises evenly" : "given") +
                                        "; unit from its values)");
    EXPECT_EQ(use_of(answers, "y"),
              "angle of joint pivot in rad (no other column moves; unit from its values)");
  }
  ColumnChoice twice;
  twice.time = twice.command = "u";
  expect_parts(refusal([&] { propose(RigKind::kPendulum, columns, twice); }),
               {"\"u\"", "both the time and the command"});
  ColumnChoice both;
  both.angles = {"y", "y"};
  expect_parts(refusal([&] { propose(RigKind::kDoublePendulum, columns, both); }),
               {"\"y\"", "joint 1", "joint 2"});
}

// With more columns of unknown names than joints, no column is guessed.
TEST_F(Guess, DoesNotChooseBetweenUnknownNames) {
  const std::vector<Column> columns = {{"t", [](double t) { return t; }},
                                       {"y", swing},
                                       {"z", drive},
                                       {"temp", [](double) { return 20.0; }}};
  expect_parts(refusal([&] { propose(RigKind::kPendulum, columns); }), {"pivot", "--angle"});
  const RigAnswers both = propose(RigKind::kDoublePendulum, columns);
  EXPECT_EQ(both.readings.at(0).column, "y");
  EXPECT_EQ(both.readings.at(1).column, "z");
  EXPECT_EQ(use_of(both, "temp"), " (constant)");
}

// A column that hardly moves is not the angle if another one moves, whatever its name.
TEST_F(Guess, PrefersColumnsThatMove) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0.0, 1e-3);
  const std::vector<Column> columns = {{"t", [](double t) { return t; }},
                                       {"angle_rad", [&](double) { return 0.2 + noise(random); }},
                                       {"q", [&](double t) { return swing(t) + noise(random); }},
                                       {"omega", drive},
                                       {"q_ref", drive}};
  const RigAnswers one = propose(RigKind::kPendulum, columns);
  EXPECT_EQ(one.readings.at(0).column, "q");
  EXPECT_EQ(use_of(one, "angle_rad"), " (hardly moves)");
  EXPECT_EQ(use_of(one, "omega"), " (a speed or an acceleration)");
  EXPECT_EQ(use_of(one, "q_ref"), " (a reference)");
  std::vector<Column> unnamed = columns;
  unnamed[2].name = "y";
  EXPECT_EQ(propose(RigKind::kPendulum, unnamed).readings.at(0).column, "y");
  const RigAnswers two = propose(RigKind::kDoublePendulum, columns);
  EXPECT_EQ(use_of(two, "angle_rad"), "angle of joint 1 in rad (by its name, but it hardly moves)");
}

// A turn is a whole number of encoder lines in one unit only, whatever the range of the readings.
TEST_F(Guess, FindsTheUnitFromEncoderCounts) {
  for (const auto& [amplitude, speed] : {std::pair{0.9, 1.0}, {40.0, 0.01}}) {
    for (const auto& [turn, unit] :
         {std::pair{2.0 * M_PI, ReadingUnit::kRadian}, {360.0, ReadingUnit::kDegree}}) {
      const double quantum = turn / 8192.0;
      const RigAnswers answers =
          propose(RigKind::kPendulum, {{"t", [](double t) { return t; }},
                                       {"theta", [&](double t) {
                                          return quantum *
                                                 std::round(amplitude * swing(speed * t) / quantum);
                                        }}});
      EXPECT_EQ(answers.readings.at(0).unit, unit) << amplitude << " " << turn;
      EXPECT_TRUE(use_of(answers, "theta").ends_with("(by its name; unit from its values)"));
    }
  }
}

TEST_F(Guess, RefusesTimesThatStepBack) {
  expect_parts(refusal([&] {
                 (void)propose(RigKind::kPendulum,
                               {{"time", [](double t) { return t > 1.0 ? t - 0.5 : t; }},
                                {"theta_rad", swing}});
               }),
               {"\"time\" steps back from 1 to", "sort the rows"});
}

// The stamp of the measurement comes before the time of receipt, in any order of the columns, and a
// time in whole seconds is none.
TEST_F(Guess, PrefersHeaderStamps) {
  const auto clock = [](double t) { return 1e5 + t; };
  const auto time_of = [&](const std::vector<std::string>& names) {
    std::vector<Column> columns;
    for (const std::string& name : names) columns.push_back({name, clock});
    columns.push_back({"header.stamp.sec", [&](double t) { return std::floor(clock(t)); }});
    columns.push_back({"q", swing});
    return propose(RigKind::kPendulum, columns).time_column;
  };
  EXPECT_EQ(time_of({"receive_time", "header.stamp"}), "header.stamp");
  EXPECT_EQ(time_of({"%time", "field.header.stamp"}), "field.header.stamp");
  EXPECT_EQ(time_of({"log_time", "t"}), "t");
  EXPECT_EQ(time_of({"rosbagTimestamp"}), "rosbagTimestamp");
}

// A unit alone names a time only if the column rises, also after a counter of 16 bits has wrapped.
TEST_F(Guess, RecognizesATimeByItsUnit) {
  const auto answers_with = [&](const Column& time) {
    return propose(RigKind::kPendulum, {{"q", swing}, time, {"noise_1", swing}});
  };
  const auto wrapping = [](double t) { return std::fmod(1e3 * t + 65000.0, 65536.0); };
  const auto uneven = [](double t) { return 1e3 * t + (t > 0.5 ? 100.0 : 0.0); };
  EXPECT_EQ(answers_with({"ms", wrapping}).time_column, "ms");
  EXPECT_EQ(answers_with({"[us]", [&](double t) { return 1e3 * uneven(t); }}).time_unit.name, "us");
  EXPECT_EQ(answers_with({"sec", [&](double t) { return 1e-3 * uneven(t); }}).time_column, "sec");
  expect_parts(refusal([&] { answers_with({"s", swing}); }), {"no time column found"});
}

// Without them, 12 is an angle in degrees, and 0.1 one in radians.
TEST_F(Guess, TakesUnitsFromTheLineBelowTheHeader) {
  for (const auto& [unit, name, amplitude] :
       {std::tuple("[mrad]", "mrad", 12.0), {"(deg)", "deg", 0.1}, {"gon", "gon", 0.1}}) {
    std::string text = std::string("time,theta\n[ms],") + unit + '\n';
    for (int k = 0; k < kRows; ++k) {
      text += std::to_string(k) + ',' + std::to_string(amplitude * swing(1e-3 * k)) + '\n';
    }
    const auto columns = read_column_profiles(folder_.write("units.csv", text));
    EXPECT_EQ(guess_time_unit(columns.at(0)).name, "ms");
    EXPECT_STREQ(reading_unit_name(guess_reading_unit(columns.at(1), false)), name);
  }
}

/// Time stamps from `first` on, in units of which a second has `per_second`.
ColumnProfile stamps(double first, double per_second, double rate = 200.0) {
  ColumnProfile column;
  for (int k = 0; k < 100; ++k) column.values.push_back(first + k / rate * per_second);
  column.low = column.values.front();
  return column;
}

// Times since 1970 are recognized by their size, at any sampling rate.
TEST_F(Guess, RecognizesTheUnitOfAnEpoch) {
  for (const auto& [unit, per_second] :
       {std::pair("s", 1.0), {"ms", 1e3}, {"us", 1e6}, {"ns", 1e9}}) {
    for (const double rate : {10.0, 1000.0}) {
      EXPECT_EQ(guess_time_unit(stamps(1.7e9 * per_second, per_second, rate)).name, unit) << rate;
    }
  }
  // Half an hour since the start, at 200 Hz, and the start at 1 kHz.
  EXPECT_EQ(guess_time_unit(stamps(1.8e9, 1e6)).name, "us");
  EXPECT_EQ(guess_time_unit(stamps(0.0, 1e9, 1000.0)).name, "ns");
}

// 100 ns of Windows were taken for microseconds: the model fitted, with an inertia 136 times too
// large.
TEST_F(Guess, RecognizesDatesOfOtherSystems) {
  EXPECT_EQ(guess_time_unit(stamps(133541064000000000.0, 1e7)).name, "100ns");  // FILETIME
  EXPECT_EQ(guess_time_unit(stamps(638452296000000000.0, 1e7)).name, "100ns");  // .NET
  EXPECT_EQ(guess_time_unit(stamps(45356.4, 1.0 / 86400.0)).name, "d");         // Excel
  EXPECT_EQ(guess_time_unit(stamps(739316.4, 1.0 / 86400.0)).name, "d");        // MATLAB
  EXPECT_EQ(guess_time_unit(stamps(3.79e9, 1.0)).name, "s");                    // LabVIEW
  EXPECT_EQ(guess_time_unit(stamps(45356.0, 1e3)).name, "ms");  // 45 s after the start
}

// A row number and the cycles of a processor have no unit of time.
TEST_F(Guess, RefusesCountersAsTimes) {
  const auto refused = [&](const std::string& name, double per_second) {
    return refusal([&] {
      (void)propose(RigKind::kPendulum,
                    {{name, [=](double t) { return per_second * t; }}, {"theta_rad", swing}});
    });
  };
  expect_parts(refused("idx", 1e3), {"\"idx\" contains row numbers", "--rate HZ", "--time-unit"});
  expect_parts(refused("cycles", 72e6), {"\"cycles\"", "unknown rate", "--time-unit SECONDS"});
  ColumnChoice choice;
  choice.time = "cycles";
  choice.time_unit = "0.5e-6";
  const RigAnswers answers =
      propose(RigKind::kPendulum,
              {{"cycles", [](double t) { return 2e6 * t; }}, {"theta_rad", swing}}, choice);
  const Rig rig = parse_rig("rig.textproto", make_rig_file_text(answers));
  EXPECT_DOUBLE_EQ(rig.format->time_scale, 0.5e-6);
}

// Bus errors do not decide on the unit.
TEST_F(Guess, IgnoresFalseReadings) {
  const RigAnswers answers = propose(
      RigKind::kPendulum,
      {{"t", [](double t) { return t; }},
       {"theta", [](double t) { return std::fmod(t, 0.3) < 0.0045 ? 65535.0 : swing(t) + 0.3; }}});
  EXPECT_EQ(answers.readings.at(0).unit, ReadingUnit::kRadian);
}

// An absolute encoder is at rest at the end of its range.
TEST_F(Guess, FindsTheRestOfAWrappedAngle) {
  const RigAnswers answers =
      propose(RigKind::kPendulum,
              {{"t", [](double t) { return t; }},
               {"theta_deg", [](double t) { return std::fmod(360.0 + 50.0 * swing(t), 360.0); }}});
  EXPECT_EQ(answers.readings.at(0).rest, 0.0);
}

// The rig file gets the modulus of a counter that wraps, and the joint hangs at the unwrapped zero.
TEST_F(Guess, FindsTheModulusOfACounter) {
  ColumnChoice choice;
  choice.counts = {2000.0};
  choice.no_motor = true;
  const RigAnswers answers = propose(RigKind::kPendulum,
                                     {{"t", [](double t) { return t; }},
                                      {"cnt",
                                       [](double t) {
                                         const double count = std::round(300.0 * swing(t));
                                         return count < 0.0 ? count + 65536.0 : count;
                                       }}},
                                     choice);
  EXPECT_EQ(answers.readings.at(0).unit, ReadingUnit::kCount);
  EXPECT_EQ(answers.readings.at(0).counts_modulo, 65536.0);
  EXPECT_EQ(answers.readings.at(0).rest, 0.0);
  expect_parts(use_of(answers, "cnt"), {"count", "starts again after 65536 counts"});
  const Rig rig = parse_rig("rig.textproto", make_rig_file_text(answers));
  EXPECT_EQ(rig.format->angles.at(0).counts_modulo, 65536.0);
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
