#include <fcntl.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "service/server/connection.hpp"
#include "service/server/http_server.hpp"
#include "service/server/listener.hpp"
#include "tests/service/server/server_in_hand.hpp"
#include "tests/service/server/socket_client.hpp"
#include "tests/service/server/store_in_hand.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;
using rigcal::v1::ServiceError;

struct ListenerServed {
  explicit ListenerServed(const ServiceLimits& limits = {}) : server(limits) {
    path = server.store.files.file("socket");
    const std::vector<ListenAddress> places = {parse_listen_address(server.io, "unix:" + path),
                                               parse_listen_address(server.io, "127.0.0.1:0")};
    listener =
        std::make_unique<Listener>(server.io, server.store.context, *server.store.sessions,
                                   *server.store.jobs, places, std::nullopt, ConnectionTimeouts{});
    const std::string text = listener->listen_addresses().at(1);
    port = static_cast<std::uint16_t>(std::stoi(text.substr(text.rfind(':') + 1)));
    listener->start();
    server.run();
  }
  ~ListenerServed() { server.stop(); }

  std::string path;
  std::uint16_t port = 0;
  ServerInHand server;
  std::unique_ptr<Listener> listener;
};

ServiceError greet(SocketClient& client) {
  const rigcal::v1::ServiceReply reply = client.call(hello_request());
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
  ASSERT_TRUE(local.call(open_request("a")).has_session_opened());
  SocketClient remote(served.port, "127.0.0.7");
  ASSERT_TRUE(remote.call(open_request("b")).has_session_opened());
  GreetedClient client(served.port);
  const auto owner = [&](const std::string& id) {
    return client.call(inspect_request(id)).session_info().owner();
  };
  EXPECT_EQ(owner("a"), own_account());
  EXPECT_EQ(owner("b"), "address:127.0.0.7");
  const auto remove = delete_request("a");
  EXPECT_EQ(client.call(remove).error().code(), ServiceError::NOT_ALLOWED);
  GreetedClient own(served.path);
  EXPECT_EQ(own.call(remove).error().code(), ServiceError::NOT_READY) << "its own, but open";
}

// A rig that has streamed a batch.
template <typename Place>
std::unique_ptr<SocketClient> make_active_rig(const Place& place, const std::string& id) {
  auto rig = std::make_unique<SocketClient>(place);
  EXPECT_TRUE(rig->call(open_request(id)).has_session_opened());
  EXPECT_TRUE(rig->call(batch_request(1)).has_acknowledge());
  return rig;
}

