#include "service/server/http_endpoint.hpp"

#include "tests/service/server/server_in_hand.hpp"
#include "tests/service/server/socket_client.hpp"

namespace service {
namespace {

using test_support::SocketClient;

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
