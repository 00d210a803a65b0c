#include "service/server/listen.hpp"

#include <sstream>

#include "proto/text/host_port.hpp"
#include "proto/text/input_error.hpp"

namespace service {

asio::ip::tcp::endpoint parse_endpoint(asio::io_context& io, const std::string& text) {
  const proto::HostPort place = proto::parse_host_port(text);
  asio::error_code error;
  const auto found = asio::ip::tcp::resolver(io).resolve(place.host, std::to_string(place.port),
                                                         asio::ip::tcp::resolver::passive, error);
  if (error || found.empty()) {
    throw proto::InputError("'" + text + "' is no address: " + error.message() +
                            "; name one of this machine's, e.g. 127.0.0.1:7330");
  }
  return found.begin()->endpoint();
}

void listen_at(asio::ip::tcp::acceptor& acceptor, const asio::ip::tcp::endpoint& endpoint,
               const std::string& option) {
  asio::error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) return;
  const bool taken = error == asio::error::address_in_use;
  std::ostringstream text;
  text << "cannot listen at " << endpoint << ": " << error.message() << "; "
       << (taken ? "end the program that does, or " : "") << "name another address with " << option;
  throw proto::InputError(text.str());
}

}  // namespace service