// The last connection within a share and the limit is served, the next one gets the reason. One
// that ends makes room again.
TEST(Listener, EnforcesTheShareAndLimitOfConnections) {
  ServiceLimits limits;
  limits.connections = 3;
  ListenerServed served(limits);
  auto first = make_active_rig(served.port, "a");
  const auto second = make_active_rig(served.port, "b");
  SocketClient third(served.port, "127.0.0.1");
  const ServiceError share = greet(third);
  EXPECT_EQ(share.code(), ServiceError::BUSY);
  EXPECT_NE(share.text().find("2 connections from address:127.0.0.1 are open"), std::string::npos);
  EXPECT_TRUE(third.closed_by_service(5.0));
  const auto local = make_active_rig(served.path, "c");
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

// At its share, a newer connection of the same identity replaces one that waits for its client:
// those that only greeted first, then the one that was inactive for the longest time. Connections
// of other identities, subscribers and rigs that stream stay.
TEST(Listener, ReplacesIdleConnectionsOfTheSameIdentity) {
  ServiceLimits limits;
  limits.connections = 8;
  ListenerServed served(limits);
  SocketClient other(served.port, "127.0.0.2");
  EXPECT_EQ(greet(other).code(), 0);
  const auto rig = make_active_rig(served.port, "run");
  GreetedClient watcher(served.port);
  ASSERT_TRUE(watcher.call(subscribe_request("run")).has_session_info());
  GreetedClient user(served.port);
  ASSERT_TRUE(user.call(list_request()).has_session_list());
  SocketClient silent_rig(served.port);
  ASSERT_TRUE(silent_rig.call(open_request("idle")).has_session_opened());

  GreetedClient second(served.port);
  EXPECT_TRUE(silent_rig.closed_by_service(5.0)) << "only greeted";
  ASSERT_TRUE(second.call(list_request()).has_session_list());
  GreetedClient third(served.port);
  EXPECT_TRUE(user.closed_by_service(5.0)) << "inactive for the longest time";
  GreetedClient fourth(served.port);
  EXPECT_TRUE(third.closed_by_service(5.0)) << "only greeted";
  EXPECT_FALSE(second.closed_by_service(0.05));
  EXPECT_TRUE(other.call(list_request()).has_session_list());
  EXPECT_TRUE(rig->call(batch_request(2)).has_acknowledge());
  const auto live = watcher.receive(5.0);
  EXPECT_TRUE(live && live->has_live_batch());
  EXPECT_TRUE(second.call(list_request()).has_session_list());
}

// The socket of a dead process is replaced, one with a listener is not, and a file that is no
// socket is not touched. Every account may connect. The socket is removed with the listener.
TEST(Listener, ReplacesTheSocketOfADeadServiceOnly) {
  asio::io_context io;
  const test_support::TemporaryFolder files;
  const std::string path = files.file("socket");
  const ListenAddress place = parse_listen_address(io, "unix:" + path);
  { const Acceptor dead(io, place, "--listen"); }
  ASSERT_TRUE(std::filesystem::exists(path));
  {
    const Acceptor alive(io, place, "--listen");
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0666u);
    const std::string taken = refusal([&] { Acceptor(io, place, "--listen"); });
    expect_parts(taken, {"cannot listen at unix:" + path, "stop the program that uses it"});
  }
  std::filesystem::remove(path);
  std::ofstream(path) << "a file";
  EXPECT_NE(refusal([&] { Acceptor(io, place, "--listen"); }), "");
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

// After close(), which may happen while a connection is taken, accepting neither fails nor
// continues.
TEST(Listener, AcceptsNothingAfterItWasClosed) {
  asio::io_context io;
  const test_support::TemporaryFolder files;
  const std::string path = files.file("socket");
  Acceptor acceptor(io, parse_listen_address(io, "unix:" + path), "--listen");
  int taken = 0, failed = 0;
  acceptor.start(
      [&](const StreamSocket&) {
        ++taken;
        acceptor.close();
      },
      [&](const asio::error_code&) { ++failed; });
  const SocketClient client(path);
  ASSERT_TRUE(client.connected());
  io.run_for(std::chrono::seconds(20));  // ends at once, as nothing is left to do
  EXPECT_TRUE(io.stopped());
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(failed, 0);
}

// Distinguishes loopback addresses from those that the network can reach.
TEST(Listener, DistinguishesLoopbackFromTheNetwork) {
  asio::io_context io;
  EXPECT_TRUE(parse_listen_address(io, "127.0.0.1:0").loopback);
  EXPECT_TRUE(parse_listen_address(io, "unix:/tmp/x").loopback);
  EXPECT_FALSE(parse_listen_address(io, "0.0.0.0:0").loopback);
  const std::string longest = "/" + std::string(106, 'x');
  EXPECT_EQ(parse_listen_address(io, "unix:" + longest).unix_path, longest);
  expect_parts(
      refusal([&] { static_cast<void>(parse_listen_address(io, "unix:" + longest + "x")); }),
      {"at most 107 characters"});
  expect_parts(refusal([&] { static_cast<void>(parse_listen_address(io, "unix:relative")); }),
               {"begins with /"});
}

struct Served {
  explicit Served(HttpTimeouts timeouts = {})
      : http(server.io, parse_listen_address(server.io, "127.0.0.1:0"),
             HttpServices{server.store.context, *server.store.sessions, *server.store.jobs,
                          [] { return std::string("metrics\n"); }, [] { return true; }},
             {}, true, timeouts) {
    http.start();
    server.run();
  }
  ~Served() { server.stop(); }

  ServerInHand server;
  HttpServer http;
};

// Whether a request sent now gets a response.
bool answered(SocketClient& client) {
  return client.send_bytes("GET /health HTTP/1.1\r\n\r\n") && client.discard(5.0) > 0;
}

// The maximum number of connections is kept. One more closes only the oldest, also if all have
// begun a request that they never finish.
TEST(HttpServer, ReplacesTheOldestConnectionAboveTheLimit) {
  Served served;
  std::vector<SocketClient> crowd;
  for (std::size_t k = 0; k < HttpServer::kConnectionsMax; ++k) {
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

// A request that is not completed in time, and an idle connection, are closed.
TEST(HttpServer, ClosesSlowAndIdleConnections) {
  using Seconds = std::chrono::duration<double>;
  Served served({.request = Seconds(0.3), .idle = Seconds(0.3), .write = Seconds(0.3)});
  SocketClient slow(served.http.port()), idle(served.http.port());
  ASSERT_TRUE(slow.send_bytes("GET /hea"));
  EXPECT_TRUE(answered(idle));
  EXPECT_TRUE(slow.closed_by_service(10.0));
  EXPECT_TRUE(idle.closed_by_service(10.0));
}

// A service with one end of each socket pair; the test has the other.
class Sockets {
 public:
  explicit Sockets(const ServiceLimits& limits) : store(limits) {}
  ~Sockets() {
    for (const int end : ends_) ::close(end);
    run_while([] { return true; }, 20);
  }
  Sockets(const Sockets&) = delete;
  Sockets& operator=(const Sockets&) = delete;

  // @return the client's end, which never blocks
  int connect(const std::string& identity, ConnectionTimeouts timeouts = {}) {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
    Peer peer;
    peer.identity.name = identity;
    auto conversation =
        std::make_shared<Conversation>(store.context, *store.sessions, *store.jobs, peer);
    std::make_shared<Connection>(
        store.context, StreamSocket(io_, asio::generic::stream_protocol(AF_UNIX, 0), ends[0]),
        nullptr, timeouts, conversation, [this](Connection*) { ++ended; })
        ->start();
    ends_.push_back(ends[1]);
    return ends[1];
  }

  // Runs the service while the condition holds, at most this long.
  template <typename Condition>
  void run_while(const Condition& condition, int milliseconds = 5000) {
    for (int k = 0; k < milliseconds && condition(); ++k) {
      io_.poll();
      io_.restart();
      store.drain();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  static bool send(int end, const std::string& bytes) {
    return ::send(end, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  // Number of bytes that could be read.
  static std::size_t read_all(int end) {
    std::size_t sum = 0;
    char bytes[65536];
    for (ssize_t count = 0; (count = ::recv(end, bytes, sizeof bytes, 0)) > 0;) {
      sum += static_cast<std::size_t>(count);
    }
    return sum;
  }
  std::size_t read(int end) {
    std::size_t sum = 0;
    run_while([&] { return (sum += read_all(end)) == 0; }, 1000);
    return sum;
  }

  StoreInHand store;
  int ended = 0;

 private:
  asio::io_context io_;
  std::vector<int> ends_;
};

std::string hello() { return request_frame(hello_request()); }

std::string read_request(const std::string& id) {
  return request_frame(test_support::read_request(id));
}

// A recording whose parts are far larger than a socket's own buffer.
void make_large(StoreInHand& store) { store.upload("data", kAnna, std::string(4u << 20, 'x')); }

ServiceLimits limits_of(std::uint64_t share_bytes) {
  ServiceLimits limits;
  limits.buffer_bytes = 64u << 20;
  limits.share.buffer_bytes = share_bytes;
  return limits;
}

// Output that clients do not read is limited for each identity over all of its connections; another
// identity is served as usual. All of it is freed with the connections.
TEST(Connection, BuffersAtMostTheShareOfAnIdentity) {
  constexpr std::uint64_t kShare = 3u << 20;
  Sockets sockets(limits_of(kShare));
  make_large(sockets.store);
  std::vector<int> greedy;
  for (int k = 0; k < 8; ++k) {
    greedy.push_back(sockets.connect("a"));
    ASSERT_TRUE(
        Sockets::send(greedy.back(), hello() + read_request("data") + read_request("data")));
  }
  std::uint64_t most = 0;
  sockets.run_while(
      [&] {
        most = std::max(most, sockets.store.context.buffers.of("a"));
        return true;
      },
      100);
  EXPECT_GT(most, kShare / 2);
  EXPECT_LE(most, kShare + 8 * (64u << 10)) << "and a small reply for each connection";
  const int other = sockets.connect("b");
  ASSERT_TRUE(Sockets::send(other, hello()));
  EXPECT_GT(sockets.read(other), 0u);
  for (const int end : greedy) ::shutdown(end, SHUT_RDWR);
  sockets.run_while([&] { return sockets.ended < 8; });
  EXPECT_EQ(sockets.ended, 8);
  EXPECT_EQ(sockets.store.context.buffers.of("a"), 0u);
}

// A client that is blocked by its other connections' unread output continues when those are gone.
TEST(Connection, ContinuesWhenOthersHaveMadeRoom) {
  Sockets sockets(limits_of(2u << 20));
  make_large(sockets.store);
  sockets.store.context.buffers.add("a", 2u << 20);
  // A rig with little output is served even if all others together have used up everything.
  sockets.store.context.buffers.add("others", 64u << 20);
  const int rig = sockets.connect("rig");
  ASSERT_TRUE(Sockets::send(rig, hello()));
  EXPECT_GT(sockets.read(rig), 0u);
  sockets.store.context.buffers.remove("others", 64u << 20);
  const int end = sockets.connect("a");
  ASSERT_TRUE(Sockets::send(end, hello()));
  sockets.run_while([] { return true; }, 30);
  EXPECT_EQ(Sockets::read_all(end), 0u);
  sockets.store.context.buffers.remove("a", 2u << 20);
  EXPECT_GT(sockets.read(end), 0u);
}

// Unfinished messages count, too: without room nothing more is read. Clients that do not finish a
// message in time are disconnected, so that the others continue. Another identity has its own room.
TEST(Connection, LimitsUnfinishedMessagesToTheShare) {
  constexpr std::size_t kShare = 1u << 20;
  Sockets sockets(limits_of(kShare));
  const std::string frame = request_frame(part_request("x", 0, std::string(900u << 10, 'x')));
  // All that was accepted, except the message's end.
  std::map<int, std::size_t> sent;
  const auto begin = [&](int end) {
    std::size_t& at = sent[end];
    sockets.run_while(
        [&] {
          const std::size_t left = frame.size() - 10 - at;
          const ssize_t count = ::send(end, frame.data() + at, left, MSG_NOSIGNAL);
          if (count > 0) at += static_cast<std::size_t>(count);
          return left > 0;
        },
        100);
    return at == frame.size() - 10;
  };
  ConnectionTimeouts short_one;
  short_one.frame = std::chrono::duration<double>(0.3);
  const int first = sockets.connect("a", short_one);
  const int second = sockets.connect("a");
  const int other = sockets.connect("b");
  for (const int end : {first, second, other}) ASSERT_TRUE(Sockets::send(end, hello()));
  sockets.run_while([] { return true; }, 5);
  EXPECT_TRUE(begin(first));
  EXPECT_FALSE(begin(second));
  EXPECT_TRUE(begin(other));
  EXPECT_LE(sockets.store.context.buffers.of("a"), kShare + (64u << 10));
  sockets.run_while([&] { return sockets.ended == 0; });
  EXPECT_EQ(sockets.ended, 1);
  EXPECT_TRUE(begin(second)) << "the first one's room is there again";
}

// Clients are disconnected if they do not introduce themselves, finish a message or read in time.
// Silence between messages is allowed.
TEST(Connection, DisconnectsClientsAfterATimeout) {
  Sockets sockets(limits_of(32u << 20));
  make_large(sockets.store);
  constexpr std::chrono::duration<double> kShort(0.001);
  const ConnectionTimeouts short_ones{kShort, kShort, kShort};
  const int idle = sockets.connect("idle", short_ones);
  ASSERT_TRUE(Sockets::send(idle, hello()));
  EXPECT_GT(sockets.read(idle), 0u);
  const auto is_cut = [&](const std::string& bytes, const ConnectionTimeouts& timeouts) {
    const int before = sockets.ended;
    const int end = sockets.connect("slow", timeouts);
    EXPECT_TRUE(Sockets::send(end, bytes));
    sockets.run_while([&] { return sockets.ended == before; }, 3000);
    return sockets.ended == before + 1;
  };
  EXPECT_TRUE(is_cut("", {.handshake = kShort}));
  EXPECT_TRUE(is_cut(hello() + read_request("data").substr(0, 7), {.frame = kShort}));
  EXPECT_TRUE(is_cut(hello() + read_request("data"), {.write = kShort}));
  ASSERT_TRUE(Sockets::send(idle, read_request("none")));
  EXPECT_GT(sockets.read(idle), 0u);
}

}  // namespace
}  // namespace service
