#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "proto/recording/recording_writer.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;

/// Rows of a swing as the pendulum rig file expects them.
std::string swing_csv(int rows, double scale = 1.0) {
  std::ostringstream text;
  text << "t_s,theta1_rad\n";
  for (int k = 0; k < rows; ++k) {
    text << 0.001 * k << ',' << scale * std::cos(0.0075 * k) << '\n';
  }
  return text.str();
}

/// The same with time stamps in milliseconds.
std::string milliseconds(const std::string& csv) {
  std::istringstream lines(csv);
  std::ostringstream text;
  std::string line;
  std::getline(lines, line);
  text << line << '\n';
  while (std::getline(lines, line)) {
    text << 1e3 * std::stod(line) << line.substr(line.find(',')) << '\n';
  }
  return text.str();
}

TEST(CommandLine, HelpHasExamplesAndVersionIsPrinted) {
  run_successfully("--help", {"calibrate", "simulate", "info", "Examples:", "130"});
  for (const char* command :
       {"calibrate", "crossvalidate", "bootstrap", "batch", "work", "simulate", "info", "export",
        "recover", "sessions", "jobs", "watch", "cancel", "result", "report"}) {
    const ProgramRun help = run_successfully(std::string(command) + " --help", {"Example"});
    const std::string examples = help.out.substr(help.out.find("Example"));
    expect_parts(examples, {std::string("\n  rigcal ") + command});
  }
  run_successfully("calibrate --help", {"rigcal calibrate run.csv --rig rig.textproto --server "});
  run_successfully("--version", {"rigcal "});
}

TEST(CommandLine, SuggestsTheNearestCommand) {
  expect_refused("calibrat run.csv",
                 {"unknown command \"calibrat\"", "did you mean \"calibrate\"?", "rigcal --help"});
  expect_refused("run.csv", {"unknown command \"run.csv\"", "rigcal --help"});
  EXPECT_EQ(run_rigcal("run.csv").err.find("did you mean"), std::string::npos);
  expect_refused("", {"a command is missing", "rigcal --help"});
  EXPECT_EQ(run_rigcal("info").err.find("unknown command"), std::string::npos);
}

// Every wrong use of an option gives one sentence that starts with the program's name.
TEST(CommandLine, ReportsInvalidOptionsOfAllCommandsInOneForm) {
  const std::pair<const char*, const char*> wrongs[] = {
      {"check x --rig y --stpe 3",
       "unknown option \"--stpe\"; did you mean \"--step\"? (see rigcal check --help)"},
      {"calibrate x --rgi y", "unknown option \"--rgi\" (see rigcal calibrate --help)"},
      {"calibrate x --rig y --xyzzy=3", "unknown option \"--xyzzy\" (see rigcal"},
      {"--bogus", "unknown option \"--bogus\" (see rigcal --help)"},
      {"info x y", "\"y\" is an unexpected argument (see rigcal info"},
      {"crossvalidate x --rig y --parts 1001",
       "--parts: \"1001\" is not a whole number from 1 to 1000 (see rigcal crossvalidate --help)"},
      {"crossvalidate x --rig y --parts 0", "--parts: \"0\" is not a whole number from 1 to 1000"},
      {"crossvalidate x --rig y --parts 1.5", "--parts: \"1.5\" is not a whole number"},
      {"calibrate x --rig y --step 0,001",
       "--step: \"0,001\" is not between 100e-9 and 1; write a decimal point: 0.001 (see rigcal"},
      {"calibrate x --rig y --state-error-weight 1,5",
       "\"1,5\" is not a positive number; write a decimal point"},
      {"calibrate x --rig y --step a,b", "--step: \"a,b\" is not between 100e-9 and 1 (see rigcal"},
      {"calibrate x --rig y --step 1,2,3",
       "--step: \"1,2,3\" is not between 100e-9 and 1 (see rigcal"},
      {"calibrate x --rig y --step", "--step: a value is missing (see rigcal calibrate --help)"},
      {"calibrate x", "--rig is required (see rigcal calibrate --help)"}};
  for (const auto& [arguments, said] : wrongs) {
    const ProgramRun run = run_refused(arguments, {said});
    EXPECT_EQ(run.err.find("rigcal: "), 0U) << run.err;
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
  }
}

