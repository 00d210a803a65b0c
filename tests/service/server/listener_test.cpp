#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "service/server/http_endpoint.hpp"
#include "service/server/listener.hpp"
#include "tests/service/server/server_in_hand.hpp"
#include "tests/service/server/socket_client.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using rigcal::v1::ServiceError;
using test_support::expect_parts;
using test_support::GreetedClient;
using test_support::SocketClient;

struct ListenerServed {
  explicit ListenerServed(const ServiceLimits& limits = {}) : server(limits) {
    path = server.store.files.file("socket");
    const std::vector<ListenAddress> places = {parse_listen_address(server.io, "unix:" + path),
                                               parse_listen_address(server.io, "127.0.0.1:0")};
    listener =
        std::make_unique<Listener>(server.io, server.store.context, *server.store.sessions,
                                   *server.store.jobs, places, std::nullopt, ConnectionTimeouts{});
    const std::string text = listener->places().at(1);
    port = static_cast<std::uint16_t>(std::stoi(text.substr(text.rfind(':') + 1)));
    listener->start();
    server.run();
  }
  ~ListenerServed() { server.stop(); }

  std::string path;
  std::uint16_t port = 0;
  test_support::ServerInHand server;
  std::unique_ptr<Listener> listener;
};

ServiceError greet(SocketClient& client) {
  const rigcal::v1::ServiceReply reply = client.call(test_support::hello_request());
  EXPECT_TRUE(reply.has_welcome() || reply.has_error()) << reply.DebugString();
  return reply.error();
}

std::string own_account() {
  const passwd* const entry = ::getpwuid(::geteuid());
  return "account:" + (entry == nullptr ? std::to_string(::geteuid()) : entry->pw_name);
}

// For the Unix socket the kernel reports the client's account; for TCP the identity is the address.
// Data created by one are not owned by the other.
TEST(Listener, IdentifiesAccountsByUnixSocketAndAddressesByTcp) {
  ListenerServed served;
  SocketClient local(served.path);
  ASSERT_TRUE(local.call(test_support::open_request("a")).has_session_opened());
  SocketClient remote(served.port, "127.0.0.7");
  ASSERT_TRUE(remote.call(test_support::open_request("b")).has_session_opened());
  GreetedClient client(served.port);
  const auto owner = [&](const std::string& id) {
    return client.call(test_support::inspect_request(id)).session_info().owner();
  };
  EXPECT_EQ(owner("a"), own_account());
  EXPECT_EQ(owner("b"), "address:127.0.0.7");
  const auto remove = test_support::delete_request("a");
  EXPECT_EQ(client.call(remove).error().code(), ServiceError::NOT_ALLOWED);
  GreetedClient own(served.path);
  EXPECT_EQ(own.call(remove).error().code(), ServiceError::NOT_READY) << "its own, but open";
}

// The last connection within a share and the limit is served, the next one gets the reason. One
// that ends makes room again.
TEST(Listener, EnforcesTheShareAndLimitOfConnections) {
  ServiceLimits limits;
  limits.connections = 3;
  ListenerServed served(limits);
  auto first = std::make_unique<SocketClient>(served.port, "127.0.0.1");
  EXPECT_EQ(greet(*first).code(), 0);
  SocketClient second(served.port, "127.0.0.1");
  EXPECT_EQ(greet(second).code(), 0);
  SocketClient third(served.port, "127.0.0.1");
  const ServiceError share = greet(third);
  EXPECT_EQ(share.code(), ServiceError::BUSY);
  EXPECT_NE(share.text().find("2 connections from address:127.0.0.1 are open"), std::string::npos);
  EXPECT_TRUE(third.closed_by_service(5.0));
  SocketClient local(served.path);
  EXPECT_EQ(greet(local).code(), 0);
  SocketClient fourth(served.path);
  const ServiceError full = greet(fourth);
  expect_parts(full.text(), {"3 connections are open, the limit"});
  EXPECT_TRUE(fourth.closed_by_service(5.0));
  SocketClient again(served.path);
  EXPECT_EQ(greet(again).code(), ServiceError::BUSY) << "who was refused has made no room";
  first.reset();
  SocketClient fifth(served.port, "127.0.0.1");
  EXPECT_EQ(greet(fifth).code(), 0);
}

// At the limit a silent connection is closed: the oldest of the newcomer's own identity first.
TEST(Listener, LetsTheSilentMakeRoomBeginningWithTheNewcomersOwn) {
  ServiceLimits limits;
  limits.connections = 3;
  ListenerServed served(limits);
  SocketClient other(served.port, "127.0.0.2");
  SocketClient older(served.port, "127.0.0.1");
  SocketClient newer(served.port, "127.0.0.1");
  SocketClient client(served.port, "127.0.0.1");
  EXPECT_EQ(greet(client).code(), 0);
  EXPECT_TRUE(older.closed_by_service(5.0));
  EXPECT_EQ(greet(other).code(), 0);
  EXPECT_EQ(greet(newer).code(), 0);
}

