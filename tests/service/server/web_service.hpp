#pragma once

#include <cstdlib>
#include <string>

#include "tests/service/server/service_process.hpp"

namespace test_support {

struct HttpReply {
  int status = 0;
  std::string head, body;
};

/// A running service with its HTTP server.
struct Web {
  explicit Web(const std::string& config = "")
      : service({"--http", "127.0.0.1:0"}, config),
        port(static_cast<std::uint16_t>(service.logged_number("port"))) {}

  std::string head_of(const std::string& line, const std::string& headers = "") const {
    return line + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n" + headers;
  }

  HttpReply raw(const std::string& request) const {
    SocketClient client(port);
    EXPECT_TRUE(client.send_bytes(request));
    HttpReply reply;
    reply.head = client.receive_until("\r\n\r\n");
    reply.body = client.receive_until("the end of the connection");
    if (reply.head.size() > 12) reply.status = std::atoi(reply.head.c_str() + 9);
    return reply;
  }

  HttpReply call(const std::string& line, const std::string& body = "",
                 const std::string& headers = "") const {
    const std::string type = body.empty() ? "" : "Content-Type: application/json\r\n";
    return raw(head_of(line, headers + type) + "Connection: close\r\nContent-Length: " +
               std::to_string(body.size()) + "\r\n\r\n" + body);
  }

  RunningService service;
  std::uint16_t port;
};

}  // namespace test_support
