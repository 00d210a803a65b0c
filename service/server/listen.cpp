#include "service/server/listen.hpp"

#include <netinet/in.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <cerrno>
#include <cstring>
#include <utility>

#include "proto/text/host_port.hpp"
#include "proto/text/input_error.hpp"

namespace service {
namespace {

asio::ip::tcp::endpoint as_tcp(const StreamEndpoint& endpoint) {
  asio::ip::tcp::endpoint tcp;
  tcp.resize(endpoint.size());
  std::memcpy(tcp.data(), endpoint.data(), endpoint.size());
  return tcp;
}

// Removes a socket at which no process listens: it refuses connections. Another kind of file is
// left alone; binding then fails.
void remove_left_over(const ListenAddress& place) {
  struct stat found {};
  if (::lstat(place.unix_path.c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) return;
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto* const address = static_cast<const sockaddr*>(place.endpoint.data());
  const bool dead = ::connect(probe, address, static_cast<socklen_t>(place.endpoint.size())) != 0 &&
                    errno == ECONNREFUSED;
  ::close(probe);
  if (dead) ::unlink(place.unix_path.c_str());
}

}  // namespace

ListenAddress parse_listen_address(asio::io_context& io, const std::string& text) {
  const proto::ServiceLocation place = proto::parse_service_address(text);
  if (!place.unix_path.empty()) {
    return {asio::local::stream_protocol::endpoint(place.unix_path), place.unix_path, true};
  }
  asio::error_code error;
  const auto found =
      asio::ip::tcp::resolver(io).resolve(place.network.host, std::to_string(place.network.port),
                                          asio::ip::tcp::resolver::passive, error);
  if (error || found.empty()) {
    throw proto::InputError("\"" + text + "\" is not an address: " + error.message() +
                            "; give an address of this machine, e.g. 127.0.0.1:7330");
  }
  const asio::ip::tcp::endpoint endpoint = found.begin()->endpoint();
  return {endpoint, "", endpoint.address().is_loopback()};
}

Acceptor::Acceptor(asio::io_context& io, const ListenAddress& place, const std::string& option)
    : acceptor_(io), pause_(io), unix_path_(place.unix_path) {
  if (!place.unix_path.empty()) remove_left_over(place);
  asio::error_code error;
  acceptor_.open(place.endpoint.protocol(), error);
  if (!error && place.unix_path.empty()) {
    acceptor_.set_option(asio::socket_base::reuse_address(true), error);
  }
  if (!error) acceptor_.bind(place.endpoint, error);
  if (!error && !place.unix_path.empty() && ::chmod(place.unix_path.c_str(), 0666) != 0) {
    error = asio::error_code(errno, asio::error::get_system_category());
  }
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (!error) return;
  const bool taken = error == asio::error::address_in_use;
  throw proto::InputError(
      "cannot listen at " + endpoint_text(place.endpoint) + ": " + error.message() + "; " +
      (taken ? "stop the program that uses it, or " : "") + "name another address with " + option);
}

void Acceptor::start(std::function<void(StreamSocket)> take,
                     std::function<void(const asio::error_code&)> failed) {
  take_ = std::move(take);
  failed_ = std::move(failed);
  accept_next();
}

void Acceptor::accept_next() {
  acceptor_.async_accept([this](const asio::error_code& error, StreamSocket socket) {
    // close() may follow a connection that is only now taken.
    if (error == asio::error::operation_aborted || !acceptor_.is_open()) return;
    if (!error) {
      take_(std::move(socket));
      if (acceptor_.is_open()) accept_next();
      return;
    }
    // Probably out of descriptors: retrying at once would only waste processor time.
    if (failed_) failed_(error);
    pause_.expires_after(std::chrono::milliseconds(100));
    pause_.async_wait([this](const asio::error_code& cancelled) {
      if (!cancelled) accept_next();
    });
  });
}

void Acceptor::close() {
  asio::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
}

std::string endpoint_text(const StreamEndpoint& endpoint) {
  const auto* const address = static_cast<const sockaddr*>(endpoint.data());
  if (address->sa_family == AF_UNIX) {
    return std::string("unix:") + reinterpret_cast<const sockaddr_un*>(address)->sun_path;
  }
  const asio::ip::tcp::endpoint tcp = as_tcp(endpoint);
  const std::string host = tcp.address().to_string();
  return (tcp.address().is_v6() ? '[' + host + ']' : host) + ':' + std::to_string(tcp.port());
}

std::uint16_t port_number(const StreamEndpoint& endpoint) {
  const auto* const address = static_cast<const sockaddr*>(endpoint.data());
  return address->sa_family == AF_UNIX ? std::uint16_t{0} : as_tcp(endpoint).port();
}

}  // namespace service
