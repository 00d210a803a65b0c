#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "proto/recording/recording_writer.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"

// A program whose output is lost has failed, and must report it.

namespace service {
namespace {

using test_support::expect_parts;

/// Result of a shell command line with rigcal's path in it; standard error is kept.
ProgramRun run_shell(const std::string& before, const std::string& arguments,
                     const std::string& after) {
  const TemporaryFolder folder;
  const std::string line = before + " " + RIGCAL_BINARY + " " + arguments + " " + after + " 2>" +
                           folder.file("err") + " </dev/null";
  const int status = std::system(line.c_str());
  ProgramRun run;
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.err = contents_of(folder.file("err"));
  return run;
}

std::string write_recording(const TemporaryFolder& folder, const std::string& rig) {
  auto writer = proto::RecordingWriter::create(
      folder.file("run.mcap"), {.joints = {"arm"}, .epoch_unix_ns = 1, .facts = {{"rig", rig}}});
  EXPECT_TRUE(writer.ok());
  for (std::uint64_t k = 0; k < 10; ++k) {
    proto::Sample sample;
    sample.timestamp_s = 1e-3 * static_cast<double>(k);
    sample.sequence = k;
    sample.device_time_us = static_cast<std::int64_t>(1000 * k);
    sample.channel_count = 1;
    sample.valid = {true};
    EXPECT_TRUE(writer.value().write(sample).ok());
  }
  EXPECT_TRUE(writer.value().finish().ok());
  return folder.file("run.mcap");
}

TEST(FailedOutput, IsExitStatusOneWithASentence) {
  const TemporaryFolder folder;
  const std::string recording = write_recording(folder, "furuta");
  for (const std::string& arguments : std::vector<std::string>{
           "--help", "--version", "info " + config("rig-furuta.textproto"), "info " + recording,
           "export " + recording + " --out " + folder.file("a.csv"),
           "recover " + recording + " --out " + folder.file("b.mcap"),
           "simulate --rig " + config("rig-furuta.textproto") + " --scenario " +
               config("scenario-step.textproto") + " --step 1e-3 --out " + folder.file("s.csv")}) {
    for (const char* after : {">/dev/full", ">&-"}) {
      SCOPED_TRACE(arguments + after);
      for (const char* made : {"a.csv", "b.mcap"}) std::filesystem::remove(folder.file(made));
      const ProgramRun run = run_shell("", arguments, after);
      EXPECT_EQ(run.exit_code, 1);
      expect_parts(run.err, {"rigcal: standard output could not be written"});
    }
  }
}

// With standard output closed, the first file that a program opens would take its number, and the
// table would be written into it.
TEST(FailedOutput, DoesNotGoIntoAnotherFile) {
  const TemporaryFolder folder;
  const std::string recording = write_recording(folder, "furuta");
  run_shell("", "export " + recording + " --out " + folder.file("a.csv"), ">&-");
  const std::string exported = contents_of(folder.file("a.csv"));
  EXPECT_TRUE(exported.starts_with("time_s,arm_rad"));
  EXPECT_EQ(exported.find("samples"), std::string::npos);
}

// A reader that stops early is no failure: "rigcal info … | head -1" is quiet and ends by SIGPIPE,
// as shells expect. If that signal is ignored, an error is printed.
TEST(FailedOutput, OfAReaderThatLeftEndsBySigpipe) {
  const TemporaryFolder folder;
  const std::string fifo = folder.file("fifo");
  const std::string reader = "mkfifo " + fifo + "; true <" + fifo + " & ( sleep 0.2; ";
  const std::string info = "info " + config("rig-furuta.textproto");
  const std::string after = "; echo $? >" + folder.file("status") + " ) >" + fifo;
  const ProgramRun plain = run_shell(reader + "env --default-signal=PIPE", info, after);
  EXPECT_EQ(contents_of(folder.file("status")), "141\n");
  EXPECT_EQ(plain.err, "");

  std::filesystem::remove(fifo);
  const ProgramRun ignoring = run_shell(reader + "env --ignore-signal=PIPE", info, after);
  EXPECT_EQ(contents_of(folder.file("status")), "1\n");
  expect_parts(ignoring.err, {"standard output could not be written", "Broken pipe"});
}

// Text from a file must not control the reader's terminal.
TEST(ForeignText, ReachesTheTerminalEscaped) {
  const TemporaryFolder folder;
  const std::string recording = write_recording(folder,
                                                "x\x1b]0;owned\x07\nfaked line\xc2\x9b"
                                                "31m\u202e");
  const ProgramRun run = run_successfully(
      "info " + recording, {"x\\u001b]0;owned\\u0007\\u000afaked line\\u009b31m\\u202e"});
  for (const char c : run.out) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20);

  const std::string csv = folder.write("a.csv", "t,an\x1b[2Jgle\n0,1\n1,2\n2,3\n");
  const ProgramRun columns = run_rigcal("info " + csv);
  expect_parts(columns.out, {"an\\u001b[2Jgle"});
  run_refused("info '/nowhere/\x1b[2J.csv'", {"/nowhere/\\u001b[2J.csv"});
}

TEST(Usage, RefusesEmptyTextsAndNumbersThatAreNone) {
  const std::string rig = config("rig-furuta.textproto");
  for (const std::string& arguments : std::vector<std::string>{
           "calibrate x.csv --rig " + rig + " --json ''", "calibrate x.csv --rig ''",
           "calibrate '' --rig " + rig, "calibrate x.csv --rig " + rig + " --step nan",
           "calibrate x.csv --rig " + rig + " --step 1e9",
           "simulate --rig " + rig + " --scenario s --out o --step 1e9",
           "crossvalidate x.csv --rig " + rig + " --piece-length nan", "jobs ''", "frobnicate",
           ""}) {
    const ProgramRun run = run_rigcal(arguments);
    EXPECT_EQ(run.exit_code, 1) << arguments;
    EXPECT_EQ(run.out, "") << arguments;
    EXPECT_NE(run.err, "") << arguments;
  }
}

}  // namespace
}  // namespace service
