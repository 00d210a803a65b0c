// rigcal init as a user runs it.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>
#include <tuple>

#include "service/rig/init/rig_interview.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/evaluation_data.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;

std::string pendulum_csv() {
  std::ostringstream text;
  text << "t_s,theta_rad,u_V\n";
  for (int k = 0; k < 500; ++k) text << 0.01 * k << ',' << 0.3 * std::cos(0.06 * k) << ",0\n";
  return text.str();
}

// Runs with these lines as answers.
ProgramRun run_answering(const TemporaryFolder& folder, const std::string& arguments,
                         const std::string& answers) {
  const std::string in = folder.write("answers", answers), out = folder.file("said");
  const std::string command =
      std::string(RIGCAL_BINARY) + " " + arguments + " <" + in + " >" + out + " 2>&1";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents_of(out), ""};
}

TEST(InitCommand, WritesAFileAndPrintsTheNextSteps) {
  const TemporaryFolder folder;
  const std::string run = folder.write("run.csv", pendulum_csv()),
                    rig = folder.file("rig.textproto");
  run_successfully("init --kind pendulum --name mine --mass 0.2 --from " + run + " --out " + rig,
                   {"hangs at pivot = 0°", "rigcal check " + run, "rigcal calibrate " + run,
                    "--picture", "rod.J_zz"});
  const Rig loaded = load_rig(rig);
  EXPECT_EQ(loaded.mechanism.name, "mine");
  EXPECT_TRUE(loaded.format->controls.empty());  // a constant command is ignored
}

// Files of users: a time column called "u", a clock in nanoseconds since 1970, a counter of 16
// bits.
TEST(InitCommand, DescribesTheColumnsOfFieldReports) {
  const auto data = find_evaluation_data();
  if (!data) GTEST_SKIP() << "no evaluation data (../shared/data or RIG_DATA)";
  const TemporaryFolder folder;
  for (const auto& [name, options, parts] :
       {std::tuple<std::string, std::string, std::vector<std::string>>{
            "time_as_command", "--time u", {"u: time in s (given", "y: angle of joint pivot"}},
        {"us_epoch_ns", "", {"timestamp: time in ns", "pos: angle of joint pivot in rad"}},
        {"u16_2000", "--counts 2000", {"starts again after 65536 counts"}}}) {
    const std::string file = *data / "field_reports" / (name + ".csv");
    const std::string rig = folder.file(name + ".textproto");
    run_successfully("init --kind pendulum --mass 0.428 --center 0.092 --from " + file + " " +
                         options + " --out " + rig,
                     parts);
    run_successfully("check " + file + " --rig " + rig);
  }
}

// A time stamp in two columns is a further column, which the user does not name.
TEST(InitCommand, NamesTimeStampsInTwoColumns) {
  const TemporaryFolder folder;
  std::ostringstream text;
  for (int k = 0; k < 500; ++k) {
    text << 1700000000 + k / 100 << ',' << k % 100 * 10000000 << ',' << std::cos(0.06 * k) << '\n';
  }
  const std::string run = folder.write("run.csv", text.str());
  const std::string out = " --from " + run + " --out " + folder.file("rig.textproto");
  const std::string names = "header.stamp.sec,header.stamp.nanosec,position";
  run_successfully("init --kind pendulum --columns " + names + out,
                   {"header.stamp: time in s", "position: angle of joint pivot"});
  const std::string named = folder.write("named.csv", names + "\n" + text.str());
  run_refused("init --kind pendulum --columns a,b,c --force --from " + named + " --out " +
                  folder.file("rig.textproto"),
              {"names its columns itself"});
}

