#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/service/server/pendulum_jobs.hpp"
#include "tests/support/json.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;
using rigcal::v1::CalibrationResult;
using rigcal::v1::JobInfo;
using rigcal::v1::ServiceError;
using rigcal::v1::ServiceRequest;

/// Whether a process is stopped, or has ended.
bool is_stopped(pid_t process) {
  const std::string facts = contents_of("/proc/" + std::to_string(process) + "/stat");
  const std::size_t name_end = facts.rfind(')');
  return name_end == std::string::npos || facts.at(name_end + 2) == 'T';
}

/// The process that runs a job, 0 if there is none.
pid_t find_worker(const ServiceProcess& service, const std::string& job_id) {
  // The kernel separates arguments by zeros.
  const std::string wanted =
      std::string("run-job\0", 8) + service.folder() + "/jobs/" + job_id + std::string(1, '\0');
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0 &&
        contents_of(entry.path().string() + "/cmdline").find(wanted) != std::string::npos) {
      return pid;
    }
  }
  return 0;
}

// The service runs the same pipeline on the same bytes, so parameters are equal to the last digit,
// and right to a percent.
TEST(Jobs, CalibratesFilesAsTheLocalProgramDoes) {
  const TemporaryFolder files;
  const std::string a = record_swing(files, "a.csv", 5.0, 1.0);
  const std::string b = record_swing(files, "b.csv", 5.0, 0.5);
  RunningService service;
  const std::string common =
      "calibrate " + a + " " + b + " --rig " + config("rig-pendulum.textproto") + " --json ";
  const ProgramRun local = run_rigcal(common + files.file("local.json"));
  const ProgramRun remote = run_rigcal(common + files.file("remote.json") + at(service) +
                                       "--job j --plot " + files.file("remote.html"));
  EXPECT_EQ(local.exit_code, 0) << local.err;
  EXPECT_EQ(remote.exit_code, 0) << remote.err << service.output();
  const auto expected = from_json<CalibrationResult>(contents_of(files.file("local.json")));
  const auto result = from_json<CalibrationResult>(contents_of(files.file("remote.json")));
  ASSERT_EQ(result.parameters_size(), expected.parameters_size());
  for (int k = 0; k < result.parameters_size(); ++k) {
    EXPECT_EQ(result.parameters(k).value(), expected.parameters(k).value());
    EXPECT_EQ(result.parameters(k).standard_deviation(),
              expected.parameters(k).standard_deviation());
    if (result.parameters(k).name() != "pendulum.J_zz") continue;
    EXPECT_NEAR(result.parameters(k).value(), 0.0012, 1.2e-5);
  }
  EXPECT_NE(contents_of(files.file("remote.html")).find("<html"), std::string::npos);

  // Recordings are named by their files; the cross-validation is in the JSON, too.
  EXPECT_EQ(result.recordings(0).file(), "a.csv");
  const ProgramRun folds = run_successfully("result j --json --cross-validation" + at(service));
  const auto validation = from_json<rigcal::v1::CrossValidationResult>(folds.out);
  ASSERT_EQ(validation.folds_size(), 2);
  EXPECT_EQ(validation.parts(1), "b.csv");
  EXPECT_TRUE(validation.converged());
  EXPECT_NE(remote.out.find("pendulum.J_zz"), std::string::npos);
  EXPECT_NE(remote.out.find("fold"), std::string::npos) << "no cross-validation";
}

