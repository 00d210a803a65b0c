// rigcal check, run as a program on simulated recordings.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "proto/check.pb.h"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/json.hpp"

namespace service {
namespace {

class CheckCommand : public ::testing::Test {
 protected:
  std::string release() const {
    const std::string out = folder_.file("release.csv");
    run_successfully("simulate --rig " + rig_ + " --scenario " +
                     config("scenario-pendulum-release.textproto") + " --step 1e-3 --out " + out);
    return contents_of(out);
  }

  /// The same recording with its angle changed in some lines.
  template <typename Change>
  std::string changed(const std::string& name, const std::string& text,
                      const Change& change) const {
    std::istringstream lines(text);
    std::ostringstream out;
    int number = 0;
    for (std::string line; std::getline(lines, line); ++number) {
      const std::size_t first = line.find(','), second = line.find(',', first + 1);
      if (number == 0 || first == std::string::npos) {
        out << line << '\n';
        continue;
      }
      const double angle = std::stod(line.substr(first + 1));
      out.precision(12);
      out << line.substr(0, first + 1) << change(number, angle)
          << (second == std::string::npos ? "" : line.substr(second)) << '\n';
    }
    return folder_.write(name, out.str());
  }

  rigcal::v1::CheckResult result() const {
    const auto message = from_json<rigcal::v1::CheckResult>(contents_of(folder_.file("json")));
    return message;
  }
  ProgramRun check(const std::string& file) const {
    return run_rigcal("check " + file + " --rig " + rig_ + " --json " + folder_.file("json"));
  }

  TemporaryFolder folder_;
  std::string rig_ = config("rig-pendulum.textproto");
};

// A clean recording is reported as such, with what it can identify and exit status 0.
TEST_F(CheckCommand, ReportsACleanRecording) {
  const ProgramRun run = check(folder_.write("clean.csv", release()));
  EXPECT_EQ(run.exit_code, 0) << run.err << run.out;
  EXPECT_NE(run.out.find("No problems found"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("pendulum.J_zz"), std::string::npos) << run.out;
  // The clock rate is unobservable for a single pendulum with free inertia.
  EXPECT_NE(run.out.find("clock: a rate error is not identifiable"), std::string::npos);
  EXPECT_NE(run.out.find("it would bias pendulum.J_zz"), std::string::npos) << run.out;
  EXPECT_GT(result().clock().absorbed_by_size(), 0);
  EXPECT_EQ(result().worst(), "none");
  ASSERT_GT(result().excitation_size(), 0);
  const rigcal::v1::CheckResult reported = result();
  for (const auto& parameter : reported.excitation()) {
    EXPECT_GT(parameter.standard_deviation(), 0.0) << parameter.parameter();
  }
}

// Spikes and a slip are warnings, in text and in JSON, with the treatment applied.
TEST_F(CheckCommand, ReportsSpikesAndSlips) {
  const ProgramRun run = check(changed("spoilt.csv", release(), [](int line, double angle) {
    if (line % 1000 == 700) return angle + 0.3;
    return line > 2200 ? angle - 0.02 : angle;
  }));
  EXPECT_EQ(run.exit_code, 2) << run.err << run.out;
  EXPECT_NE(run.out.find("rigcal: they are rejected"), std::string::npos) << run.out;
  EXPECT_EQ(result().worst(), "warning");
  bool spikes = false, slip = false;
  const rigcal::v1::CheckResult reported = result();
  for (const auto& finding : reported.findings()) {
    spikes |= finding.kind() == "outliers" && finding.channel() == "pivot";
    slip |= finding.kind() == "slip" || finding.kind() == "jump";
  }
  EXPECT_TRUE(spikes && slip) << run.out;
}

}  // namespace
}  // namespace service
