#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include "tests/support/temporary_folder.hpp"

// Behaviour that all four programs share.

namespace {

struct Program {
  std::string name;
  std::string path;
  int bad_usage;  // exit status, as --help documents it
};

struct ProgramRun {
  int exit_code = -1;  // 128 + signal when one ended it
  std::string err;
};

ProgramRun run(const Program& program, const std::string& arguments, const std::string& out) {
  const test_support::TemporaryFolder folder;
  const std::string line =
      program.path + " " + arguments + " >" + out + " 2>" + folder.file("err") + " </dev/null";
  const int status = std::system(line.c_str());
  std::ostringstream err;
  err << std::ifstream(folder.file("err")).rdbuf();
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), err.str()};
}

class EveryProgram : public ::testing::TestWithParam<Program> {};

TEST_P(EveryProgram, FailsWhenItsOutputIsLost) {
  for (const char* option : {"--help", "--version"}) {
    EXPECT_EQ(run(GetParam(), option, "/dev/null").exit_code, 0);
    for (const char* out : {"/dev/full", "&-"}) {
      const ProgramRun failed = run(GetParam(), option, out);
      EXPECT_EQ(failed.exit_code, 1) << option << out;
      EXPECT_NE(failed.err.find(GetParam().name + ": standard output could not be written"),
                std::string::npos)
          << failed.err;
    }
  }
}

TEST_P(EveryProgram, EndsBadUsageWithOneExitStatus) {
  for (const char* arguments : {"--frobnicate", "--config", "--config ''", "frobnicate"}) {
    const ProgramRun refused = run(GetParam(), arguments, "/dev/null");
    EXPECT_EQ(refused.exit_code, GetParam().bad_usage) << arguments;
    EXPECT_NE(refused.err, "") << arguments;
  }
}

// Messages repeat the user's text, which may contain any characters if pasted from elsewhere.
TEST_P(EveryProgram, EscapesWhatItRepeats) {
  const ProgramRun refused = run(GetParam(), "'--no\x1b[2Jsuch\xc2\x9b'", "/dev/null");
  EXPECT_EQ(refused.exit_code, GetParam().bad_usage);
  EXPECT_EQ(refused.err.find('\x1b'), std::string::npos);
  EXPECT_EQ(refused.err.find("\xc2\x9b"), std::string::npos);
}

// For both programs that have commands.
TEST(Programs, SuggestTheIntendedCommand) {
  const std::pair<Program, std::pair<std::string, std::string>> kMistyped[] = {
      {{"rigcal", RIGCAL_BINARY, 1}, {"calibrat run.csv", "\"calibrate\""}},
      {{"rigcal-daq", RIGCAL_DAQ, 2}, {"prob --rig x", "\"probe\""}}};
  for (const auto& [program, words] : kMistyped) {
    const ProgramRun refused = run(program, words.first, "/dev/null");
    EXPECT_EQ(refused.exit_code, program.bad_usage);
    EXPECT_NE(refused.err.find("unknown command"), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find("did you mean " + words.second), std::string::npos) << refused.err;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryProgram,
                         ::testing::Values(Program{"rigcal", RIGCAL_BINARY, 1},
                                           Program{"rigcal-daq", RIGCAL_DAQ, 2},
                                           Program{"rigcal-sim", RIGCAL_SIM, 1},
                                           Program{"rigcald", RIGCALD, 1}),
                         [](const auto& entry) {
                           std::string name = entry.param.name;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
