#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "service/server/jobs/run_job.hpp"
#include "service/server/storage/durable_file.hpp"
#include "tests/service/server/pendulum_jobs.hpp"
#include "tests/support/json.hpp"
#include "tests/support/refusal.hpp"

// The options of a job: its time limit, and options that contradict the job or each other.

namespace service {
namespace {

using namespace test_support;
using rigcal::v1::CalibrationResult;
using rigcal::v1::JobInfo;

std::string on_pendulum() { return " --rig " + config("rig-pendulum.textproto") + " "; }

/// Runs a command that the program must refuse. Returns its message.
std::string refused(const std::string& arguments, int status) {
  const ProgramRun run = run_rigcal(arguments);
  EXPECT_EQ(run.exit_code, status) << arguments << run.out << run.err;
  EXPECT_EQ(run.err.find("rigcal: "), 0U) << run.err;
  EXPECT_EQ(run.err.find('\n'), run.err.size() - 1) << "more than one line: " << run.err;
  return run.err;
}

// A job at its time limit fails with the sentence and the exit status of a local calibration.
TEST(JobTimeLimit, EndsAJobLikeALocalCalibration) {
  SwingService service;
  GreetedClient client(service.port());
  rigcal::v1::ServiceRequest request = submit_request("j", "run");
  request.mutable_submit_job()->mutable_spec()->set_time_limit_s(0.2);
  ASSERT_TRUE(client.call(request).has_job_info());
  const JobInfo ended = wait_for(client, "j");
  EXPECT_EQ(ended.state(), rigcal::v1::JOB_FAILED);
  EXPECT_TRUE(ended.is_time_over());
  expect_parts(ended.error(), {"the time limit of 0.2 s is over", "raise --time-limit"});
  const ProgramRun watched = run_rigcal("watch j" + at(service));
  EXPECT_EQ(watched.exit_code, 130);
  expect_parts(watched.err, {"the time limit of 0.2 s is over"});
}

/// A job in its folder, as a service stores it.
struct StoredJob {
  explicit StoredJob(const std::vector<std::string>& recordings) {
    rigcal::v1::JobRecord record;
    record.mutable_info()->set_job_id("j");
    record.mutable_spec()->set_rig_text(contents_of(config("rig-pendulum.textproto")));
    for (const std::string& recording : recordings) {
      record.mutable_spec()->add_recordings()->set_session_id(
          std::filesystem::path(recording).stem().string());
    }
    EXPECT_TRUE(create_record_folder(files.file("j"), "job.textproto", record).ok());
  }
  TemporaryFolder files;
  std::string folder = files.file("j");
};

/// Runs a job with two recordings, which is stopped when it starts its cross-validation.
/// @return whether it has a result
bool run_until_cross_validation(const StoredJob& job, const std::vector<std::string>& recordings,
                                bool is_time_limit) {
  std::atomic<bool> stop{false}, is_time_over{false};
  return run_job({.folder = job.folder,
                  .recording_paths = recordings,
                  .version = "test",
                  .duration_s_max = 100.0,
                  .on_progress =
                      [&](const rigcal::v1::JobProgress& progress) {
                        if (progress.calibration() < 2) return;
                        is_time_over.store(is_time_limit);
                        stop.store(true);
                      },
                  .stop = &stop,
                  .is_time_over = &is_time_over});
}

// A cross-validation may take many times longer than its calibration. If only the cross-validation
// exceeds the time limit, the result of the calibration is kept, with the reason as a note. A
// cancelled job keeps nothing.
TEST(JobTimeLimit, KeepsTheCalibrationIfTheCrossValidationExceedsIt) {
  const TemporaryFolder files;
  const std::vector<std::string> recordings = {record_swing(files, "a.csv", 3.0, 1.0),
                                               record_swing(files, "b.csv", 3.0, 0.5)};
  const StoredJob cancelled(recordings);
  EXPECT_FALSE(run_until_cross_validation(cancelled, recordings, false));
  EXPECT_FALSE(std::filesystem::exists(cancelled.folder + "/result.json"));

  const StoredJob late(recordings);
  EXPECT_TRUE(run_until_cross_validation(late, recordings, true));
  EXPECT_FALSE(std::filesystem::exists(late.folder + "/cross_validation.json"));
  const std::string json = contents_of(late.folder + "/result.json");
  EXPECT_TRUE(from_json<CalibrationResult>(json).converged());
  for (const std::string& text : {json, contents_of(late.folder + "/table.txt")}) {
    expect_parts(text, {"There is no cross-validation: the time limit of 100 s is over"});
  }
}

// Contradictions are found before anything is sent.
TEST(JobOptions, ThatContradictEachOtherAreRefused) {
  const TemporaryFolder files;
  const std::string csv = files.write("run.csv", "t_s,theta1_rad\n0,0\n");
  const std::string calibrate = "calibrate " + csv + on_pendulum() + "--server unix:/none ";
  for (const std::string output : {"--json x.json", "--plot x.html", "--rig-out x.textproto"}) {
    expect_parts(refused(calibrate + "--detach " + output, 1), {"--detach", "rigcal result"});
  }
  expect_parts(refused(calibrate + "--from 5 --to 3", 1), {"--from must be less than --to"});
  const std::string empty = files.write("empty.csv", "");
  expect_parts(refused("calibrate " + empty + on_pendulum() + "--server unix:/none", 1),
               {empty, "is empty"});
}

// A job without cross-validation gives the reason for it.
TEST(JobOptions, GiveTheReasonWhyThereIsNoCrossValidation) {
  const TemporaryFolder files;
  RunningService service;
  const std::string a = record_swing(files, "a.csv", 3.0, 1.0);
  const std::string b = record_swing(files, "b.csv", 3.0, 0.5);
  run_successfully("calibrate " + a + on_pendulum() + at(service) + "--job one");
  run_successfully("calibrate " + a + " " + b + on_pendulum() + at(service) +
                   "--job two --skip-cross-validation");
  const std::string page = files.file("folds.html");
  for (const std::string command : {"result ", "report "}) {
    const std::string rest = (command == "result " ? " --json" : " --out " + page) +
                             std::string(" --cross-validation") + at(service);
    expect_parts(refused(command + "one" + rest, 3), {"job \"one\"", "it has one recording"});
    expect_parts(refused(command + "two" + rest, 3), {"--skip-cross-validation"});
  }
  EXPECT_FALSE(std::filesystem::exists(page));
}

// A downloaded recording does not replace a file without --force.
TEST(JobOptions, OverwriteAnExistingFileOnlyIfForced) {
  const TemporaryFolder files;
  SwingService service(3.0, 1.0);
  const std::string path = files.write("run.mcap", "mine");
  const std::string fetch = "sessions run --fetch " + path + at(service);
  expect_parts(refused(fetch, 1), {path, "exists", "--force"});
  EXPECT_EQ(contents_of(path), "mine");
  // The recording of a closed session is stored after a moment.
  ASSERT_TRUE(eventually([&] { return run_rigcal(fetch + "--force").exit_code == 0; }, 60.0));
  run_successfully("info " + path);
}

}  // namespace
}  // namespace service
