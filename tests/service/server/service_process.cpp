#include "tests/service/server/service_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <utility>

namespace test_support {

ServiceProcess::ServiceProcess(std::vector<std::string> options, std::string host)
    : options_(std::move(options)), host_(std::move(host)) {}

void ServiceProcess::configure(const std::string& text) {
  std::ofstream(files_.file("daemon.textproto")) << text;
  options_.insert(options_.end(), {"--config", files_.file("daemon.textproto")});
}

bool ServiceProcess::start(const std::function<void()>& before_exec) {
  process_.reset();
  std::vector<std::string> command = {RIGCALD_BINARY, "--data", folder(), "--listen", host_ + ":0"};
  command.insert(command.end(), options_.begin(), options_.end());
  // One file per start: the child truncates it only after the first check.
  const std::string output = files_.file("output-" + std::to_string(++start_count_));
  process_ = std::make_unique<ChildProcess>(command, output, before_exec);
  const std::string line = "rigcald listens at " + host_ + ":";
  const bool listening = eventually(
      [&] {
        const std::string text = process_->output();
        const std::size_t at = text.find(line);
        if (at == std::string::npos || text.find('\n', at) == std::string::npos) {
          return process_->wait(0.0).has_value();
        }
        port_ = static_cast<std::uint16_t>(std::atoi(text.c_str() + at + line.size()));
        return true;
      },
      30.0);
  return listening && !process_->wait(0.0);
}

void ServiceProcess::kill() {
  process_->send_signal(SIGKILL);
  process_->wait(10.0);
}

std::optional<int> ServiceProcess::stop() {
  process_->send_signal(SIGTERM);
  return process_->wait(20.0);
}

std::uint64_t ServiceProcess::logged_number(const std::string& key) const {
  const std::string text = process_->output();
  const std::size_t at = text.find(" " + key + "=");
  if (at == std::string::npos) return 0;
  return std::strtoull(text.c_str() + at + key.size() + 2, nullptr, 10);
}

RunningService::RunningService(std::vector<std::string> options, const std::string& config)
    : ServiceProcess(std::move(options)) {
  if (!config.empty()) configure(config);
  EXPECT_TRUE(start()) << output();
}

}  // namespace test_support
