#include "firmware_iface/transport/stream_transport.hpp"

#include <fcntl.h>
#include <termios.h>

#include <asio/connect.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <cerrno>
#include <charconv>

#include "firmware_iface/transport/descriptor.hpp"
#include "firmware_iface/transport/serial_transport.hpp"

namespace firmware_iface {
namespace {

/// Transport over a connected, non-blocking descriptor.
class StreamTransport final : public Transport {
 public:
  StreamTransport(Descriptor descriptor, DescriptorKind kind, TransportReport report)
      : descriptor_(std::move(descriptor)), kind_(kind), report_(std::move(report)) {}

  Nanoseconds now() const noexcept override { return monotonic_now(); }

  IoResult read_some(std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept override {
    if (!descriptor_.is_open()) return {IoStatus::kClosed, 0};
    return read_descriptor(descriptor_.get(), buffer, deadline);
  }

  IoResult write(std::span<const std::uint8_t> bytes) noexcept override {
    if (!descriptor_.is_open()) return {IoStatus::kClosed, 0};
    return write_descriptor(descriptor_.get(), kind_, bytes);
  }

  void close() noexcept override { descriptor_.reset(); }
  const TransportReport& report() const noexcept override { return report_; }

 private:
  Descriptor descriptor_;
  DescriptorKind kind_;
  TransportReport report_;
};

Error open_error(const std::string& path, int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENXIO:
      return {ErrorCode::kPortNotFound,
              path + ": no such port; start rigcal-sim --link " + path + " first"};
    case EBUSY:
      return {ErrorCode::kPortBusy, path + ": another program has it open exclusively"};
    default:
      return {ErrorCode::kPortFailed, path + ": " + describe_errno(error_number)};
  }
}

// Splits "host:port" or "[v6]:port"; returns false without a host or a port from 1 to 65535. The
// resolver would take a larger number modulo 65536.
bool split_host_port(const std::string& address, std::string& host, std::string& port) {
  const std::size_t colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0) return false;
  host = address.substr(0, colon);
  port = address.substr(colon + 1);
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  std::uint16_t number = 0;
  const char* const end = port.data() + port.size();
  const auto parsed = std::from_chars(port.data(), end, number);
  return !host.empty() && parsed.ec == std::errc() && parsed.ptr == end && number > 0;
}

}  // namespace

Result<std::unique_ptr<Transport>> open_pty(const Url& url) {
  if (const Status known = check_url_options(url, "baud"); !known.ok()) return known.error();
  const Result<int> baud = read_int_option(url, "baud", 0, 1, kBaudRateMax);
  if (!baud.ok()) return baud.error();

  const std::string& path = url.address;
  Descriptor descriptor(::open(path.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  if (!descriptor.is_open()) return open_error(path, errno);
  termios settings{};
  if (tcgetattr(descriptor.get(), &settings) != 0) {
    return Error{ErrorCode::kPortFailed, path + ": not a terminal: " + describe_errno(errno)};
  }
  if (const Status locked = lock_terminal(descriptor.get(), path); !locked.ok()) {
    return locked.error();
  }
  cfmakeraw(&settings);
  if (tcsetattr(descriptor.get(), TCSANOW, &settings) != 0) {
    return Error{ErrorCode::kPortFailed, path + ": tcsetattr: " + describe_errno(errno)};
  }
  tcflush(descriptor.get(), TCIOFLUSH);

  TransportReport report;
  report.description = "pseudo-terminal " + path;
  if (baud.value() > 0) report.baud_rate = baud.value();
  return std::unique_ptr<Transport>(std::make_unique<StreamTransport>(
      std::move(descriptor), DescriptorKind::kTerminal, std::move(report)));
}

Result<std::unique_ptr<Transport>> open_tcp(const Url& url) {
  if (const Status known = check_url_options(url, "baud,connect_timeout_ms"); !known.ok()) {
    return known.error();
  }
  const Result<int> baud = read_int_option(url, "baud", 0, 1, kBaudRateMax);
  if (!baud.ok()) return baud.error();
  const Result<int> timeout_ms = read_int_option(url, "connect_timeout_ms", 3000, 1, 60'000);
  if (!timeout_ms.ok()) return timeout_ms.error();
  std::string host;
  std::string port;
  if (!split_host_port(url.address, host, port)) {
    return Error{
        ErrorCode::kBadUrl,
        "\"" + url.text + "\": expected tcp://host:port, with a port number from 1 to 65535"};
  }

  asio::io_context context;
  asio::error_code error;
  asio::ip::tcp::resolver resolver(context);
  const auto endpoints = resolver.resolve(host, port, error);
  if (error) return Error{ErrorCode::kPortNotFound, url.address + ": " + error.message()};
  asio::ip::tcp::socket socket(context);
  error = asio::error::timed_out;
  asio::async_connect(
      socket, endpoints,
      [&error](const asio::error_code& result, const asio::ip::tcp::endpoint&) { error = result; });
  context.run_for(std::chrono::milliseconds(timeout_ms.value()));
  if (error) {
    return Error{error == asio::error::connection_refused ? ErrorCode::kPortNotFound
                                                          : ErrorCode::kPortFailed,
                 url.address + ": " + error.message() + "; check that the server is running"};
  }
  // Our frames are much smaller than a segment; collected, they would arrive in bunches.
  socket.set_option(asio::ip::tcp::no_delay(true), error);
  if (!error) socket.native_non_blocking(true, error);
  Descriptor descriptor(socket.release(error));
  if (error) return Error{ErrorCode::kPortFailed, url.address + ": " + error.message()};

  TransportReport report;
  report.description = "TCP connection to " + url.address;
  if (baud.value() > 0) report.baud_rate = baud.value();
  return std::unique_ptr<Transport>(std::make_unique<StreamTransport>(
      std::move(descriptor), DescriptorKind::kSocket, std::move(report)));
}

}  // namespace firmware_iface