// A session with a gap: two segments without samples between them, and the gap in the result.
TEST(Jobs, CalibratesAStreamedSessionInSegmentsBetweenItsGaps) {
  const TemporaryFolder files;
  const std::string csv = record_swing(files, "a.csv", 6.0, 1.0);
  RunningService service;
  stream_swing(service, "run", csv, 2000, 2250);
  run_successfully("calibrate session:run --rig " + config("rig-pendulum.textproto") + at(service) +
                   "--job j1");
  const ProgramRun json = run_rigcal("result j1 --json" + at(service));
  const auto result = from_json<CalibrationResult>(json.out);
  ASSERT_EQ(result.recordings_size(), 1);
  EXPECT_EQ(result.recordings(0).file(), "run");
  EXPECT_EQ(result.recordings(0).gaps(), 1);
  ASSERT_EQ(result.recordings(0).segments_size(), 2);
  EXPECT_EQ(result.recordings(0).segments(0).samples(), 2000);
  EXPECT_EQ(result.recordings(0).samples(), 6001 - 250);

  // The same in every command that shows it, and after a restart.
  service.kill();
  ASSERT_TRUE(service.start());
  EXPECT_EQ(run_rigcal("result j1 --json" + at(service)).out, json.out);
  EXPECT_NE(run_rigcal("result j1" + at(service)).out.find("pivot.b"), std::string::npos);
  EXPECT_NE(run_rigcal("jobs" + at(service)).out.find("done"), std::string::npos);
  EXPECT_NE(run_rigcal("jobs j1" + at(service)).out.find("run"), std::string::npos);
  EXPECT_NE(run_rigcal("sessions" + at(service)).out.find("stored"), std::string::npos);
  run_successfully("report j1 --out " + files.file("r.html") + at(service));
  EXPECT_NE(contents_of(files.file("r.html")).find("</html>"), std::string::npos);
  run_successfully("watch j1" + at(service));
  // A job's rig is written like that of a local calibration, and refers to the covariance.
  run_successfully("result j1 --rig-out " + files.file("r.textproto") + " --urdf-out " +
                   files.file("r.urdf") + at(service));
  const std::string written = contents_of(files.file("r.textproto"));
  EXPECT_EQ(written.find("# proto-file"), 0U);
  expect_parts(written, {"Calibrated by rigcal", "# ± "});
  run_successfully("info " + files.file("r.textproto"));
  expect_parts(contents_of(files.file("r.urdf")),
               {"Their covariance: the JSON of rigcal result j1"});
  run_successfully("sessions run --fetch " + files.file("run.mcap") + at(service));
  run_successfully("info " + files.file("run.mcap"));
  run_successfully("sessions run --delete" + at(service));
  run_successfully("jobs j1 --delete" + at(service));
  EXPECT_EQ(run_rigcal("result j1" + at(service)).exit_code, 3);
}

TEST(Jobs, RefusesInvalidJobsWithAReason) {
  SwingService service(3.0, 1.0);
  StreamingClient rig(service.port(), "open");
  GreetedClient client(service.port());
  EXPECT_EQ(client.call(submit_request("j", "nowhere")).error().code(), ServiceError::NOT_FOUND);
  EXPECT_EQ(client.call(submit_request("j", "open")).error().code(), ServiceError::NOT_READY);
  EXPECT_EQ(client.call(submit_request("../j", "run")).error().code(), ServiceError::BAD_REQUEST);
  ServiceRequest without_rig = submit_request("j", "run");
  without_rig.mutable_submit_job()->mutable_spec()->clear_rig_text();
  EXPECT_EQ(client.call(without_rig).error().code(), ServiceError::BAD_REQUEST);

  // An error found only by the calibration ends the job, with the local program's message.
  ServiceRequest wrong_rig = submit_request("wrong-rig", "run");
  wrong_rig.mutable_submit_job()->mutable_spec()->set_rig_text("name: \"x\"\nbodi { }\n");
  ASSERT_TRUE(client.call(wrong_rig).has_job_info());
  const JobInfo ended = wait_for(client, "wrong-rig");
  EXPECT_EQ(ended.state(), rigcal::v1::JOB_FAILED);
  EXPECT_NE(ended.error().find("rig-pendulum.textproto:2:"), std::string::npos) << ended.error();
  ServiceRequest wrong_name = submit_request("wrong-name", "run");
  wrong_name.mutable_submit_job()->mutable_spec()->add_fix("pivot.nonsense");
  ASSERT_TRUE(client.call(wrong_name).has_job_info());
  EXPECT_NE(wait_for(client, "wrong-name").error().find("pivot.nonsense"), std::string::npos);
}

// Progress arrives during the job, with names and values of the parameters, and so does its end.
TEST(Jobs, ReportsEveryIterationToSubscribers) {
  SwingService service(5.0, 1.0);
  GreetedClient client(service.port());
  ASSERT_TRUE(client.call(submit_request("j", "run")).has_job_info());
  ASSERT_TRUE(client.call(about(&ServiceRequest::mutable_subscribe_job, "j")).has_job_info());
  int iterations = 0;
  while (true) {
    const auto reply = client.receive(300.0);
    ASSERT_TRUE(reply && reply->has_job_update());
    const JobInfo& job = reply->job_update().job();
    if (job.state() == rigcal::v1::JOB_DONE) break;
    ASSERT_EQ(job.state(), rigcal::v1::JOB_RUNNING);
    if (job.progress().iteration() == 0) continue;
    ++iterations;
    EXPECT_EQ(job.progress().parameters_size(), 4);
    EXPECT_EQ(job.progress().values_size(), 4);
    EXPECT_GT(job.progress().cost(), 0.0);
  }
  EXPECT_GT(iterations, 2);
}

