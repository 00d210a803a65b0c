#include "firmware_iface/transport/serial_transport.hpp"

#include <libserialport.h>
#include <linux/serial.h>
#include <sys/file.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <vector>

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

constexpr int kBaudRateDefault = 921'600;

struct PortDeleter {
  void operator()(sp_port* port) const noexcept {
    sp_close(port);
    sp_free_port(port);
  }
};
using Port = std::unique_ptr<sp_port, PortDeleter>;

class SerialTransport final : public Transport {
 public:
  SerialTransport(Port port, int fd, TransportReport report)
      : port_(std::move(port)), fd_(fd), report_(std::move(report)) {}

  Nanoseconds now() const noexcept override { return monotonic_now(); }

  IoResult read_some(std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept override {
    if (!port_) return {IoStatus::kClosed, 0};
    for (;;) {
      const IoStatus status = wait_until_readable(fd_, deadline);
      if (status != IoStatus::kOk) return {status, 0};
      const int size_bytes = sp_nonblocking_read(port_.get(), buffer.data(), buffer.size());
      if (size_bytes > 0) return {IoStatus::kOk, static_cast<std::size_t>(size_bytes)};
      // Readable without data means that the port was unplugged.
      if (size_bytes == 0 || errno != EINTR) return {IoStatus::kClosed, 0};
    }
  }

  IoResult write(std::span<const std::uint8_t> bytes) noexcept override {
    if (!port_) return {IoStatus::kClosed, 0};
    const int size_bytes = sp_nonblocking_write(port_.get(), bytes.data(), bytes.size());
    if (size_bytes < 0) return {IoStatus::kClosed, 0};
    const auto accepted = static_cast<std::size_t>(size_bytes);
    return {accepted == bytes.size() ? IoStatus::kOk : IoStatus::kTimeout, accepted};
  }

  void close() noexcept override { port_.reset(); }
  const TransportReport& report() const noexcept override { return report_; }

 private:
  Port port_;
  int fd_;
  TransportReport report_;
};

Error open_error(const std::string& path, sp_return result) {
  if (result != SP_ERR_FAIL) {
    return {ErrorCode::kPortNotFound,
            path + ": not a serial port known to the system; list them: ls -l /dev/serial/by-id"};
  }
  switch (const int error_number = sp_last_error_code()) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
      return {
          ErrorCode::kPortNotFound,
          path + ": no such port; connect the unit and list ports with: ls -l /dev/serial/by-id"};
    case EBUSY:
      return {ErrorCode::kPortBusy, path + ": another program has it open exclusively"};
    case EACCES:
      return {ErrorCode::kPortFailed, path +
                                          ": permission denied; join its group: "
                                          "sudo usermod -aG dialout $USER, then log in again"};
    default:
      return {ErrorCode::kPortFailed, path + ": " + describe_errno(error_number)};
  }
}

// Sets 8N1 at the given rate, without flow control. Returns the failed step; empty if none.
std::string configure(sp_port* port, int baud_rate) {
  if (sp_set_baudrate(port, baud_rate) != SP_OK) {
    return "the driver refuses " + std::to_string(baud_rate) + " baud";
  }
  if (sp_set_bits(port, 8) != SP_OK) return "the driver refuses 8 data bits";
  if (sp_set_parity(port, SP_PARITY_NONE) != SP_OK) return "the driver refuses no parity";
  if (sp_set_stopbits(port, 1) != SP_OK) return "the driver refuses 1 stop bit";
  if (sp_set_flowcontrol(port, SP_FLOWCONTROL_NONE) != SP_OK) {
    return "the driver cannot disable flow control";
  }
  return {};
}

// Configures the driver of an open serial port for low latency: ASYNC_LOW_LATENCY, the USB
// adapter's latency_timer (with FTDI's default of 16 ms it would deliver 62 batches a second), and
// the UART's rx_trig_bytes. Returns one sentence for each: its value, or why it could not be set.
std::vector<std::string> reduce_tty_latency(int fd, const std::string& path) {
  std::error_code error;
  const std::filesystem::path device = std::filesystem::canonical(path, error);
  const std::filesystem::path attributes =
      std::filesystem::path("/sys/class/tty") / device.filename();
  return {set_low_latency(fd),
          set_to_one(attributes / "device" / "latency_timer", "latency_timer", "ms"),
          set_to_one(attributes / "rx_trig_bytes", "rx_trig_bytes", "bytes")};
}

}  // namespace

Status lock_terminal(int fd, const std::string& path) {
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return Error{ErrorCode::kPortBusy,
                   path + ": another program has locked it; end that program first (fuser " + path +
                       " shows it)"};
    }
    return Error{ErrorCode::kPortFailed, path + ": flock: " + describe_errno(errno)};
  }
  if (ioctl(fd, TIOCEXCL) != 0) {
    return Error{ErrorCode::kPortFailed, path + ": TIOCEXCL: " + describe_errno(errno)};
  }
  return success();
}

Result<std::unique_ptr<Transport>> open_serial(const Url& url) {
  if (const Status known = check_url_options(url, "baud"); !known.ok()) return known.error();
  const Result<int> baud = read_int_option(url, "baud", kBaudRateDefault, 1, kBaudRateMax);
  if (!baud.ok()) return baud.error();
  const std::string& path = url.address;

  sp_port* named = nullptr;
  if (const sp_return result = sp_get_port_by_name(path.c_str(), &named); result != SP_OK) {
    return open_error(path, result);
  }
  Port port(named);
  if (const sp_return result = sp_open(port.get(), SP_MODE_READ_WRITE); result != SP_OK) {
    return open_error(path, result);
  }
  int fd = -1;
  if (sp_get_port_handle(port.get(), &fd) != SP_OK) {
    return Error{ErrorCode::kPortFailed, path + ": libserialport gives no descriptor"};
  }
  if (const Status locked = lock_terminal(fd, path); !locked.ok()) return locked.error();
  if (const std::string refused = configure(port.get(), baud.value()); !refused.empty()) {
    return Error{ErrorCode::kPortFailed, path + ": " + refused};
  }
  sp_flush(port.get(), SP_BUF_BOTH);

  TransportReport report;
  report.description = "serial port " + path + ", " + std::to_string(baud.value()) + " baud, 8N1";
  report.baud_rate = baud.value();
  report.notes = reduce_tty_latency(fd, path);
  return std::unique_ptr<Transport>(
      std::make_unique<SerialTransport>(std::move(port), fd, std::move(report)));
}

}  // namespace firmware_iface
