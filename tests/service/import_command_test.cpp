#include <gtest/gtest.h>

#include <string>

#include "tests/service/run_rigcal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using test_support::expect_parts;

const std::string kOneLink =
    "<robot name='r'><link name='base'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
    "izz='1'/></inertial></link><link name='rod'><inertial><mass value='1'/><inertia ixx='0.01' "
    "iyy='0.01' izz='0.01'/></inertial></link><joint name='j' type='continuous'><parent "
    "link='base'/><child link='rod'/></joint></robot>";

TEST(ImportCommand, OverwritesOnlyWithForce) {
  const TemporaryFolder folder;
  const std::string robot = folder.write("r.urdf", kOneLink);
  const std::string out = folder.write("r.textproto", "precious");
  const std::string command = "import " + robot + " --out " + out;
  const ProgramRun refused = run_rigcal(command);
  EXPECT_EQ(refused.exit_code, 1);
  expect_parts(refused.err, {out + ": exists", "--force"});
  EXPECT_EQ(contents_of(out), "precious");
  run_successfully(command + " --force --joints j", {"1 body, 1 moving joint;"});
  run_successfully("import " + robot + " --out /dev/stdout", {"name: \"r\""});
}

TEST(ImportCommand, ReportsGravity) {
  const TemporaryFolder folder;
  const ProgramRun run = run_rigcal("import " + folder.write("r.urdf", kOneLink));
  expect_parts(run.err, {"note: gravity is 9.80665 m/s² (standard gravity"});
  expect_parts(run.out, {"gravity {", "value: 9.80665"});
}

// The world does not move.
TEST(ImportCommand, RefusesAFloatingWorld) {
  const TemporaryFolder folder;
  const std::string text = test_support::replaced(
      kOneLink, "</robot>",
      "<joint name='w' type='fixed'><parent link='world'/><child link='base'/></joint></robot>");
  const ProgramRun run = run_rigcal("import --floating " + folder.write("r.urdf", text));
  EXPECT_EQ(run.exit_code, 1);
  expect_parts(run.err, {"attached to the link \"world\""});
  run_successfully("import --floating " + folder.write("b.urdf", kOneLink),
                   {"type: FREE", "free_qw"});
}

}  // namespace
}  // namespace service
