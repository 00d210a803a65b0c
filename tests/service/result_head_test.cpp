// Results of other commands, given where one of calibrate is expected.
#include "service/result/result_header.hpp"

#include <gtest/gtest.h>

#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using test_support::expect_parts;
using test_support::refusal;

const std::string kCompared = R"({"rig": "pendulum", "version": "0.1.0", "verdict": "take viscous",
  "parts": ["a to b"], "provenance": {"command": "compare", "date": "2026-11-24T10:50:07Z",
  "version": "0.1.0", "rig": {"path": "t1.textproto"}, "recordings": [{"path": "run 1.csv"}]}})";

TEST(ResultHeader, IdentifiesTheCommandOfAResult) {
  const TemporaryFolder folder;
  const ResultHeader head = read_result_header(folder.write("c.json", kCompared));
  EXPECT_EQ(head.command, "compare");
  EXPECT_EQ(head.recordings, (std::vector<std::string>{"run 1.csv"}));
  EXPECT_EQ(describe_result(head), "a result of \"rigcal compare\" 0.1.0 of 2026-11-24T10:50:07Z");
}

// The command is checked before other fields are read, which may not be a calibration's.
TEST(ResultHeader, OnlyCalibrationsAreRepeated) {
  const TemporaryFolder folder;
  const ProgramRun run = run_refused("repeat " + folder.write("c.json", kCompared),
                                     {"c.json: is a result of \"rigcal compare\"",
                                      "only results of \"rigcal "
                                      "calibrate\" and of jobs",
                                      "rigcal compare run 1.csv --rig t1.textproto"});
  EXPECT_EQ(run.err.find("type.googleapis"), std::string::npos) << run.err;
}

TEST(ResultHeader, InfoPrintsIt) {
  const TemporaryFolder folder;
  run_successfully(
      "info " + folder.write("c.json", kCompared),
      {"a result of \"rigcal compare\"", "pendulum (t1.textproto)", "run 1.csv", "Take viscous."});
}

TEST(ResultHeader, OtherFilesAreRefusedWithARemedy) {
  const TemporaryFolder folder;
  expect_parts(refusal([&] { (void)read_result_header(folder.write("a.json", "{\"a\": 1}")); }),
               {"a.json: not a result of rigcal", "--json"});
  expect_parts(refusal([&] { (void)read_result_header(folder.write("b.json", "{\"a\": ")); }),
               {"b.json: not JSON", "--json"});
}

}  // namespace
}  // namespace service
