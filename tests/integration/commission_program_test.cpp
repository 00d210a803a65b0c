#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <utility>

#include "tests/integration/daq_process.hpp"
#include "tests/support/refusal.hpp"

// rigcal-daq commission at a terminal and with pipes, with rigcal-sim and its simulated hand.

namespace {

using namespace test_support;

class CommissionProgram : public DaqProcess {
 protected:
  CommissionProgram() {
    for (const char* name : {"hand", "answers"}) EXPECT_EQ(::mkfifo(path(name).c_str(), 0600), 0);
    hand_ = ::open(path("hand").c_str(), O_RDWR | O_CLOEXEC);
    answers_ = ::open(path("answers").c_str(), O_RDWR | O_CLOEXEC);
  }
  ~CommissionProgram() override {
    for (const int descriptor : {hand_, answers_, terminal_}) {
      if (descriptor >= 0) ::close(descriptor);
    }
  }

  void start_rig() {
    const std::string hand = path("hand");
    sim_.emplace(std::vector<std::string>{RIGCAL_SIM, "--config", path("sim.textproto"), "--link",
                                          path("unit"), "--truth", path("truth.csv"), "--hand"},
                 path("sim.txt"), [hand] { ::dup2(::open(hand.c_str(), O_RDONLY), STDIN_FILENO); });
    ASSERT_TRUE(eventually([&] { return sim_->says("\n"); }, kPatience_s));
  }

  /// @param input  file with the answers
  void start_commission(const std::string& input) {
    daq_.emplace(command(), path("daq.txt"),
                 [input] { ::dup2(::open(input.c_str(), O_RDONLY), STDIN_FILENO); });
  }

  /// The same at a pseudo-terminal.
  void start_commission_at_terminal() {
    terminal_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    ASSERT_EQ(::grantpt(terminal_), 0);
    ASSERT_EQ(::unlockpt(terminal_), 0);
    const std::string name = ::ptsname(terminal_);
    ::fcntl(terminal_, F_SETFL, O_NONBLOCK);
    daq_.emplace(command(), path("daq.txt"), [name] {
      ::setsid();
      const int line = ::open(name.c_str(), O_RDWR);
      ::ioctl(line, TIOCSCTTY, 0);
      for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        ::dup2(line, descriptor);
      }
    });
  }

  void start_check() {
    std::vector<std::string> check = command();
    check.emplace_back("--check");
    daq_.emplace(check, path("daq.txt"));
  }

  void execute_hand_command(const std::string& line) const { put(hand_, line); }
  void answer(const std::string& line = "") const {
    put(terminal_ >= 0 ? terminal_ : answers_, line);
  }

  /// The output so far.
  std::string printed() {
    if (terminal_ < 0) return daq_->output();
    char buffer[4096];
    for (ssize_t size = 0; (size = ::read(terminal_, buffer, sizeof buffer)) > 0;) {
      shown_.append(buffer, static_cast<std::size_t>(size));
    }
    return shown_;
  }

  /// Waits for the next question with these words.
  void await(const std::string& words) {
    ASSERT_TRUE(eventually([&] { return find(words) != std::string::npos; }, kPatience_s))
        << words << " in:\n"
        << printed();
    from_ = find(words) + words.size();
  }

  /// Answers each question as an operator, up to the last one. A pulse that a pause of this machine
  /// ended is repeated.
  void commission() {
    const std::pair<const char*, const char*> kSteps[] = {{"Do not touch the rig", ""},
                                                          {"Turn joint \"arm\"", "1 1.6 0.3"},
                                                          {"Turn joint \"rod\"", "2 1.5 0.3"},
                                                          {"Move joint \"arm\"", "1 0 0.3"},
                                                          {"Move joint \"rod\"", "2 0 0.3"},
                                                          {"Release the brake", "release"},
                                                          {"Keep clear", ""},
                                                          {"r: repeat", ""},
                                                          {"Write them?", ""}};
    for (;;) {
      const auto* next = std::end(kSteps);
      ASSERT_TRUE(eventually(
          [&] {
            std::size_t at = std::string::npos;
            for (const auto& step : kSteps) {
              const std::size_t found = find(step.first);
              if (found >= at) continue;
              at = found;
              next = &step;
            }
            if (at != std::string::npos) from_ = at + 1;
            return at != std::string::npos;
          },
          kPatience_s))
          << printed();
      const std::string question = next->first, motion = next->second;
      if (question == "Write them?") return;
      if (!motion.empty()) {
        execute_hand_command(motion);
        ::usleep(1'500'000);  // the hand takes 1/3 s
      }
      answer(question == "r: repeat" ? "r" : "");
    }
  }

  void start_run(const std::string& scenario, const std::vector<std::string>& more = {}) {
    start_daq(scenario, pty_url(), more);
  }