TEST(InitCommand, RefusesColumnsThatAreNotNumeric) {
  const TemporaryFolder folder;
  std::string text = "t,x,word,bad\n";
  for (int k = 0; k < 50; ++k) {
    text += std::to_string(0.01 * k) + "," + std::to_string(std::cos(0.1 * k)) + ",on," +
            (k == 7 ? "1 V" : "1") + "\n";
  }
  const std::string start = "init --kind pendulum --from " + folder.write("run.csv", text) +
                            " --out " + folder.file("rig.textproto") + " ";
  for (const char* option : {"--angle", "--time", "--angle x --command"}) {
    run_refused(start + option + " word", {"column \"word\" contains text, not numbers"});
    run_refused(start + option + " bad", {"run.csv:9:4: column \"bad\": \"1 V\" is not"});
  }
  run_successfully(start + "--angle x --segment word");
}

// A duty has a meaning in the rig file, in lower case and from -1 to 1.
TEST(InitCommand, ReadsADutyInCapitals) {
  const TemporaryFolder folder;
  for (const auto& [name, most] : {std::pair("Duty", 0.5), {"u", 0.5}, {"DUTY", 255.0}}) {
    std::string text = "t_s,theta_rad," + std::string(name) + "\n";
    for (int k = 0; k < 200; ++k) {
      text += std::to_string(0.01 * k) + "," + std::to_string(std::cos(0.1 * k)) + "," +
              std::to_string(most * std::sin(0.05 * k)) + "\n";
    }
    const std::string made = folder.file("rig.textproto");
    const std::string command = "init --force --kind pendulum --from " +
                                folder.write("run.csv", text) + " --out " + made + " ";
    if (most > 1.0) {
      run_refused(command + "--command-unit Duty", {"a duty is from -1 to 1", "--command-unit 1"});
    } else {
      run_successfully(command + (std::string(name) == "u" ? "--command-unit Duty" : ""));
      expect_parts(contents_of(made), {"control_unit: \"duty\""});
    }
  }
}

// The scale confirms a unit that contradicts the column's name, so that the rig file reads the
// recording.
TEST(InitCommand, ConfirmsACommandUnitThatContradictsTheColumn) {
  const TemporaryFolder folder;
  std::string text = "t_s,theta_rad,duty\n";
  for (int k = 0; k < 200; ++k) {
    text += std::to_string(0.01 * k) + "," + std::to_string(std::cos(0.1 * k)) + "," +
            std::to_string(0.5 * std::sin(0.05 * k)) + "\n";
  }
  const std::string run = folder.write("run.csv", text), rig = folder.file("rig.textproto");
  const std::string command = "init --force --kind pendulum --from " + run + " --out " + rig;
  run_successfully(command + " --command-unit V");
  expect_parts(contents_of(rig), {"control_unit: \"V\"", "column: \"duty\" scale: 1 }"});
  run_successfully("info --rig " + rig + " " + run);
  run_successfully(command);
  EXPECT_EQ(contents_of(rig).find("scale:"), std::string::npos);
  run_successfully(command + " --command-unit mV");
  expect_parts(contents_of(rig), {"control_unit: \"V\"", "column: \"duty\" scale: 0.001 }"});
  run_successfully("info --rig " + rig + " " + run);
  run_successfully(command + " --command-unit 'steps['");
  expect_parts(contents_of(rig), {"control_unit: \"steps[\""});
}

TEST(InitCommand, OverwritesOnlyOnRequest) {
  const TemporaryFolder folder;
  const std::string rig = folder.write("rig.textproto", "mine");
  run_refused("init --kind pendulum --out " + rig, {rig, "--force"});
  EXPECT_EQ(contents_of(rig), "mine");
  run_successfully("init --kind pendulum --force --out " + rig);
  EXPECT_NE(contents_of(rig), "mine");
}

TEST(InitCommand, WritesNothingIfTheAnswersEnd) {
  const TemporaryFolder folder;
  const std::string rig = folder.file("rig.textproto");
  const ProgramRun ended = run_answering(folder, "init --out " + rig, "\npendulum\n0.3\n");
  EXPECT_EQ(ended.exit_code, 1);
  expect_parts(ended.out, {"nothing was written"});
  EXPECT_FALSE(std::filesystem::exists(rig));
  const std::string run = folder.write("run.csv", pendulum_csv());
  const ProgramRun asked =
      run_answering(folder, "init --out " + rig, run + "\npendulum\n0.3\n0.1\n\ny\n");
  EXPECT_EQ(asked.exit_code, 0) << asked.out;
  expect_parts(contents_of(rig), {"theta_rad", "0.1 }  # [kg] given", "-0.15"});
}

