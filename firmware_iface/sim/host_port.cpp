#include "firmware_iface/sim/host_port.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <termios.h>

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <functional>

#include "firmware_iface/transport/descriptor.hpp"
#include "firmware_iface/transport/url.hpp"
#include "proto/text/host_port.hpp"
#include "proto/text/input_error.hpp"

namespace firmware_iface::sim {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// Interval of checks for a host while none is connected.
constexpr Nanoseconds kHostPoll = milliseconds(10);

constexpr const char* kPseudoTerminals = "/dev/pts";

std::size_t undelivered(const IoResult& result, std::size_t size_bytes) {
  return size_bytes - result.size_bytes;
}

class PtyPort final : public HostConnection {
 public:
  PtyPort(Descriptor master, Descriptor claim, std::string link, std::string url)
      : master_(std::move(master)),
        claim_(std::move(claim)),
        link_(std::move(link)),
        url_(std::move(url)) {}

  ~PtyPort() override {
    std::error_code ignored;
    if (!link_.empty()) fs::remove(link_, ignored);
  }

  std::size_t read_some(std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept override {
    const IoResult result = read_descriptor(master_.get(), buffer, deadline);
    // The other end is not kept open here, because a host's exclusive lock would outlive the host.
    // While nobody has it open, the descriptor counts as hung up.
    if (result.status == IoStatus::kClosed) {
      time_.sleep_until(std::min(deadline, time_.now() + kHostPoll));
    }
    return result.size_bytes;
  }

  std::size_t write(std::span<const std::uint8_t> bytes) noexcept override {
    return undelivered(write_descriptor(master_.get(), DescriptorKind::kTerminal, bytes),
                       bytes.size());
  }

  const std::string& url() const noexcept override { return url_; }

 private:
  Descriptor master_;
  Descriptor claim_;  // of the link
  MonotonicTime time_;
  std::string link_;
  std::string url_;
};

class TcpPort final : public HostConnection {
 public:
  Status listen(const proto::NetworkAddress& location) {
    const std::string port = std::to_string(location.port);
    const std::string address = location.host + ":" + port;
    asio::error_code error;
    asio::ip::tcp::resolver resolver(context_);
    const auto endpoints =
        resolver.resolve(location.host, port, asio::ip::tcp::resolver::passive, error);
    if (error) return failed(address, error.message());
    const asio::ip::tcp::endpoint endpoint = *endpoints.begin();
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(1, error);
    if (!error) acceptor_.native_non_blocking(true, error);
    if (error) return failed(address, error.message());
    url_ = "tcp://" + location.host + ":" + std::to_string(acceptor_.local_endpoint().port());
    return success();
  }

  std::size_t read_some(std::span<std::uint8_t> buffer, Nanoseconds deadline) noexcept override {
    if (!client_.is_open()) {
      if (wait_until_readable(acceptor_.native_handle(), deadline) == IoStatus::kOk) accept();
      return 0;
    }
    const IoResult result = read_descriptor(client_.get(), buffer, deadline);
    if (result.status == IoStatus::kClosed) client_.reset();
    return result.size_bytes;
  }

  std::size_t write(std::span<const std::uint8_t> bytes) noexcept override {
    if (!client_.is_open()) return bytes.size();
    return undelivered(write_descriptor(client_.get(), DescriptorKind::kSocket, bytes),
                       bytes.size());
  }

  const std::string& url() const noexcept override { return url_; }

 private:
  static Error failed(const std::string& address, const std::string& why) {
    return {ErrorCode::kPortFailed, "cannot listen on " + address + ": " + why};
  }

  void accept() noexcept {
    asio::error_code error;
    asio::ip::tcp::socket socket(context_);
    acceptor_.accept(socket, error);
    if (error) return;
    socket.set_option(asio::ip::tcp::no_delay(true), error);
    socket.native_non_blocking(true, error);
    Descriptor accepted(socket.release(error));
    if (!error) client_ = std::move(accepted);
  }

