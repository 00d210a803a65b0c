#include "firmware_iface/transport/tty_latency.hpp"

#include <linux/serial.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "firmware_iface/transport/descriptor.hpp"

namespace firmware_iface {
namespace {

std::string set_low_latency(int fd) {
  serial_struct serial{};
  if (ioctl(fd, TIOCGSERIAL, &serial) != 0) {
    return "low_latency: not set, the driver does not offer it: " + describe_errno(errno);
  }
  serial.flags |= ASYNC_LOW_LATENCY;
  if (ioctl(fd, TIOCSSERIAL, &serial) != 0) {
    return "low_latency: not set: " + describe_errno(errno);
  }
  return "low_latency: set";
}

// Writes "1" to a driver's attribute and returns its value afterwards.
std::string set_to_one(const std::filesystem::path& attribute, const std::string& name,
                       const std::string& unit) {
  std::error_code error;
  if (!std::filesystem::exists(attribute, error)) return name + ": this driver has none";
  std::string before;
  std::ifstream(attribute) >> before;
  if (before == "1") return name + ": 1 " + unit;
  std::ofstream(attribute) << "1\n";
  std::string after;
  std::ifstream(attribute) >> after;
  if (after == "1") return name + ": 1 " + unit + " (was " + before + ")";
  return name + ": " + after + " " + unit + ", not granted; as root: echo 1 > " +
         attribute.string();
}

}  // namespace

std::vector<std::string> reduce_tty_latency(int fd, const std::string& path) {
  std::error_code error;
  const std::filesystem::path device = std::filesystem::canonical(path, error);
  const std::filesystem::path attributes =
      std::filesystem::path("/sys/class/tty") / device.filename();
  return {set_low_latency(fd),
          set_to_one(attributes / "device" / "latency_timer", "latency_timer", "ms"),
          set_to_one(attributes / "rx_trig_bytes", "rx_trig_bytes", "bytes")};
}

}  // namespace firmware_iface
