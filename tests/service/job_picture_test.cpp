#include "service/cli/remote/job_follower.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "service/text/number_format.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

rigcal::v1::JobInfo running_job(int iteration, double step, int parameter_count) {
  rigcal::v1::JobInfo info;
  info.set_job_id("demo");
  info.set_state(rigcal::v1::JOB_RUNNING);
  info.set_rig_name("rig-furuta.textproto");
  info.add_session_ids("release-1");
  info.add_session_ids("pulse-1");
  auto& progress = *info.mutable_progress();
  progress.set_stage("joint estimation");
  progress.set_iteration(iteration);
  progress.set_cost(12.5);
  progress.set_step_norm(step);
  for (int k = 0; k < parameter_count; ++k) {
    progress.add_parameters("1.p" + std::to_string(k));
    progress.add_values(0.004 + 0.001 * iteration);
  }
  return info;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// A line wider than the window wraps, and a display taller than it scrolls. Either would draw the
// next one in the wrong place and fill the terminal with garbage.
TEST(JobDisplay, FitsEveryWindow) {
  JobDisplay picture;
  picture.set_job_info(running_job(1, 0.1, 13));
  picture.set_job_info(running_job(2, 0.01, 13));
  for (const TerminalSize size : {TerminalSize{120, 50}, {80, 24}, {40, 10}, {12, 3}, {1, 1}}) {
    SCOPED_TRACE(std::to_string(size.columns) + " x " + std::to_string(size.rows));
    const std::vector<std::string> lines = picture.lines(size, 3.0);
    EXPECT_LE(static_cast<int>(lines.size()), std::max(size.rows - 1, 1));
    for (const std::string& line : lines) EXPECT_LE(display_width(line), size.columns) << line;
  }
  test_support::expect_parts(joined(picture.lines({40, 10}, 3.0)), {"more in a taller window"});
}

TEST(JobDisplay, ShowsParametersAndTheirChange) {
  JobDisplay picture;
  picture.set_job_info(running_job(1, 1e-2, 2));
  picture.set_job_info(running_job(2, 1e-4, 2));
  test_support::expect_parts(joined(picture.lines({80, 24}, 12.3)),
                             {"demo  running  12 s", "2 recordings", "joint estimation",
                              "iteration 2", "step 100e-6", "1.p1", "0.006", "+20 %"});
}

std::size_t bar_length(const JobDisplay& picture) {
  const std::string text = joined(picture.lines({80, 24}, 1.0));
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '#'));
}

// A joint estimation's steps may be large to its end, and stages count from 0 again. Neither may
// stop the bar or move it back, and only the end of the last calibration may fill it.
TEST(JobDisplay, MovesItsBarWithEveryIterationAndCalibration) {
  JobDisplay picture;
  std::size_t length = 0;
  for (int calibration = 1; calibration <= 3; ++calibration) {
    const std::size_t before = length;
    for (const char* stage : {"joint estimation", "simulation fit"}) {
      for (int iteration = 0; iteration <= 30; ++iteration) {
        rigcal::v1::JobInfo info = running_job(iteration, 335.0, 2);
        info.mutable_progress()->set_stage(stage);
        info.mutable_progress()->set_calibration(calibration);
        info.mutable_progress()->set_calibration_count(3);
        picture.set_job_info(info);
        EXPECT_GE(bar_length(picture), length);
        length = bar_length(picture);
      }
    }
    EXPECT_GE(length, before + 7) << calibration;
  }
  EXPECT_LT(length, 30u);
}

TEST(JobDisplay, ShowsTheStateOfAJobThatDoesNotRun) {
  rigcal::v1::JobInfo info = running_job(0, 0.0, 0);
  info.clear_progress();
  EXPECT_EQ(format_job_status(info), "reading the recordings");
  info.set_state(rigcal::v1::JOB_QUEUED);
  info.set_queue_position(2);
  EXPECT_EQ(format_job_status(info), "queued, place 2");
  info.set_state(rigcal::v1::JOB_DONE);
  EXPECT_EQ(format_job_status(info), "done");
}

TEST(JobDisplay, CutsTextBetweenCharacters) {
  EXPECT_EQ(shorten_to_width("kg·m²", 5), "kg·m²");
  EXPECT_EQ(shorten_to_width("kg·m²", 4), "kg·…");
}

}  // namespace
}  // namespace service
