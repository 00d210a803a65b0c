#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <optional>

#include "proto/text/input_error.hpp"
#include "service/calibration/calibration_input.hpp"
#include "service/server/jobs/job_process.hpp"
#include "service/server/jobs/worker_messages.hpp"
#include "service/server/jobs/worker_pool.hpp"
#include "service/server/sessions/service_context.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/temporary_folder.hpp"

namespace service {
namespace {

// A pool whose program is a script, called like rigcald: run-job FOLDER PARENT MEMORY DURATION
// FILE.
class WorkerPoolTest : public testing::Test {
 protected:
  std::string script(const std::string& text) {
    const std::string path = files_.file("program");
    std::ofstream(path) << "#!/bin/sh\n" << text << '\n';
    ::chmod(path.c_str(), 0755);
    return path;
  }

  JobRunner::JobEnd run(const std::string& text, double duration_s_max = 60.0) {
    WorkerPool pool(io_, script(text), 4096);
    std::optional<JobRunner::JobEnd> ended;
    pool.start(
        "job", files_.file("folder"), {"file"}, duration_s_max,
        [this](const rigcal::v1::JobProgress& progress) { stages_.push_back(progress.stage()); },
        [&](const JobRunner::JobEnd& how) { ended = how; });
    EXPECT_FALSE(pool.idle());
    if (stop_) pool.stop("job");
    while (!ended && io_.run_one_for(std::chrono::seconds(30)) > 0) {
    }
    EXPECT_TRUE(pool.idle());
    pool.shut_down();
    return ended.value_or(JobRunner::JobEnd{false, "never ended"});
  }

  std::string message_file(const std::string& bytes) {
    const std::string path = files_.file("message");
    std::ofstream(path) << bytes;
    return path;
  }

