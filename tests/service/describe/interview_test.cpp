#include "service/rig/init/interview.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "service/rig/init/rig_interview.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using test_support::count_of;
using test_support::refusal;

// Each of three wrong answers repeats the question with one sentence.
TEST(Interview, RepeatsAQuestionUntilTheAnswerIsValid) {
  std::istringstream in("long\n-1\n0\nnan\n 0.25 \n");
  std::ostringstream out;
  Interview interview(in, out);
  EXPECT_EQ(interview.ask_size("length [m]", {}), 0.25);
  EXPECT_EQ(count_of(out.str(), "length [m]"), 5) << out.str();
  EXPECT_EQ(count_of(out.str(), "is not a positive number"), 4) << out.str();
}

TEST(Interview, AnEmptyAnswerIsTheProposedOneOrNotKnown) {
  std::istringstream in("\n\n\nn\n");
  std::ostringstream out;
  Interview interview(in, out);
  EXPECT_EQ(interview.ask_size("length", 0.3), 0.3);
  EXPECT_FALSE(interview.ask_size("mass", {}).has_value());
  EXPECT_TRUE(interview.ask_yes("right?", true));
  EXPECT_FALSE(interview.ask_yes("right?", true));
}

TEST(Interview, StopsWhereTheAnswersEnd) {
  std::istringstream in("no number\n");
  std::ostringstream out;
  Interview interview(in, out);
  EXPECT_NE(refusal([&] { interview.ask_size("length", {}); }).find("nothing was written"),
            std::string::npos);
}

// A whole conversation: each answer must reach its field of the file.
TEST(Interview, AsksForAFuruta) {
  std::istringstream in(
      "helicopter\nfuruta\n"     // kind
      "0.2\n\n0.129\n0.024\n\n"  // arm: length, mass; pendulum: length, mass, centre
      "y\nn\ny\n");              // columns are right; arm counts down, pendulum up
  std::ostringstream out;
  Interview interview(in, out);
  RigAnswers answers;
  ask_kind(interview, answers);
  ask_links(interview, answers);
  ask_columns(interview, {}, {}, answers);
  EXPECT_EQ(answers.kind, RigKind::kFuruta);
  EXPECT_EQ(answers.links[0].length, 0.2);
  EXPECT_FALSE(answers.links[0].mass.has_value());
  EXPECT_EQ(answers.links[1].length, 0.129);
  EXPECT_EQ(answers.links[1].mass, 0.024);
  EXPECT_FALSE(answers.links[1].center.has_value());
  ASSERT_EQ(answers.readings.size(), 2U);
  EXPECT_TRUE(answers.readings[0].inverted);
  EXPECT_FALSE(answers.readings[1].inverted);
  EXPECT_NE(out.str().find("\"helicopter\" is not a kind"), std::string::npos) << out.str();
}

// Impossible sizes are reported and asked for again, with the previous answers as proposals.
TEST(Interview, AsksAgainForImpossibleSizes) {
  std::istringstream in(
      "0.1\n\n\n0.1\n\n\n5\n\n\n0.1\n"  // length, mass, centre of three links; ground
      "\n\n\n\n\n\n0.15\n\n\n\n");
  std::ostringstream out;
  Interview interview(in, out);
  RigAnswers answers;
  answers.kind = RigKind::kFourbar;
  ask_links(interview, answers);
  EXPECT_NE(out.str().find("cannot be assembled"), std::string::npos) << out.str();
  EXPECT_EQ(answers.links[0].length, 0.1);
  EXPECT_EQ(answers.links[2].length, 0.15);
  EXPECT_EQ(answers.ground, 0.1);
}

// If the guessed columns are wrong, each is asked for.
TEST(Interview, AsksForWronglyGuessedColumns) {
  std::istringstream in(
      "n\n"                                // wrong
      "clock\na1\nhanging\na2\nupright\n"  // time, joint 1, its zero, joint 2, its zero
      "minutes\ndeg\n2048\nn\n"            // unit (the first answer is invalid), counts, no motor
      "y\ny\ny\n");                        // absolute; both count positive
  std::ostringstream out;
  Interview interview(in, out);
  RigAnswers answers;
  answers.kind = RigKind::kDoublePendulum;
  answers.links.resize(2);
  ask_columns(interview, {}, {}, answers);
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

}  // namespace
}  // namespace service