// The socket of a dead process is replaced, one with a listener is not, and a file that is no
// socket is not touched. Every account may connect. The socket is removed with the listener.
TEST(Listener, ReplacesTheSocketOfADeadServiceOnly) {
  asio::io_context io;
  const test_support::TemporaryFolder files;
  const std::string path = files.file("socket");
  const ListenAddress place = parse_listen_address(io, "unix:" + path);
  {
    StreamAcceptor dead(io);
    listen_at(dead, place, "--listen");
  }
  ASSERT_TRUE(std::filesystem::exists(path));
  {
    StreamAcceptor alive(io);
    listen_at(alive, place, "--listen");
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0666u);
    StreamAcceptor second(io);
    const std::string taken = test_support::refusal([&] { listen_at(second, place, "--listen"); });
    expect_parts(taken, {"cannot listen at unix:" + path, "stop the program that uses it"});
  }
  std::filesystem::remove(path);
  std::ofstream(path) << "a file";
  StreamAcceptor third(io);
  EXPECT_NE(test_support::refusal([&] { listen_at(third, place, "--listen"); }), "");
  EXPECT_TRUE(std::filesystem::is_regular_file(path));
  std::string served_path;
  {
    ListenerServed served;
    served_path = served.path;
    EXPECT_TRUE(std::filesystem::exists(served_path));
    served.listener.reset();
    EXPECT_FALSE(std::filesystem::exists(served_path));
  }
}

// Distinguishes loopback addresses from those that the network can reach.
TEST(Listener, DistinguishesLoopbackFromTheNetwork) {
  asio::io_context io;
  EXPECT_TRUE(parse_listen_address(io, "127.0.0.1:0").loopback);
  EXPECT_TRUE(parse_listen_address(io, "unix:/tmp/x").loopback);
  EXPECT_FALSE(parse_listen_address(io, "0.0.0.0:0").loopback);
  const std::string longest = "/" + std::string(106, 'x');
  EXPECT_EQ(parse_listen_address(io, "unix:" + longest).unix_path, longest);
  expect_parts(test_support::refusal(
                   [&] { static_cast<void>(parse_listen_address(io, "unix:" + longest + "x")); }),
               {"at most 107 characters"});
  expect_parts(
      test_support::refusal([&] { static_cast<void>(parse_listen_address(io, "unix:relative")); }),
      {"begins with /"});
}

struct Served {
  Served()
      : http(server.io, parse_listen_address(server.io, "127.0.0.1:0"),
             HttpEndpoint::Pages{[] { return std::string("metrics\n"); }, [] { return true; }}) {
    http.start();
    server.run();
  }
  ~Served() { server.stop(); }

  test_support::ServerInHand server;
  HttpEndpoint http;
};

// Whether a request sent now gets a response.
bool answered(SocketClient& client) {
  return client.send_bytes("GET /health HTTP/1.1\r\n\r\n") && client.discard(5.0) > 0;
}

// Forty connections that never finish their request must not block monitoring.
TEST(HttpEndpoint, AnswersWhileFortyConnectionsAreHalfOpen) {
  Served served;
  std::vector<SocketClient> crowd;
  for (int k = 0; k < 40; ++k) {
    crowd.emplace_back(served.http.port());
    ASSERT_TRUE(crowd.back().send_bytes("GET /hea"));
  }
  SocketClient client(served.http.port());
  EXPECT_TRUE(answered(client));
}

// The maximum number of connections is kept; one more closes only the oldest.
TEST(HttpEndpoint, ClosesTheOldestConnectionAboveTheLimit) {
  Served served;
  std::vector<SocketClient> crowd;
  for (std::size_t k = 0; k < HttpEndpoint::kOpenMax; ++k) {
    crowd.emplace_back(served.http.port());
    ASSERT_TRUE(crowd.back().send_bytes("GET /hea"));
  }
  EXPECT_FALSE(crowd.front().closed_by_service(0.05));
  SocketClient more(served.http.port());
  EXPECT_TRUE(answered(more));
  EXPECT_TRUE(crowd.front().closed_by_service(5.0));
  EXPECT_TRUE(crowd[1].send_bytes("lth HTTP/1.1\r\n\r\n"));
  EXPECT_GT(crowd[1].discard(5.0), 0u);
}

}  // namespace
}  // namespace service