TEST(Jobs, EndsInCancelledWhenCancelled) {
  SwingService service;
  GreetedClient client(service.port());
  ASSERT_TRUE(client.call(submit_request("first", "run")).has_job_info());
  ASSERT_TRUE(client.call(submit_request("second", "run")).has_job_info());
  ASSERT_TRUE(wait_until_running(client, "first"));
  EXPECT_EQ(inspect(client, "second").queue_position(), 1);
  run_successfully("cancel second" + at(service));
  EXPECT_EQ(inspect(client, "second").state(), rigcal::v1::JOB_CANCELLED);
  run_successfully("cancel first" + at(service));
  EXPECT_EQ(wait_for(client, "first").state(), rigcal::v1::JOB_CANCELLED);
  const ServiceRequest result = about(&ServiceRequest::mutable_get_result, "first");
  EXPECT_EQ(client.call(result).error().code(), ServiceError::NOT_READY);
}

/// A running job, whose worker is stopped.
struct HeldJob {
  std::string id;
  pid_t worker = 0;  ///< 0: none could be stopped
};

// A job may end between two checks, however large it is: then the next one is tried.
HeldJob submit_held(const ServiceProcess& service, const std::string& name) {
  SocketClient client(service.port());
  EXPECT_TRUE(client.greet());
  for (int k = 0; k < 20; ++k) {
    const std::string id = name + "-" + std::to_string(k);
    EXPECT_TRUE(client.call(submit_request(id, "run")).has_job_info());
    if (!wait_until_running(client, id)) continue;
    const pid_t worker = find_worker(service, id);
    if (worker == 0 || ::kill(worker, SIGSTOP) != 0) continue;
    const std::string folder = service.folder() + "/jobs/" + id;
    const bool stands = eventually([&] { return is_stopped(worker); }, 10.0);
    if (stands && !std::filesystem::exists(folder + "/result.json")) return {id, worker};
    ::kill(worker, SIGCONT);
    wait_for(client, id);
  }
  return {};
}

// If it was killed with a job running, the service runs the job again at its next start and
// completes it. No worker of the dead service remains.
TEST(Jobs, RunsAnInterruptedJobAgain) {
  SwingService service;
  const HeldJob killed = submit_held(service, "killed");
  ASSERT_NE(killed.worker, 0);
  service.kill();
  EXPECT_TRUE(eventually([&] { return find_worker(service, killed.id) == 0; }, 60.0));
  ASSERT_TRUE(service.start());
  GreetedClient client(service.port());
  const JobInfo ended = wait_for(client, killed.id);
  EXPECT_EQ(ended.state(), rigcal::v1::JOB_DONE) << ended.error();
  EXPECT_EQ(ended.start_count(), 2);

  // An orderly stop does not count as an interruption.
  const HeldJob stopped = submit_held(service, "stopped");
  ASSERT_NE(stopped.worker, 0);
  ::kill(service.pid(), SIGTERM);
  ASSERT_TRUE(eventually(
      [&] { return service.output().find("event=stopping") != std::string::npos; }, 60.0));
  ::kill(stopped.worker, SIGCONT);
  EXPECT_EQ(service.stop(), 0);
  ASSERT_TRUE(service.start());
  GreetedClient later(service.port());
  const JobInfo again = wait_for(later, stopped.id);
  EXPECT_EQ(again.state(), rigcal::v1::JOB_DONE) << again.error();
  EXPECT_EQ(again.start_count(), 1);
}

// A job that exceeds its memory, or is killed, fails alone: the service and all others continue.
TEST(Jobs, FailsAloneWhenItsWorkerDies) {
  SwingService service;
  GreetedClient client(service.port());
  ASSERT_TRUE(client.call(submit_request("j", "run")).has_job_info());
  ASSERT_TRUE(wait_until_running(client, "j"));
  const pid_t worker = find_worker(service, "j");
  ASSERT_GT(worker, 0);
  ::kill(worker, SIGABRT);  // not intercepted by sanitizers
  const JobInfo ended = wait_for(client, "j");
  EXPECT_EQ(ended.state(), rigcal::v1::JOB_FAILED);
  EXPECT_NE(ended.error().find("Aborted"), std::string::npos) << ended.error();
  EXPECT_TRUE(service.running());
}