// Every option with a set of choices lists them, instead of the parser's message.
TEST(CommandLine, ListsTheChoicesForAWrongOne) {
  const std::pair<const char*, std::vector<std::string>> choices[] = {
      {"calibrate x --rig y --states half", {"--states", "\"half\" is not configurations or full"}},
      {"calibrate x --rig y --residual half", {"--residual", "is not explicit or implicit"}},
      {"calibrate x --rig y --inertias entrie", {"--inertias", "did you mean \"entries\"?"}},
      {"crossvalidate x --rig y --by part", {"--by", "is not recording or segment"}},
      {"compare x --rig y --by part", {"--by", "is not recording, segment or window"}},
      {"estimate x --rig y --out z --only angel", {"--only", "\"angel\"", "angle, "}},
      {"simulate --integrator euler", {"--integrator", "is not physical or spook"}},
      {"design --kind pulse", {"--kind", "did you mean \"pulses\"?"}},
      {"--completion csh", {"--completion", "is not bash, zsh or fish"}}};
  for (const auto& [arguments, parts] : choices) {
    SCOPED_TRACE(arguments);
    const ProgramRun run = run_refused(arguments, parts);
    EXPECT_EQ(run.err.find("FAILED"), std::string::npos) << run.err;
  }
}

// Every bad recording gives a non-zero exit status and one message with file, line and remedy.
TEST(CommandLine, BadRecordingsAreRefusedWithPlaceAndRemedy) {
  const TemporaryFolder folder;
  const std::string good = swing_csv(200);
  struct Bad {
    const char* name;
    std::string text;
    std::vector<std::string> parts;
  };
  const Bad bads[] = {
      {"missing.csv",
       replaced(good, "theta1_rad", "phi"),
       {":1", "no column \"theta1_rad\"", "\"t_s\", \"phi\""}},
      {"nan.csv", replaced(good, "\n0.05,", "\n0.05,nan\n0.0505,"), {":52:2", "\"nan\""}},
      {"text.csv", replaced(good, "\n0.05,", "\n0.05,x"), {":52:2", "not a finite number"}},
      {"backwards.csv", replaced(good, "\n0.05,", "\n0.04,"), {":52:1", "backwards"}},
      {"degrees.csv", swing_csv(200, 57.3), {":2", "unit: DEGREE"}},
      {"short.csv", swing_csv(9), {"too short"}},
      {"brief.csv", swing_csv(30), {"brief.csv with", "record longer", "10 samples or more"}},
      {"milliseconds.csv", milliseconds(good), {"would be 1 s", "MILLISECOND", "\"t_s\""}},
      {"rest.csv", swing_csv(200, 0.0), {"no motion", "encoders"}},
      {"ragged.csv", replaced(good, "\n0.05,", "\n0.05,0,"), {":52", "3 cells"}},
      {"empty.csv", "", {"empty"}},
      {"rows.csv", "t_s,theta1_rad\n", {"no rows"}},
      {"binary.csv", std::string("\0\1\2\3", 4), {"not a text file"}},
      {"headless.csv", good.substr(good.find('\n') + 1), {":1", "no header line", "\"1\", \"2\""}}};
  for (const Bad& bad : bads) {
    SCOPED_TRACE(bad.name);
    const std::string file = folder.write(bad.name, bad.text);
    std::vector<std::string> parts = bad.parts;
    parts.push_back(bad.name);
    expect_refused("calibrate " + file + " --rig " + config("rig-pendulum.textproto"), parts);
    // A recording too short for a calibration may still be inspected.
    if (bad.name == std::string("brief.csv")) continue;
    expect_refused("info " + file + " --rig " + config("rig-pendulum.textproto"), parts);
  }
  expect_refused("calibrate /nowhere.csv --rig " + config("rig-pendulum.textproto"),
                 {"/nowhere.csv", "cannot be opened"});
}

