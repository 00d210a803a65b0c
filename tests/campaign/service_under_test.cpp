#include "tests/campaign/service_under_test.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>
#include <vector>

namespace campaign {
namespace {

using test_support::ChildProcess;
using test_support::eventually;

// Below the ports that the kernel gives to outgoing connections, so that nobody takes it while the
// service is down.
std::uint16_t free_port() {
  for (auto port = static_cast<std::uint16_t>(20'000 + ::getpid() % 10'000);; ++port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool free = ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    ::close(socket);
    if (free) return port;
  }
}

constexpr const char* kConfig = R"(limits {
  connections: 200
  free_space_bytes: 0
  handshake_timeout_s: 3
  frame_timeout_s: 4
}
)";

void pause(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

}  // namespace

ServiceUnderTest::ServiceUnderTest(std::string programs, std::string folder, Ledger& ledger)
    : programs_(std::move(programs)),
      folder_(std::move(folder)),
      ledger_(ledger),
      port_(free_port()) {
  std::filesystem::create_directories(data_folder());
  mounted_ = ::mount("tmpfs", data_folder().c_str(), "tmpfs", 0, "size=512m") == 0;
  std::ofstream(folder_ + "/daemon.textproto") << kConfig;
}

ServiceUnderTest::~ServiceUnderTest() {
  process_.reset();
  if (mounted_) ::umount2(data_folder().c_str(), MNT_DETACH);
}

bool ServiceUnderTest::start() {
  const std::vector<std::string> command = {"/usr/bin/env",
                                            "LD_PRELOAD=" FAILING_DISK,
                                            "RIGCAL_FAILING_DISK=" + folder_ + "/fail",
                                            "ASAN_OPTIONS=verify_asan_link_order=0",
                                            programs_ + "/rigcald",
                                            "--config",
                                            folder_ + "/daemon.textproto",
                                            "--data",
                                            data_folder(),
                                            "--listen",
                                            "127.0.0.1:" + std::to_string(port_)};
  process_ = std::make_unique<ChildProcess>(
      command, folder_ + "/service-" + std::to_string(++start_count_) + ".log");
  const bool listening = eventually(
      [&] {
        return process_->output().find("rigcald listens at") != std::string::npos ||
               process_->wait(0.0).has_value();
      },
      60.0);
  if (listening && !process_->wait(0.0)) return true;
  dead_.store(true);
  ledger_.fail("rigcald does not start: " + process_->output());
  return false;
}

void ServiceUnderTest::kill_and_restart(double down_s) {
  ++disturbances_;
  process_->send_signal(SIGKILL);
  process_->wait(10.0);
  ledger_.count("kills -9 of rigcald");
  pause(down_s);
  start();
  ++disturbances_;
}

void ServiceUnderTest::expect_orderly_end() {
  process_->send_signal(SIGTERM);
  const auto code = process_->wait(60.0);
  if (code != 0) {
    ledger_.fail("rigcald ended with " + (code ? std::to_string(*code) : "no status") +
                 " on SIGTERM: " + process_->output());
  }
}

void ServiceUnderTest::restart_in_order() {
  ++disturbances_;
  expect_orderly_end();
  ledger_.count("orderly restarts of rigcald");
  start();
  ++disturbances_;
}

// The bytes that are lost need somebody to write some.
void ServiceUnderTest::fail_disk_once() {
  ++disturbances_;
  const std::string path = folder_ + "/fail";
  std::ofstream{path};
  const bool met = eventually([&] { return !std::filesystem::exists(path); }, 5.0);
  if (met) ledger_.count("failed fsyncs of rigcald, with their bytes lost");
  std::filesystem::remove(path);
  pause(0.2);  // those whose bytes were lost are refused in this time
  ++disturbances_;
}

void ServiceUnderTest::fill_disk(double duration_s) {
  if (!mounted_) return;
  ++disturbances_;
  const std::string path = data_folder() + "/ballast";
  {
    std::ofstream file(path);
    const std::string block(1 << 20, 'x');
    while (file.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
    file.clear();
    while (file.write(block.data(), 512).flush()) {
    }
  }
  pause(duration_s);
  std::filesystem::remove(path);
  ledger_.count("times without a byte left on rigcald's disk");
  ++disturbances_;
}

void ServiceUnderTest::stop() {
  ++disturbances_;
  if (process_->wait(0.0)) ledger_.fail("rigcald ended by itself: " + process_->output());
  expect_orderly_end();
  for (int k = 1; k <= start_count_; ++k) {
    std::ifstream file(folder_ + "/service-" + std::to_string(k) + ".log");
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    for (const char* sign : {"Sanitizer", "runtime error", "terminate called", "Assertion"}) {
      const std::size_t at = text.find(sign);
      if (at != std::string::npos) ledger_.fail("rigcald: " + text.substr(at, 4000));
    }
  }
}

}  // namespace campaign