// Without memory the job fails with the limit as its reason, whichever allocation fails.
TEST(Jobs, ReportsThatMemoryRanOut) {
#ifdef RIG_SANITIZED
  GTEST_SKIP() << "sanitizers need more memory than the limit allows";
#endif
  const TemporaryFolder files;
  RunningService service({}, "limits { job_memory_bytes: 1000000 }");
  stream_swing(service, "run", record_swing(files, "run.csv", 3.0, 1.0));
  GreetedClient client(service.port());
  ASSERT_TRUE(client.call(submit_request("j", "run")).has_job_info());
  const JobInfo ended = wait_for(client, "j");
  EXPECT_EQ(ended.state(), rigcal::v1::JOB_FAILED);
  expect_parts(ended.error(), {"memory", "use a shorter part of the recordings"});
}

/// Appends a byte to a file in the data folder.
void damage(const std::string& path) { std::ofstream(path, std::ios::app) << 'x'; }

// Files that the disk has damaged are reported by their checksums: a recording is not calibrated, a
// result not shown.
TEST(Jobs, UsesNoDamagedFiles) {
  SwingService service(3.0, 1.0);
  GreetedClient client(service.port());
  ASSERT_TRUE(client.call(submit_request("whole", "run")).has_job_info());
  ASSERT_EQ(wait_for(client, "whole").state(), rigcal::v1::JOB_DONE);
  const std::string folder = service.folder() + "/jobs/whole";
  EXPECT_EQ(std::system(("cd " + folder + " && sha256sum --quiet --check SHA256SUMS").c_str()), 0);
  run_successfully("result whole" + at(service));
  damage(folder + "/report.html");
  const ProgramRun report =
      run_rigcal("report whole --out " + service.files().file("r.html") + at(service));
  EXPECT_EQ(report.exit_code, 3);
  expect_parts(report.err, {"report.html: is damaged"});
  damage(folder + "/table.txt");
  EXPECT_EQ(run_rigcal("result whole" + at(service)).exit_code, 3);

  damage(service.session_folder("run") + "/recording.mcap");
  ASSERT_TRUE(client.call(submit_request("damaged", "run")).has_job_info());
  const JobInfo ended = wait_for(client, "damaged");
  EXPECT_EQ(ended.state(), rigcal::v1::JOB_FAILED);
  expect_parts(ended.error(), {"recording.mcap: is damaged", "SHA-256"});
}

// The names of a rig file and a recording need not be UTF-8, nor must the rig file's comments.
TEST(Jobs, AcceptsFilesThatAreNotUtf8) {
  const TemporaryFolder files;
  const std::string csv = record_swing(files, "swing\xe9.csv", 3.0, 1.0);
  const std::string rig = files.write(
      "rig\xe9.textproto", contents_of(config("rig-pendulum.textproto")) + "# caf\xe9\n");
  RunningService service;
  const ProgramRun run = run_rigcal("calibrate " + csv + " --rig " + rig + at(service));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  expect_parts(run_rigcal("jobs" + at(service)).out, {"swing\\xe9.csv"});
}

// `rigcal watch` as an operator sees it, on a terminal.