TEST(CommandLine, BadRigFilesAreRefusedWithPlaceAndRemedy) {
  const TemporaryFolder folder;
  const std::string recording = folder.write("run.csv", swing_csv(200));
  const std::string good = contents_of(config("rig-pendulum.textproto"));
  const auto expect_rig = [&](const std::string& text, const std::vector<std::string>& parts) {
    const std::string rig = folder.write("rig.textproto", text);
    expect_refused("calibrate " + recording + " --rig " + rig, parts);
    expect_refused("info " + rig, parts);
  };
  expect_rig(replaced(good, "mass {", "mas {"), {"rig.textproto:", "unknown field \"mas\""});
  expect_rig(replaced(good, "zz { value: 0.01", "xy { value: 1 } zz { value: 0.01"),
             {"rig.textproto:", "not positive definite"});
  expect_rig(replaced(good, "value: 0.428", "value: -0.428"), {"rig.textproto:", "bounds"});
  expect_rig(replaced(good, "mass {", "mass {{"), {"rig.textproto:"});
  expect_rig("", {"rig.textproto", "no bodies"});
  expect_refused("calibrate " + recording + " --rig /nowhere.textproto",
                 {"/nowhere.textproto", "cannot be opened"});
  expect_refused("calibrate " + recording + " --rig " + recording, {"run.csv:1:"});
  const std::string blind =
      folder.write("blind.textproto", good.substr(0, good.find("recording {")));
  expect_refused("calibrate " + recording + " --rig " + blind,
                 {"blind.textproto", "has no recording { }"});
}

TEST(CommandLine, BadOptionsAreRefused) {
  const TemporaryFolder folder;
  const std::string recording = folder.write("run.csv", swing_csv(200));
  const std::string base =
      "calibrate " + recording + " --rig " + config("rig-pendulum.textproto") + " ";
  expect_refused(base + "--fix pendulum.Jzz", {"--fix", "did you mean pendulum.J_zz"});
  expect_refused(base + "--fix pendulum.J_zz=heavy", {"\"heavy\" is not a number", "kg·m²"});
  expect_refused(base + "--start pendulum.J_zz=-1", {"outside its bounds"});
  // An option takes one name: a recording after it is a recording.
  expect_refused(
      "calibrate --rig " + config("rig-pendulum.textproto") + " --fix pivot.b /nowhere/run.csv",
      {"/nowhere/run.csv", "cannot be opened"});
  expect_refused(base + "--segments 3", {"no segment 3"});
  expect_refused(base + "--from 5", {"widen --from"});
  expect_refused(base + "--from 2 --to 1", {"--from must be less than --to"});
  expect_refused(base + "--json " + recording, {"is an input"});
  expect_refused(base + "--json /nowhere/x.json --quiet", {"/nowhere/x.json", "does not exist"});
  run_refused(base + "--residual wrong", {});
  EXPECT_EQ(contents_of(recording), swing_csv(200));
}

TEST(CommandLine, InfoShowsRateSegmentsAndParameters) {
  const TemporaryFolder folder;
  const std::string recording = folder.write("run.csv", swing_csv(200));
  const std::string rig = config("rig-pendulum.textproto");
  run_successfully("info " + recording + " --rig " + rig,
                   {"200 rows at 1000 Hz", "0 gaps", "angle of joint pivot [rad]"});
  run_successfully("info " + recording, {"200 rows", "theta1_rad"});
  run_successfully("info " + rig, {"pendulum.J_zz", "kg·m²", "free", "pivot", "ground"});
}

// `info` shows the rig file's own values and only counts the others.
TEST(CommandLine, InfoOmitsParametersFixedAtZero) {
  const TemporaryFolder folder;
  const std::string rig = folder.write("rig.textproto", R"(
    body {
      name: "rod"
      mass { value: 0.2 }
      inertia { xx { value: 1e-4 } yy { value: 1e-3 } zz { value: 1e-3 } }
      center_of_mass { x { value: 0.1 } }
    }
    joint {
      name: "pivot"
      parent { body: "ground" axis { z: 1 } zero_direction { x: 1 } }
      child { body: "rod" axis { z: 1 } zero_direction { x: 1 } }
      friction { coulomb_torque { value: 0 free: true } }
      encoder { offset { value: 0 prior_standard_deviation: 0.01 } }
    })");
  const ProgramRun brief = run_rigcal("info " + rig), all = run_rigcal("info --all " + rig);
  EXPECT_EQ(brief.exit_code, 0) << brief.err;
  EXPECT_EQ(all.exit_code, 0) << all.err;
  // Shown: free, with a prior, dependent (a point shifted by the centre of mass), and non-zero.
  expect_parts(brief.out, {"pivot.tau_c", "pivot.offset", "pivot.b_y", "rod.m", "gravity.g"});
  for (const char* const zero : {"rod.J_xy", "pivot.tau_0", "pivot.zeta", "gravity.tilt_x"}) {
    EXPECT_EQ(brief.out.find(zero), std::string::npos) << zero;
    expect_parts(all.out, {zero});
  }
  const auto lines = [](const std::string& text) { return std::ranges::count(text, '\n'); };
  const std::string count = std::to_string(lines(all.out) - lines(brief.out) + 2);
  expect_parts(brief.out,
               {"\n" + count +
                " more parameters are fixed at zero or without effect; add --all to list them.\n"});
  EXPECT_EQ(all.out.find("without effect"), std::string::npos);
}

