#include "tests/campaign/service_under_test.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>
#include <utility>
#include <vector>

namespace campaign {
namespace {

namespace fs = std::filesystem;
using namespace test_support;

// Below the kernel's ports for outgoing connections, so that nobody takes it while the service is
// down.
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

// Default settings, except those that make a campaign short.
constexpr const char* kConfig = R"(limits {
  free_space_bytes: 0
  handshake_timeout_s: 3
  frame_timeout_s: 4
  job_duration_s: 60
  job_memory_bytes: 1073741824
}
workers: 2
)";

constexpr int kStoreTriesMax = 3;

void pause_s(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

// Content of a file of a process that may end at any moment, for which a stream would throw.
std::string content(const std::string& path) {
  std::array<char, 4096> text{};
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const ssize_t size = ::read(file, text.data(), text.size());
  ::close(file);
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

// A number from /proc/PID/status, 0 if missing.
std::uint64_t number_after(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + key.size(), nullptr, 10);
}

}  // namespace

void MemoryPeak::look(pid_t service) {
  if (service <= 0) return;
  const std::uint64_t of_service =
      number_after(content("/proc/" + std::to_string(service) + "/status"), "VmHWM:");
  std::uint64_t of_worker = 0;
  std::error_code ignored;
  for (auto entry = fs::directory_iterator("/proc", ignored); entry != fs::directory_iterator();
       entry.increment(ignored)) {
    const std::string name = entry->path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string status = content(entry->path().string() + "/status");
    if (number_after(status, "PPid:") != static_cast<std::uint64_t>(service)) continue;
    // Between fork and exec a child still has the service's memory.
    if (content(entry->path().string() + "/cmdline").find("run-job") == std::string::npos) continue;
    of_worker = std::max(of_worker, number_after(status, "VmHWM:"));
  }
  const std::lock_guard lock(mutex_);
  service_kib_ = std::max(service_kib_, of_service);
  worker_kib_ = std::max(worker_kib_, of_worker);
}

double MemoryPeak::service_mb() const {
  const std::lock_guard lock(mutex_);
  return static_cast<double>(service_kib_) * 1024e-6;
}

double MemoryPeak::worker_mb() const {
  const std::lock_guard lock(mutex_);
  return static_cast<double>(worker_kib_) * 1024e-6;
}

ServiceUnderTest::ServiceUnderTest(std::string programs, std::string folder, Ledger& ledger)
    : programs_(std::move(programs)),
      folder_(std::move(folder)),
      socket_path_(socket_folder_.file("rigcald.sock")),
      ledger_(ledger),
      port_(free_port()) {
  fs::create_directories(data_folder());
  fs::permissions(socket_folder_.file(""), fs::perms(0711));
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
                                            "127.0.0.1:" + std::to_string(port_),
                                            "--listen",
                                            "unix:" + socket_path_};
  process_ = std::make_unique<ChildProcess>(
      command, folder_ + "/service-" + std::to_string(++start_count_) + ".log");
  const bool listening = eventually(
      [&] { return process_->says("rigcald listens at unix:") || process_->wait(0.0).has_value(); },
      60.0);
  if (listening && !process_->wait(0.0)) {
    pid_.store(process_->pid());
    return true;
  }
  dead_.store(true);
  ledger_.fail("rigcald does not start: " + process_->output());
  return false;
}

void ServiceUnderTest::kill_and_restart(double down_s) {
  ++disturbances_;
  memory_.look(pid_.exchange(0));
  process_->send_signal(SIGKILL);
  process_->wait(10.0);
  ledger_.count("kills -9 of rigcald");
  pause_s(down_s);
  start();
  ++disturbances_;
}

void ServiceUnderTest::expect_orderly_end() {
  memory_.look(pid_.exchange(0));
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

// Bytes can only be lost if a client writes some.
void ServiceUnderTest::fail_disk_once() {
  ++disturbances_;
  const std::string path = folder_ + "/fail";
  std::ofstream{path};
  const bool met = eventually([&] { return !fs::exists(path); }, 5.0);
  if (met) ledger_.count("failed fsyncs of rigcald, with their bytes lost");
  fs::remove(path);
  pause_s(0.2);  // clients with lost bytes are refused in this time
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
  pause_s(duration_s);
  fs::remove(path);
  ledger_.count("times without a byte left on rigcald's disk");
  ++disturbances_;
}

void ServiceUnderTest::stop() {
  ++disturbances_;
  if (process_->wait(0.0)) ledger_.fail("rigcald ended by itself: " + process_->output());
  expect_orderly_end();
  for (int k = 1; k <= start_count_; ++k) {
    std::ifstream file(folder_ + "/service-" + std::to_string(k) + ".log");
    look_at_log({std::istreambuf_iterator<char>(file), {}});
  }
}

void ServiceUnderTest::keep_logs(const std::string& to) const {
  fs::create_directories(to);
  for (int k = 1; k <= start_count_; ++k) {
    const std::string name = "/service-" + std::to_string(k) + ".log";
    std::error_code ignored;  // a life that did not begin has no log
    fs::copy_file(folder_ + name, to + name, fs::copy_options::overwrite_existing, ignored);
  }
}

// Checks the log of one life of the service.
void ServiceUnderTest::look_at_log(const std::string& text) {
  for (const char* sign : {"Sanitizer", "runtime error", "terminate called", "Assertion"}) {
    const std::size_t at = text.find(sign);
    if (at != std::string::npos) ledger_.fail("rigcald: " + text.substr(at, 4000));
  }
  std::map<std::string, int> tries;  // by session, except those that waited for space
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool done = line.find("event=recording_stored ") != std::string::npos;
    const bool failed = line.find("event=recording_store_failed ") != std::string::npos &&
                        line.find("No space") == std::string::npos &&
                        line.find("kB left") == std::string::npos;
    if (!done && !failed) continue;
    const std::size_t at = line.find("session=");
    const std::string session = line.substr(at, line.find(' ', at) - at);
    if (++tries[session] == kStoreTriesMax + 1) {
      ledger_.fail("rigcald wrote a recording again and again: " + line);
    }
  }
}

}  // namespace campaign
