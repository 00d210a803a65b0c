#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

#include "estimator/model/mechanism.hpp"
#include "proto/text/files.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/support/source_folder.hpp"

namespace service {
namespace {

Rig load(const std::string& name) {
  return load_rig(test_support::source_folder() + "/configs/" + name);
}

double value_of(const Rig& rig, const std::string& parameter) {
  const int index = rig.mechanism.find_parameter(parameter);
  EXPECT_GE(index, 0) << parameter;
  return index < 0 ? NAN : rig.mechanism.parameters[static_cast<std::size_t>(index)].value;
}

int free_count(const Rig& rig) {
  int count = 0;
  for (const estimator::Parameter& parameter : rig.mechanism.parameters) count += parameter.free;
  return count;
}

// Catches a config that is out of date with the schema, or whose columns do not match its joints.
// Does not check whether the numbers are those of the rig.
TEST(ConfigFiles, RigFilesLoadAndDescribeTheirRecordings) {
  struct Expected {
    const char* file;
    int joints;
    int motors;
    int free;
    int unread = 0;  // joints without an encoder
  };
  const Expected files[] = {{"rig-multiarm-single.textproto", 1, 0, 5},
                            {"rig-lund-furuta.textproto", 2, 0, 4},
                            {"rig-qube-servo2.textproto", 2, 1, 14},
                            {"rig-dfki-pendulum.textproto", 1, 1, 5},
                            {"rig-synthetic-furuta.textproto", 2, 1, 10},
                            {"rig-furuta.textproto", 2, 1, 10},
                            {"rig-synthetic-pendulum.textproto", 1, 0, 5},
                            {"rig-pendulum.textproto", 1, 0, 4},
                            {"rig-pendulum-stop.textproto", 1, 0, 4},
                            {"rig-chain3.textproto", 3, 0, 6},
                            {"rig-chain3imu.textproto", 3, 1, 28},
                            {"rig-cartpole.textproto", 2, 1, 7},
                            {"rig-multiarm-double.textproto", 2, 0, 11},
                            {"rig-dfki-double-pendulum.textproto", 2, 2, 13},
                            {"rig-fourbar.textproto", 4, 1, 12, 2},
                            {"rig-fivebar.textproto", 5, 2, 18, 3},
                            {"rig-leg.textproto", 6, 3, 31, 2},
                            {"rig-leg-ratio.textproto", 3, 3, 30}};
  for (const Expected& expected : files) {
    SCOPED_TRACE(expected.file);
    const Rig rig = load(expected.file);
    EXPECT_EQ(rig.mechanism.joint_count(), expected.joints);
    EXPECT_EQ(free_count(rig), expected.free);
    ASSERT_TRUE(rig.format.has_value());
    EXPECT_EQ(static_cast<int>(rig.format->angles.size()), expected.joints - expected.unread);
    EXPECT_EQ(static_cast<int>(rig.format->controls.size()), expected.motors);
  }
}

// The Lund pendulum's published inertia is physically inconsistent; the file has an equivalent one.
// The three combinations identifiable from angles must equal the published ones.
TEST(ConfigFiles, LundInertiasKeepThePublishedCombinations) {
  const Rig rig = load("rig-lund-furuta.textproto");
  EXPECT_NEAR(value_of(rig, "A.J_zz") + value_of(rig, "B.J_xx"), 0.001 + 0.001, 1e-12);
  EXPECT_NEAR(value_of(rig, "B.J_zz") - value_of(rig, "B.J_xx"), 0.001 - 0.001, 1e-12);
  EXPECT_NEAR(value_of(rig, "B.J_yy"), 0.00384, 1e-12);
}

// Zero must be hanging: with a recording "from upright" that hangs at π the estimate would start
// upside down.
TEST(ConfigFiles, AnglesFromUprightAreZeroWhenHanging) {
  for (const char* file : {"rig-multiarm-single.textproto", "rig-lund-furuta.textproto"}) {
    const Rig rig = load(file);
    const EncoderColumn& angle = rig.format->angles.back();
    EXPECT_NEAR(angle.scale * std::numbers::pi + angle.offset, 0.0, 1e-12) << file;
  }
}

// The rig files shown in the documentation must load.
TEST(Documents, RigFilesTheyShowLoad) {
  int shown = 0;
  for (const char* name : {"README.md", "docs/reference/rig-file.md"}) {
    const std::string text = proto::read_file(test_support::source_folder() + "/" + name);
    const std::string open = "```textproto\n";
    for (std::size_t at = text.find(open); at != std::string::npos; at = text.find(open, at)) {
      at += open.size();
      const Rig rig = parse_rig(name, text.substr(at, text.find("```", at) - at));
      EXPECT_TRUE(rig.format.has_value()) << name;
      EXPECT_TRUE(estimator::find_errors(rig.mechanism).empty()) << name;
      ++shown;
    }
  }
  EXPECT_GE(shown, 1);
}

}  // namespace
}  // namespace service