/// rigcal on a terminal of its own, 80 by 24.
class Terminal {
 public:
  explicit Terminal(const std::string& arguments) {
    const winsize size{24, 80, 0, 0};
    pid_ = ::forkpty(&keyboard_, nullptr, nullptr, &size);
    if (pid_ == 0) {
      const std::string command = std::string("exec ") + RIGCAL_BINARY + " " + arguments;
      ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      ::_exit(127);
    }
    ::tcgetattr(keyboard_, &settings_);
  }
  ~Terminal() {
    if (!exit_code_) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(keyboard_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void press_ctrl_c() const { EXPECT_EQ(::write(keyboard_, "\x03", 1), 1); }

  /// Waits until the output so far contains a text.
  bool shows(const std::string& text, double timeout_s = 300.0) {
    return eventually(
        [&] {
          read();
          return output_.find(text) != std::string::npos;
        },
        timeout_s);
  }

  /// Waits for the end. @return exit code, 128 + signal, or empty after 5 minutes
  std::optional<int> wait() {
    eventually(
        [&] {
          read();
          int status = 0;
          if (!exit_code_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
            exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
          }
          return exit_code_.has_value();
        },
        300.0);
    read();
    return exit_code_;
  }

  /// Whether the terminal has its initial settings.
  bool is_as_before() const {
    termios now{};
    ::tcgetattr(keyboard_, &now);
    return now.c_lflag == settings_.c_lflag && now.c_iflag == settings_.c_iflag &&
           now.c_oflag == settings_.c_oflag;
  }

  const std::string& output() const { return output_; }

 private:
  void read() {
    char bytes[4096];
    pollfd wait{keyboard_, POLLIN, 0};
    while (::poll(&wait, 1, 0) == 1 && (wait.revents & POLLIN) != 0) {
      const ssize_t count = ::read(keyboard_, bytes, sizeof bytes);
      if (count <= 0) return;
      output_.append(bytes, static_cast<std::size_t>(count));
    }
  }

  pid_t pid_ = -1;
  int keyboard_ = -1;
  termios settings_{};
  std::string output_;
  std::optional<int> exit_code_;
};

/// A service with a running job.
class Watch : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(client_.call(submit_request("job", "run")).has_job_info()); }

  SwingService service_;
  GreetedClient client_{service_.port()};
};

// Ctrl-C leaves the job running and restores the terminal. Otherwise the parameters move until the
// end is shown.
TEST_F(Watch, ShowsAJobUntilItsEndOrCtrlC) {
  {
    Terminal terminal("watch job" + at(service_));
    ASSERT_TRUE(terminal.shows("pendulum.J_zz")) << terminal.output();
    EXPECT_TRUE(terminal.shows("[#")) << terminal.output();
    terminal.press_ctrl_c();
    EXPECT_EQ(terminal.wait(), 130) << terminal.output();
    expect_parts(terminal.output(), {"job \"job\" continues"});
    EXPECT_TRUE(terminal.is_as_before());
    EXPECT_EQ(terminal.output().find("\033[?25l"), std::string::npos) << "hides the cursor";
  }
  EXPECT_EQ(inspect(client_, "job").state(), rigcal::v1::JOB_RUNNING);
  Terminal terminal("watch job" + at(service_));
  ASSERT_TRUE(terminal.shows("job  running")) << terminal.output();
  run_successfully("cancel job" + at(service_));
  EXPECT_EQ(terminal.wait(), 3) << terminal.output();
  expect_parts(terminal.output(), {"job \"job\" was cancelled"});
  EXPECT_TRUE(terminal.is_as_before());
}

// If the service disappears, watching ends with a reason and does not hang.
TEST_F(Watch, ReportsThatTheServiceIsGone) {
  Terminal terminal("watch job" + at(service_));
  ASSERT_TRUE(terminal.shows("job  running")) << terminal.output();
  service_.kill();
  EXPECT_EQ(terminal.wait(), 3) << terminal.output();
  EXPECT_NE(terminal.output().find("it is safe to retry"), std::string::npos) << terminal.output();
  Terminal later("watch job" + at(service_));
  EXPECT_EQ(later.wait(), 3);
  expect_parts(later.output(), {"start rigcald, or give another address"});
}

// A session in progress shows its newest samples, all counted, until it ends; after that there is
// nothing to watch.
TEST(WatchSession, ShowsSamplesUntilTheRecordingEnds) {
  constexpr std::uint64_t kSamples = 20;
  RunningService service;
  std::uint64_t batches = 2;
  send_through(service, "run", batches, kSamples);
  Terminal terminal("watch session:run" + at(service));
  ASSERT_TRUE(eventually(
      [&] {
        send_through(service, "run", ++batches, kSamples);
        return terminal.shows("  arm ", 0.1) && terminal.shows(" rad  pend", 0.1);
      },
      60.0))
      << terminal.output();
  complete_session(service, "run", ++batches, kSamples);
  EXPECT_EQ(terminal.wait(), 0) << terminal.output();
  expect_parts(terminal.output(),
               {"run has ended with " + std::to_string(batches * kSamples) + " samples"});
  const ProgramRun after = run_rigcal("watch session:run" + at(service));
  EXPECT_EQ(after.exit_code, 3);
  EXPECT_NE(after.err.find("is not being recorded"), std::string::npos) << after.err;
}

}  // namespace
}  // namespace service