TEST(InitCommand, RefusesInOneSentence) {
  const TemporaryFolder folder;
  const std::string run = folder.write("run.csv", pendulum_csv());
  const std::string out = " --out " + folder.file("rig.textproto");
  const struct {
    std::string arguments, part;
  } wrong[] = {{"--kind helicopter", "not a kind of rig"},
               {"--kind furuta --length 0.2,0.3", "--length"},
               {"--kind pendulum --arm-length 0.2", "apply only to a Furuta pendulum"},
               {"--kind pendulum --counts 1,2", "--counts: given 2 times, but a pendulum has 1"},
               {"--kind furuta --zero 1,2,3", "--zero: given 3 times, but a furuta has 2 angles"},
               {"--kind pendulum --no-motor --command u", "--no-motor excludes --command"},
               {"--kind pendulum --no-motor --command-unit V", "--no-motor excludes --command"},
               {"--kind pendulum --cart-mass 0.2", "applies only to a cart or cart-pole"},
               {"--kind four-bar", "--ground"},
               {"--kind pendulum --mass -1", "--mass"},
               {"--kind pendulum --zero sideways", "upright"},
               {"--kind double-pendulum --from " + run, "joint \"2\""},
               {"--kind pendulum --angle q --from " + run, "no column \"q\""},
               {"--kind pendulum --invert q --from " + run, "--invert q"},
               {"--kind pendulum --angle-unit mm --from " + run, "not a unit of an angle"},
               {"--kind pendulum --name 'a\"b'", "--name"},
               {"--kind pendulum --from run.mcap", "run.mcap"},
               {"--kind furuta --links 3", "--links applies only to a chain, but this is a furuta"},
               {"--kind pendulum --position x", "apply only to a cart or cart-pole"},
               {"--kind furuta --absolute", "applies to a double-pendulum or chain"},
               {"--kind cart-pole --axis-lean 3", "--axis-lean applies to a pendulum"},
               {"--kind pendulum --length 0.3 --center 5",
                "rod: its centre of mass at 5 m lies beyond its tip at 0.3 m"},
               {"--kind double-pendulum --length 0.3,0.2 --center 0.1,0.21", "link2: its centre"},
               {"--kind four-bar --ground 0.1 --length 0.1,0.1,5",
                "the rocker, 5 m, must be shorter than the sum of the other three, 0.3 m"},
               {"--kind four-bar --ground 0.4 --length 0.1,0.1,0.2", "the fixed joints, 0.4 m"}};
  for (const auto& [arguments, part] : wrong) {
    SCOPED_TRACE(arguments);
    run_refused("init " + arguments + out, {part});
    EXPECT_FALSE(std::filesystem::exists(folder.file("rig.textproto")));
  }
}

// A link may extend beyond its joint to the next, and a four-bar may have any lengths that close.
TEST(InitCommand, AcceptsUnusualGeometry) {
  const TemporaryFolder folder;
  for (const char* arguments : {"--kind double-pendulum --length 0.3,0.2 --center 0.31,0.2",
                                "--kind furuta --arm-length 0.2 --arm-center 0.3 --arm-mass 0.1",
                                "--kind four-bar --ground 0.1 --length 0.1,0.1,0.299"}) {
    run_successfully("init --force " + std::string(arguments) + " --out " +
                     folder.file("r.textproto"));
  }
}

/// An interview that gets these answers.
struct Asked {
  explicit Asked(const std::string& said) : in(said) {}

  std::istringstream in;
  std::ostringstream out;
  Interview interview{in, out};
  RigAnswers answers;
};

