#pragma once

#include <sys/socket.h>

#include <array>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>
#include <atomic>
#include <limits>
#include <string>
#include <thread>

#include "tests/proto/stream_peer.hpp"

namespace test_support {

/// A StreamPeer on a local TCP port that serves one connection after the other, on a thread of its
/// own, from construction to destruction. The peer must outlive it, and keeps the durable data like
/// the disk of a restarted service.
class LocalService {
 public:
  static constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

  /// @param port                 0: any free port
  /// @param hang_up_after_bytes  the first connection is cut after this many bytes; data received
  ///                             but not yet durable are lost
  explicit LocalService(StreamPeer& peer, std::uint16_t port = 0,
                        std::size_t hang_up_after_bytes = kNever)
      : peer_(peer),
        acceptor_(context_, Tcp::endpoint(asio::ip::address_v4::loopback(), port)),
        hang_up_after_bytes_(hang_up_after_bytes),
        thread_([this] { serve(); }) {}

  ~LocalService() {
    stop_.store(true);
    // Wakes a pending accept and ends the current connection.
    asio::error_code ignored;
    Tcp::socket wake(context_);
    wake.connect(acceptor_.local_endpoint(), ignored);
    const int connection = connection_.load();
    if (connection >= 0) ::shutdown(connection, SHUT_RDWR);
    thread_.join();
  }

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
  std::string host_port() const { return "127.0.0.1:" + std::to_string(port()); }
  int connection_count() const { return connection_count_.load(); }

 private:
  using Tcp = asio::ip::tcp;

  void serve() {
    while (!stop_.load()) {
      Tcp::socket socket(context_);
      asio::error_code error;
      acceptor_.accept(socket, error);
      if (error || stop_.load()) return;
      ++connection_count_;
      peer_.on_connected();
      connection_.store(socket.native_handle());
      if (!stop_.load()) talk(socket);
      connection_.store(-1);
    }
  }

  void talk(Tcp::socket& socket) {
    std::array<char, 4096> buffer;
    asio::error_code error;
    std::size_t received = 0;
    for (;;) {
      const std::size_t size = socket.read_some(asio::buffer(buffer), error);
      if (error) return;
      received += size;
      const auto replies = peer_.on_bytes({buffer.data(), size});
      if (!replies) return;
      if (connection_count_ == 1 && received > hang_up_after_bytes_) return peer_.crash();
      asio::write(socket, asio::buffer(*replies + peer_.make_durable()), error);
      if (error) return;
    }
  }

  StreamPeer& peer_;
  asio::io_context context_;
  Tcp::acceptor acceptor_;
  std::size_t hang_up_after_bytes_;
  std::atomic<int> connection_count_{0};
  std::atomic<int> connection_{-1};  // descriptor of the current connection
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

/// Returns a local port on which nothing listens.
inline std::uint16_t refusing_port() {
  asio::io_context context;
  asio::ip::tcp::acceptor taken(context,
                                asio::ip::tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  return taken.local_endpoint().port();
}

/// Returns the sequence numbers of all samples of a session, in the order received.
inline std::vector<std::uint64_t> sample_sequences(const StreamPeer::Session& session) {
  std::vector<std::uint64_t> all;
  for (const std::string& bytes : session.batches) {
    rigcal::v1::SampleBatch batch;
    if (!batch.ParseFromString(bytes)) std::abort();
    for (const auto& sample : batch.samples()) all.push_back(sample.sequence());
  }
  return all;
}

}  // namespace test_support