 private:
  std::vector<std::string> command() const {
    return {RIGCAL_DAQ, "commission", "--rig", path("rig.textproto"), "--url", pty_url()};
  }
  static void put(int descriptor, const std::string& line) {
    const std::string text = line + "\n";
    ASSERT_EQ(::write(descriptor, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::size_t find(const std::string& words) { return printed().find(words, from_); }

  int hand_ = -1, answers_ = -1, terminal_ = -1;
  std::string shown_;
  std::size_t from_ = 0;
};

// All steps of a new rig: a run is refused, the rig is commissioned at a terminal that updates the
// counts in place, a full-range run succeeds, and after a change of limits it is refused again.
TEST_F(CommissionProgram, LetsARigRunAtFullRange) {
  write("large.textproto", "name: \"large\" duration_s: 0.2 step { motor: \"arm\" command: 2 }");
  start_rig();
  start_run("large.textproto");
  EXPECT_EQ(daq_exit_code(), 4) << daq_->output();
  expect_parts(daq_->output(), {"was never commissioned, and "});
  EXPECT_FALSE(std::filesystem::exists(path("run.mcap")));

  start_commission_at_terminal();
  ASSERT_NO_FATAL_FAILURE(commission());
  expect_parts(printed(), {"\r  encoder 0: +"});
  answer("y");
  ASSERT_EQ(daq_exit_code(), 0) << printed();
  EXPECT_TRUE(std::filesystem::exists(path("rig.textproto.before-commission")));
  EXPECT_TRUE(std::filesystem::exists(path("rig.textproto.commissioned.json")));

  start_check();
  EXPECT_EQ(daq_exit_code(), 0) << daq_->output();
  expect_parts(daq_->output(), {"rig.textproto: commissioned with this unit on 20"});

  start_run("large.textproto");
  EXPECT_EQ(daq_exit_code(), 0) << daq_->output();
  expect_absent(daq_->output(), {"commissioned"});

  const std::string arm = "\"arm\" angle_rad_min: -900 angle_rad_max: ";
  edit("rig.textproto", arm + "900 speed_rad_per_s_max: 100 }\n",
       arm + "901 speed_rad_per_s_max: 100 }\n");
  std::filesystem::remove(path("run.mcap"));
  start_run("large.textproto");
  EXPECT_EQ(daq_exit_code(), 4) << daq_->output();
  expect_parts(daq_->output(), {"was loosened from 900 to 901 since it was commissioned on "});
  start_check();
  EXPECT_EQ(daq_exit_code(), 4) << daq_->output();
  expect_absent(daq_->output(), {"commissioned with this unit"});
  start_run("large.textproto", {"--not-commissioned"});
  EXPECT_EQ(daq_exit_code(), 0) << daq_->output();
  expect_parts(daq_->output(), {"note: "});
}

TEST_F(CommissionProgram, IsDrivenByAScript) {
  start_rig();
  start_commission(path("answers"));
  ASSERT_NO_FATAL_FAILURE(commission());
  answer("n");
  EXPECT_EQ(daq_exit_code(), 4) << daq_->output();
  expect_parts(daq_->output(), {"Nothing was written."});
  EXPECT_FALSE(std::filesystem::exists(path("rig.textproto.before-commission")));
}

// Without an operator: refused before the unit is contacted.
TEST_F(CommissionProgram, RefusesToRunWithoutAnOperator) {
  start_rig();
  start_commission("/dev/null");
  EXPECT_EQ(daq_exit_code(), 2) << daq_->output();
  expect_parts(daq_->output(), {"run it in a terminal"});
  expect_absent(daq_->output(), {"unit "});
}

TEST_F(CommissionProgram, RefusesAReadOnlyRigFile) {
  start_rig();
  std::filesystem::permissions(path("rig.textproto"), std::filesystem::perms::owner_read);
  start_commission(path("answers"));
  EXPECT_EQ(daq_exit_code(), 2) << daq_->output();
  expect_parts(daq_->output(), {"is read-only"});
}

TEST_F(CommissionProgram, EndsOnCtrlCWithTheMotorOff) {
  start_rig();
  start_commission(path("answers"));
  await("press Enter");
  daq_->send_signal(SIGINT);
  EXPECT_EQ(daq_exit_code(), 4) << daq_->output();
  expect_parts(daq_->output(), {"Stopped. The motor is off"});
  stop_sim_with_output_off();
}

TEST_F(CommissionProgram, EndsWhenTheUnitIsLost) {
  start_rig();
  start_commission(path("answers"));
  await("press Enter");
  sim_->send_signal(SIGKILL);
  EXPECT_EQ(daq_exit_code(), 1) << daq_->output();
  expect_parts(daq_->output(), {"nothing was written"});
}

}  // namespace