  asio::io_context io_;
  test_support::TemporaryFolder files_;
  std::vector<std::string> stages_;
  bool stop_ = false;
};

TEST_F(WorkerPoolTest, ReportsTheWorkersMessagesAndEnd) {
  EXPECT_TRUE(run("exit 0").done);
  const auto failed = run("exit 7");
  EXPECT_FALSE(failed.done);
  EXPECT_NE(failed.error.find("status 7"), std::string::npos) << failed.error;
  const auto killed = run("kill -SEGV $$");
  EXPECT_FALSE(killed.done);
  EXPECT_NE(killed.error.find("Segmentation"), std::string::npos) << killed.error;
  const auto said = run("cat " + message_file(make_error_frame("no such joint")) + " >&3; exit 1");
  EXPECT_EQ(said.error, "no such joint");
  const auto twice = run(
      "cat " + message_file(make_error_frame("no such joint") + make_error_frame("no such body")) +
      " >&3; exit 1");
  EXPECT_EQ(twice.error, "no such joint") << "the first error is the cause of later ones";
  const auto late =
      run("(sleep 0.2; cat " + message_file(make_error_frame("no such body")) + " >&3) & exit 1");
  EXPECT_EQ(late.error, "no such body") << "the pipe is read to its end";
  rigcal::v1::JobProgress progress;
  progress.set_stage("fit");
  EXPECT_TRUE(run("cat " + message_file(make_progress_frame(progress)) + " >&3").done);
  EXPECT_EQ(stages_, (std::vector<std::string>{"fit"}));
}

// A text of any bytes reaches the job, for example a CSV file's header in another encoding, and a
// text of any length: the pipe carries at most its beginning.
TEST_F(WorkerPoolTest, ReportsMessagesThatAreNotUtf8) {
  const auto said = [&](const std::string& error) {
    return run("cat " + message_file(make_error_frame(error)) + " >&3; exit 1").error;
  };
  EXPECT_EQ(said("no column \"th\xe9ta\""), "no column \"th\\xe9ta\"");
  EXPECT_EQ(said(std::string(kErrorTextSizeMax, 'x')), std::string(kErrorTextSizeMax, 'x'));
  EXPECT_EQ(said(std::string(3 * kErrorTextSizeMax, '\xff')).size(), kErrorTextSizeMax);
}

// Every end without a message gets a sentence with its cause and a remedy: exit statuses, signals
// of limits, signals from outside, crashes, and bytes that are no message.
TEST_F(WorkerPoolTest, ExplainsEveryEndWithoutAMessage) {
  const auto expect_end = [&](const std::string& program, const std::vector<std::string>& parts) {
    SCOPED_TRACE(program);
    const auto ended = run(program);
    EXPECT_FALSE(ended.done);
    test_support::expect_parts(ended.error, parts);
  };
  for (const char* status : {"1", "2", "127", "255"}) {
    expect_end(std::string("exit ") + status, {std::string("status ") + status, "report it"});
  }
  expect_end("kill -KILL $$", {"Killed", "memory", "use a shorter part"});
  expect_end("kill -XCPU $$", {"processor time", "job_duration_s"});
  expect_end("kill -TERM $$", {"from outside", "submit the job again"});
  for (const char* signal : {"ABRT", "BUS", "FPE", "ILL", "SEGV", "SYS"}) {
    expect_end(std::string("kill -") + signal + " $$", {"crashed", "memory limit", "report it"});
  }
  expect_end("echo noise >&3; exit 1", {"status 1"});
  expect_end("cat " + message_file(make_error_frame("")) + " >&3; exit 1", {"status 1"});
}

// The worker gets its limits, and no other descriptors than log and pipe.
TEST_F(WorkerPoolTest, PassesTheWorkerItsLimits) {
  const std::string out = files_.file("out");
  EXPECT_TRUE(run("echo \"$1 $4 $5 $6\" >" + out, 12.5).done);
  std::ifstream stream(out);
  std::string line;
  std::getline(stream, line);
  EXPECT_EQ(line, "run-job 4096 12.500000 file");
}

// At its time limit a worker is asked to end, by another signal than at a cancellation. A worker
// that then completes its result is done.
TEST_F(WorkerPoolTest, EndsAWorkerAtItsTimeLimit) {
  const auto late = run("exec sleep 60", 0.01);
  EXPECT_FALSE(late.done);
  EXPECT_TRUE(late.is_time_over);
  const auto completed = run("trap 'exit 0' ALRM; while :; do sleep 0.01; done", 0.5);
  EXPECT_TRUE(completed.done);
  EXPECT_FALSE(completed.is_time_over);
}

TEST_F(WorkerPoolTest, EndsAWorkerThatIsStopped) {
  stop_ = true;
  const auto stopped = run("exec sleep 60");
  EXPECT_FALSE(stopped.done);
  EXPECT_FALSE(stopped.is_time_over);
  EXPECT_NE(stopped.error, "");
}

TEST_F(WorkerPoolTest, KillsAWorkerThatDoesNotEnd) {
  WorkerPool pool(
      io_, script("trap '' TERM; echo >" + files_.file("ready") + "; while :; do sleep 1; done"),
      0);
  std::optional<JobRunner::JobEnd> ended;
  pool.set_kill_delay(std::chrono::milliseconds(10));
  pool.start(
      "job", files_.file("folder"), {"file"}, 60.0, [](const auto&) {},
      [&](const JobRunner::JobEnd& how) { ended = how; });
  while (!std::ifstream(files_.file("ready")).good()) io_.poll();
  pool.stop("job");
  while (!ended && io_.run_one_for(std::chrono::seconds(30)) > 0) {
  }
  ASSERT_TRUE(ended);
  EXPECT_NE(ended->error.find("Killed"), std::string::npos) << ended->error;
}

// A missing program fails the job; nothing waits for it.
TEST_F(WorkerPoolTest, ReportsThatAWorkerCannotStart) {
  WorkerPool pool(io_, files_.file("none"), 0);
  std::string error;
  pool.start(
      "job", "folder", {"file"}, 1.0, [](const auto&) {},
      [&](const JobRunner::JobEnd& how) { error = how.error; });
  EXPECT_NE(error.find("cannot start a worker"), std::string::npos) << error;
  EXPECT_TRUE(pool.idle());
}

// Called by hand, with any arguments, the worker's command explains itself and ends.
TEST(RunJobProcess, RefusesToBeCalledByHand) {
  EXPECT_EQ(run_job_process({}, "test"), 2);
  EXPECT_EQ(run_job_process({"folder", "x", "0", "1", "file"}, "test"), 2);
  EXPECT_EQ(run_job_process({"folder", "1", "-5", "1", "file"}, "test"), 2);
  EXPECT_EQ(run_job_process({"folder", "1", "0", "nan", "file"}, "test"), 2);
}

constexpr double kForever = std::numeric_limits<double>::infinity();

// Recordings with a period of 1 ms and this duration.
std::vector<estimator::Recording> recordings_of(double duration) {
  estimator::Segment segment;
  segment.period = 1e-3;
  segment.angles = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(duration / 1e-3) + 1, 1);
  estimator::Recording recording;
  recording.segments.push_back(segment);
  return {recording};
}

// The reason for a refusal, empty if accepted.
std::string refused(double duration, double step, double time_s = kForever) {
  try {
    check_time_limit(recordings_of(duration), step, time_s);
  } catch (const proto::InputError& error) {
    return error.what();
  }
  return "";
}

// A step longer than the recording is refused. One that fits once is left to the estimator, whose
// message is more precise.
TEST(WorkBudget, RefusesAStepLongerThanTheRecordings) {
  EXPECT_NE(refused(2.0, 1e9).find("longer than the longest segment"), std::string::npos);
  EXPECT_NE(refused(2.0, 2.01), "");
  EXPECT_EQ(refused(2.0, 1.99), "");
  EXPECT_EQ(refused(2.0, 0.0), "");
  EXPECT_NE(refused(2.0, -1.0), "");
  EXPECT_NE(refused(2.0, std::nan("")), "");
  EXPECT_NE(refused(2.0, kForever), "");
}

// More steps than the fastest machine computes in the time, or than can be counted.
TEST(WorkBudget, RefusesStepsThatCannotEndInTime) {
  EXPECT_EQ(refused(2.0, 1.01e-6, 2.0), "");
  const std::string late = refused(2.0, 0.99e-6, 2.0);
  EXPECT_NE(late.find("within 2 s"), std::string::npos) << late;
  EXPECT_EQ(refused(2.0, 2.1e-8), "");
  EXPECT_NE(refused(2.0, 1.9e-8), "");
  EXPECT_NE(refused(2.0, 1e-300), "");
  EXPECT_NE(refused(2.0, 0.0, 1e-4), "") << "its own samples are steps";
}

}  // namespace
}  // namespace service