// Each of three wrong answers repeats the question with one sentence.
TEST(Interview, RepeatsAQuestionUntilTheAnswerIsValid) {
  Asked asked("long\n-1\n0\nnan\n 0.25 \n");
  EXPECT_EQ(asked.interview.ask_positive_number("length [m]", {}), 0.25);
  EXPECT_EQ(count_of(asked.out.str(), "length [m]"), 5) << asked.out.str();
  EXPECT_EQ(count_of(asked.out.str(), "is not a positive number"), 4) << asked.out.str();
}

TEST(Interview, AnEmptyAnswerMeansTheDefaultOrUnknown) {
  Asked asked("\n\n\nn\n");
  Interview& interview = asked.interview;
  EXPECT_EQ(interview.ask_positive_number("length", 0.3), 0.3);
  EXPECT_FALSE(interview.ask_positive_number("mass", {}).has_value());
  EXPECT_TRUE(interview.ask_yes_or_no("right?", true));
  EXPECT_FALSE(interview.ask_yes_or_no("right?", true));
}

TEST(Interview, StopsWhereTheAnswersEnd) {
  Asked asked("no number\n");
  expect_parts(refusal([&] { asked.interview.ask_positive_number("length", {}); }),
               {"nothing was written"});
}

// A whole conversation: each answer must reach its field of the file.
TEST(Interview, AsksForAFuruta) {
  Asked asked(
      "helicopter\nfuruta\n"     // kind
      "0.2\n\n0.129\n0.024\n\n"  // arm: length, mass; pendulum: length, mass, centre
      "y\nn\ny\n");              // columns are right; arm counts down, pendulum up
  RigAnswers& answers = asked.answers;
  ask_rig_kind(asked.interview, answers);
  ask_link_sizes(asked.interview, answers);
  ask_recording_columns(asked.interview, {}, {}, answers);
  EXPECT_EQ(answers.kind, RigKind::kFuruta);
  EXPECT_EQ(answers.links[0].length, 0.2);
  EXPECT_FALSE(answers.links[0].mass.has_value());
  EXPECT_EQ(answers.links[1].length, 0.129);
  EXPECT_EQ(answers.links[1].mass, 0.024);
  EXPECT_FALSE(answers.links[1].center.has_value());
  ASSERT_EQ(answers.readings.size(), 2U);
  EXPECT_TRUE(answers.readings[0].inverted);
  EXPECT_FALSE(answers.readings[1].inverted);
  expect_parts(asked.out.str(), {"\"helicopter\" is not a kind"});
}

TEST(Interview, AsksForUnitAndLimits) {
  Asked asked(
      "serial:///dev/ttyACM0\n"
      "4096\n-90:oops\n-90:90\n25\n"  // counts, range (the first one is invalid), speed
      "1.5\n");                       // largest command
  RigAnswers& answers = asked.answers;
  answers.readings.resize(1);
  answers.motor.emplace();
  ask_unit(asked.interview, answers);
  ASSERT_TRUE(answers.unit.has_value());
  EXPECT_EQ(answers.unit->url, "serial:///dev/ttyACM0");
  EXPECT_EQ(answers.readings[0].counts, 4096.0);
  EXPECT_NEAR(answers.unit->limits.at(0).high, M_PI / 2.0, 1e-15);
  EXPECT_EQ(answers.unit->limits[0].speed, 25.0);
  EXPECT_EQ(answers.unit->command_max, 1.5);
  Asked none("\n");
  ask_unit(none.interview, none.answers);
  EXPECT_FALSE(none.answers.unit.has_value());
}

// A rig whose file init writes with a unit lacks only the commissioning.
TEST(InitCommand, WritesUnitAndSafety) {
  const TemporaryFolder folder;
  const std::string start =
      "init --kind pendulum --no-motor --counts 4096 --out " + folder.file("rig.textproto");
  run_refused(start + " --unit sim:x", {"--unit: give --range MIN:MAX", "omit --command-max"});
  run_refused(start + " --speed-max 20", {"need --unit"});
  run_refused(start + " --unit sim:x --range=5 --speed-max 20", {"MIN:MAX [deg]"});
  run_successfully(start + " --unit serial:///dev/ttyACM0 --range=-180:180 --speed-max 20",
                   {"Still to do at the rig: commissioning",
                    "direction of 1 encoder, and the limits", "rigcal-daq commission --rig"});
  const Rig rig = load_rig(folder.file("rig.textproto"));
  EXPECT_TRUE(rig.has_unit);
  EXPECT_EQ(rig.incomplete_safety, "");
}

