#include "tests/service/server/service_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
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

Sent send_through(const ServiceProcess& service, const std::string& id, std::uint64_t through,
                  std::uint64_t sample_count) {
  constexpr std::uint64_t kWindow = 8;
  Sent sent;
  SocketClient client(service.port());
  const rigcal::v1::ServiceReply opened = client.call(open_request(id));
  if (opened.has_session_refused()) sent.refused = opened.session_refused();
  if (!opened.has_session_opened()) return sent;
  sent.acknowledged = opened.session_opened().acknowledged_through();
  std::uint64_t next = sent.acknowledged + 1;
  while (sent.acknowledged < through) {
    while (next <= through && next <= sent.acknowledged + kWindow) {
      if (!client.send(batch_request(next, sample_count))) break;
      ++next;
    }
    const auto reply = client.receive();
    if (!reply) return sent;
    if (reply->has_session_refused()) {
      sent.refused = reply->session_refused();
      return sent;
    }
    sent.acknowledged = reply->acknowledge().through();
  }
  return sent;
}

bool is_stored(const ServiceProcess& service, const std::string& id) {
  const std::string folder = service.session_folder(id);
  return std::filesystem::exists(folder + "/recording.mcap") &&
         !std::filesystem::exists(folder + "/spool");
}

void complete_session(ServiceProcess& service, const std::string& id, std::uint64_t batch_count,
                      std::uint64_t sample_count) {
  ASSERT_EQ(send_through(service, id, batch_count, sample_count).acknowledged, batch_count)
      << service.output();
  SocketClient client(service.port());
  ASSERT_TRUE(client.call(open_request(id)).has_session_opened()) << service.output();
  const rigcal::v1::ServiceReply closed = client.call(close_request(batch_count));
  ASSERT_TRUE(closed.has_session_closed()) << closed.DebugString() << service.output();
  ASSERT_EQ(closed.session_closed().through(), batch_count);
  ASSERT_TRUE(eventually([&] { return is_stored(service, id); }, 60.0)) << service.output();
}

}  // namespace test_support
