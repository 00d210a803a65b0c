#include "service/client/remote/job_picture.hpp"

#include <gtest/gtest.h>

#include "service/report/number_format.hpp"
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

// Lines wider than the window wrap, and a picture taller than it scrolls: either way the next one
// is drawn in the wrong place and the terminal fills with rubbish.
TEST(JobPicture, FitsEveryWindow) {
  JobPicture picture;
  picture.update(running_job(1, 0.1, 13));
  picture.update(running_job(2, 0.01, 13));
  for (const TerminalSize size : {TerminalSize{120, 50}, {80, 24}, {40, 10}, {12, 3}, {1, 1}}) {
    SCOPED_TRACE(std::to_string(size.columns) + " x " + std::to_string(size.rows));
    const std::vector<std::string> lines = picture.lines(size, 3.0);
    EXPECT_LE(static_cast<int>(lines.size()), std::max(size.rows - 1, 1));
    for (const std::string& line : lines) EXPECT_LE(display_width(line), size.columns) << line;
  }
  test_support::expect_parts(joined(picture.lines({40, 10}, 3.0)), {"more in a taller window"});
}

TEST(JobPicture, ShowsBarParametersAndTheirChange) {
  JobPicture picture;
  picture.update(running_job(1, 1e-2, 2));
  picture.update(running_job(2, 1e-4, 2));
  const std::string text = joined(picture.lines({80, 24}, 12.3));
  test_support::expect_parts(
      text, {"demo  running  12 s", "2 recordings", "joint estimation", "iteration 2",
             "[###############...............]", "1.p1", "0.006", "+20.00 %"});
  // The bar does not go back within a stage, and a new stage begins anew.
  picture.update(running_job(3, 0.5, 2));
  EXPECT_NE(joined(picture.lines({80, 24}, 13.0)).find("[###############"), std::string::npos);
  rigcal::v1::JobInfo next = running_job(0, 0.5, 2);
  next.mutable_progress()->set_stage("simulation fit");
  picture.update(next);
  EXPECT_EQ(joined(picture.lines({80, 24}, 14.0)).find("[###############"), std::string::npos);
}

TEST(JobPicture, SaysHowAJobStandsThatDoesNotRun) {
  rigcal::v1::JobInfo info = running_job(0, 0.0, 0);
  info.clear_progress();
  EXPECT_EQ(job_status(info), "reading the recordings");
  info.set_state(rigcal::v1::JOB_QUEUED);
  info.set_queue_position(2);
  EXPECT_EQ(job_status(info), "queued, place 2");
  info.set_state(rigcal::v1::JOB_DONE);
  EXPECT_EQ(job_status(info), "done");
}

TEST(JobPicture, CutsTextBetweenCharacters) {
  EXPECT_EQ(cut_to_width("kg·m²", 5), "kg·m²");
  EXPECT_EQ(cut_to_width("kg·m²", 4), "kg·…");
}

}  // namespace
}  // namespace service
