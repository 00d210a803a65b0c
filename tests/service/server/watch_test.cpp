#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cstring>

#include "tests/service/server/pendulum_jobs.hpp"
#include "tests/support/refusal.hpp"

// `rigcal watch` as an operator sees it, on a terminal.

namespace service {
namespace {

using test_support::eventually;
using test_support::expect_parts;

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
  test_support::GreetedClient client_{service_.port()};
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
  expect_parts(later.output(), {"start rigcald or name another"});
}

// A session in progress shows its newest samples, all counted, until it ends; after that there is
// nothing to watch.
TEST(WatchSession, ShowsSamplesUntilTheRecordingEnds) {
  constexpr std::uint64_t kSamples = 20;
  test_support::RunningService service;
  std::uint64_t batches = 2;
  test_support::send_through(service, "run", batches, kSamples);
  Terminal terminal("watch session:run" + at(service));
  ASSERT_TRUE(eventually(
      [&] {
        test_support::send_through(service, "run", ++batches, kSamples);
        return terminal.shows("  arm ", 0.1) && terminal.shows(" rad  pend", 0.1);
      },
      60.0))
      << terminal.output();
  test_support::complete_session(service, "run", ++batches, kSamples);
  EXPECT_EQ(terminal.wait(), 0) << terminal.output();
  expect_parts(terminal.output(),
               {"run has ended with " + std::to_string(batches * kSamples) + " samples"});
  const ProgramRun after = run_rigcal("watch session:run" + at(service));
  EXPECT_EQ(after.exit_code, 3);
  EXPECT_NE(after.err.find("is not being recorded"), std::string::npos) << after.err;
}

}  // namespace
}  // namespace service