  asio::io_context context_;
  asio::ip::tcp::acceptor acceptor_{context_};
  Descriptor client_;
  std::string url_;
};

// Claims a link by binding an abstract socket named after it, which the system releases even if the
// process is killed. The folder is identified by its inode, as it may have several paths.
Result<Descriptor> claim_link(const fs::path& link) {
  struct stat folder {};
  if (::stat(link.parent_path().c_str(), &folder) != 0) {
    return Error{ErrorCode::kPortFailed, link.string() + ": the folder " +
                                             link.parent_path().string() +
                                             " does not exist; make it first"};
  }
  const std::size_t name = std::hash<std::string>{}(link.filename().string());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int size =
      std::snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "rigcal-sim/%llx/%llx/%zx",
                    static_cast<unsigned long long>(folder.st_dev),
                    static_cast<unsigned long long>(folder.st_ino), name);
  Descriptor claim(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto length =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<std::size_t>(size));
  if (claim.is_open() &&
      ::bind(claim.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0) {
    return claim;
  }
  if (claim.is_open() && errno == EADDRINUSE) {
    return Error{ErrorCode::kPortBusy, link.string() +
                                           ": is in use by another rigcal-sim; "
                                           "end that one, or choose another path"};
  }
  return Error{ErrorCode::kPortFailed, link.string() + ": " + describe_errno(errno)};
}

// Removes the link of a killed process after claiming it; anything else is not removed.
Status clear_link(const fs::path& link) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(link, error);
  if (!fs::exists(status)) return success();
  const bool left_behind =
      fs::is_symlink(status) && fs::read_symlink(link, error).parent_path() == kPseudoTerminals;
  if (!left_behind) {
    return Error{
        ErrorCode::kPortBusy,
        link.string() + ": exists already and is not a link of rigcal-sim; choose another path"};
  }
  fs::remove(link, error);
  return success();
}

}  // namespace

Result<std::unique_ptr<HostConnection>> make_pty_port(const std::string& link) {
  const auto failed = [](const std::string& what) {
    return Error{ErrorCode::kPortFailed, "pseudo-terminal: " + what + ": " + describe_errno(errno)};
  };
  Descriptor master(posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  if (!master.is_open()) return failed("posix_openpt");
  if (grantpt(master.get()) != 0) return failed("grantpt");
  if (unlockpt(master.get()) != 0) return failed("unlockpt");
  std::array<char, 128> name{};
  if (ptsname_r(master.get(), name.data(), name.size()) != 0) return failed("ptsname");
  termios settings{};
  if (tcgetattr(master.get(), &settings) != 0) return failed("tcgetattr");
  cfmakeraw(&settings);
  if (tcsetattr(master.get(), TCSANOW, &settings) != 0) return failed("tcsetattr");
  if (link.empty()) {
    return std::unique_ptr<HostConnection>(std::make_unique<PtyPort>(
        std::move(master), Descriptor(), "", std::string("pty://") + name.data()));
  }
  const fs::path absolute = fs::absolute(link);
  Result<Descriptor> claim = claim_link(absolute);
  if (!claim.ok()) return claim.error();
  if (const Status cleared = clear_link(absolute); !cleared.ok()) return cleared.error();
  std::error_code error;
  fs::create_symlink(name.data(), absolute, error);
  if (error) return Error{ErrorCode::kPortFailed, link + ": " + error.message()};
  return std::unique_ptr<HostConnection>(
      std::make_unique<PtyPort>(std::move(master), std::move(claim.value()), absolute.string(),
                                "pty://" + absolute.string()));
}

Result<std::unique_ptr<HostConnection>> make_tcp_port(const std::string& address) {
  const bool port_alone = address.find(':') == std::string::npos;
  try {
    auto port = std::make_unique<TcpPort>();
    const Status listening =
        port->listen(proto::parse_host_port(port_alone ? "127.0.0.1:" + address : address));
    if (!listening.ok()) return listening.error();
    return std::unique_ptr<HostConnection>(std::move(port));
  } catch (const proto::InputError& error) {
    return Error{ErrorCode::kPortFailed, std::string("--tcp: ") + error.what()};
  }
}

}  // namespace firmware_iface::sim