// Impossible sizes are reported and asked for again, with the previous answers as proposals.
TEST(Interview, AsksAgainForImpossibleSizes) {
  Asked asked(
      "0.1\n\n\n0.1\n\n\n5\n\n\n0.1\n"  // length, mass, centre of three links; ground
      "\n\n\n\n\n\n0.15\n\n\n\n");
  RigAnswers& answers = asked.answers;
  answers.kind = RigKind::kFourbar;
  ask_link_sizes(asked.interview, answers);
  expect_parts(asked.out.str(), {"cannot be assembled"});
  EXPECT_EQ(answers.links[0].length, 0.1);
  EXPECT_EQ(answers.links[2].length, 0.15);
  EXPECT_EQ(answers.ground, 0.1);
}

// If the guessed columns are wrong, each is asked for.
TEST(Interview, AsksForWronglyGuessedColumns) {
  Asked asked(
      "n\n"                                // wrong
      "clock\na1\nhanging\na2\nupright\n"  // time, joint 1, its zero, joint 2, its zero
      "minutes\ndeg\n2048\nn\n"            // unit (the first answer is invalid), counts, no motor
      "y\ny\ny\n");                        // absolute; both count positive
  RigAnswers& answers = asked.answers;
  answers.kind = RigKind::kDoublePendulum;
  answers.links.resize(2);
  ask_recording_columns(asked.interview, {}, {}, answers);
  EXPECT_EQ(answers.time_column, "clock");
  EXPECT_EQ(answers.readings[0].column, "a1");
  EXPECT_EQ(answers.readings[1].column, "a2");
  EXPECT_EQ(answers.readings[0].rest, 0.0);
  EXPECT_EQ(answers.readings[1].rest, M_PI);
  EXPECT_EQ(answers.readings[1].unit, ReadingUnit::kDegree);
  EXPECT_EQ(answers.readings[0].counts, 2048.0);
  EXPECT_TRUE(answers.absolute);
  EXPECT_FALSE(answers.motor.has_value());
}

// Without the counts per turn, readings in counts are no angles.
TEST(Interview, AsksForUnknownCounts) {
  ColumnProfile time{"t", "t", {"t"}, {}}, count{"enc", "enc", {"enc"}, {}};
  for (int k = 0; k < 500; ++k) {
    time.values.push_back(0.01 * k);
    count.values.push_back(std::round(1000.0 + 200.0 * std::cos(0.06 * k)));
  }
  time.rising = count.moves = count.whole = true;
  time.constant = count.constant = false;
  count.low = 800.0;
  count.high = 1200.0;
  // Right columns; an empty answer is repeated; or wrong columns, which are in counts all the same.
  for (const char* said : {"y\n\n2000\n", "n\nt\nenc\nupright\ncount\nn\n2000\n"}) {
    Asked asked(said);
    asked.answers.links.resize(1);
    ask_recording_columns(asked.interview, {time, count}, {}, asked.answers);
    EXPECT_EQ(asked.answers.readings.at(0).unit, ReadingUnit::kCount);
    EXPECT_EQ(asked.answers.readings.at(0).counts, 2000.0);
    EXPECT_NEAR(asked.answers.readings.at(0).rest, M_PI, 0.01);  // 1000 counts, at the middle
    expect_parts(asked.out.str(), {"enc in count, 2000 counts/turn"});
  }
  Asked given("y\n");
  given.answers.links.resize(1);
  ColumnChoice choice;
  choice.counts = {4000.0};
  ask_recording_columns(given.interview, {time, count}, choice, given.answers);
  EXPECT_EQ(given.answers.readings.at(0).counts, 4000.0);
}

}  // namespace
}  // namespace service