TEST(CommandLine, InfoBaseShowsBaseParametersOnly) {
  const std::string rig = config("rig-pendulum.textproto");
  const ProgramRun run = run_successfully("info --base " + rig, {"base parameter"});
  EXPECT_EQ(run.out.find("pivot.b"), std::string::npos);
  expect_refused("info --base --all " + rig, {"--all", "rig file"});
}

TEST(CommandLine, SimulatedRecordingsAreReadBack) {
  const TemporaryFolder folder;
  const std::string out = folder.file("release.csv");
  const std::string rig = config("rig-pendulum.textproto");
  run_successfully("simulate --rig " + rig + " --scenario " +
                   config("scenario-pendulum-release.textproto") + " --out " + out +
                   " --step 1e-3");
  run_successfully("info " + out + " --rig " + rig, {"at 1000 Hz", "0 gaps"});
}

TEST(CommandLine, SimulateRefusesToWriteOverItsInputs) {
  const TemporaryFolder folder;
  const std::string rig =
      folder.write("rig.textproto", contents_of(config("rig-pendulum.textproto")));
  expect_refused("simulate --rig " + rig + " --scenario " +
                     config("scenario-pendulum-release.textproto") + " --out " + rig,
                 {"rig.textproto", "is an input"});
  EXPECT_EQ(contents_of(rig), contents_of(config("rig-pendulum.textproto")));
}

// Work that cannot end is refused at the start, locally as by the service, in one sentence, by both
// commands that estimate, for a step too long and for one too short.
TEST(CommandLine, RefusesInfeasibleSteps) {
  const TemporaryFolder folder;
  std::string table = "t_s,theta1_rad\n";
  for (int row = 0; row < 30; ++row) {  // 11.6 s
    table += std::to_string(0.4 * row) + "," + std::to_string(0.1 * std::sin(row)) + "\n";
  }
  const std::string path = folder.write("slow.csv", table);
  for (const std::string command : {"calibrate", "crossvalidate --parts 2"}) {
    const auto run = [&](const std::string& step) {
      return run_rigcal(command + " " + path + " --rig " + config("rig-pendulum.textproto") +
                        " --step " + step);
    };
    const ProgramRun short_step = run("1e-7");
    EXPECT_EQ(short_step.exit_code, 1);
    expect_parts(short_step.err, {"more than can be computed. Choose a longer step"});
    EXPECT_EQ(run("1e-9").exit_code, 1);
  }
}

// A program whose output is lost has failed, and must report it.

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

TEST(FailedOutput, GivesExitStatusOneAndASentence) {
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
TEST(FailedOutput, EndsBySigpipeIfTheReaderEnds) {
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

TEST(Usage, RefusesEmptyTextsAndInvalidNumbers) {
  const std::string rig = config("rig-furuta.textproto");
  for (const std::string& arguments : std::vector<std::string>{
           "calibrate x.csv --rig " + rig + " --json ''", "calibrate x.csv --rig ''",
           "calibrate '' --rig " + rig, "calibrate x.csv --rig " + rig + " --step nan",
           "calibrate x.csv --rig " + rig + " --step 1e9",
           "simulate --rig " + rig + " --scenario s --out o --step 1e9",
           "crossvalidate x.csv --rig " + rig + " --part-length nan", "jobs ''", "frobnicate", "",
           "calibrate", "calibrate x --rig", "info", "simulate --rig a --scenario b",
           "info x --bogus"}) {
    EXPECT_NE(expect_refused(arguments).err, "") << arguments;
  }
}

}  // namespace
}  // namespace service
