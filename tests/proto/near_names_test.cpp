#include "proto/text/spelling_suggestions.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace proto {
namespace {

const std::vector<std::string> kNames = {"calibrate", "check", "compare", "info"};

// Typing errors: a missing, an extra, a wrong and two exchanged letters.
TEST(NearNames, SuggestTheIntendedName) {
  for (const char* name : {"calibrat", "calibratee", "calibrote", "claibrate", "Calibrate"}) {
    EXPECT_EQ(did_you_mean(name, kNames), "; did you mean \"calibrate\"?") << name;
  }
  EXPECT_EQ(did_you_mean("inf", kNames), "; did you mean \"info\"?");
}

// A suggestion that nobody can have meant would hide that there is none.
TEST(NearNames, SuggestNothingFarOff) {
  for (const char* name : {"run.csv", "fit", "x", "", "prepare"}) {
    EXPECT_EQ(did_you_mean(name, kNames), "") << name;
  }
  EXPECT_EQ(did_you_mean("calibrate", {}), "");
}

TEST(NearNames, ComeNearestFirst) {
  EXPECT_EQ(similar_names("chek", kNames, 2), (std::vector<std::string>{"check", "info"}));
  EXPECT_EQ(similar_names("info", kNames, 9).size(), kNames.size());
  EXPECT_EQ(similar_names("info", kNames, 9).front(), "info");
}

}  // namespace
}  // namespace proto
