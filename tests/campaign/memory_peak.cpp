#include "tests/campaign/memory_peak.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace campaign {
namespace {

namespace fs = std::filesystem;

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

}  // namespace campaign
