#pragma once

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <thread>

#include "tests/service/server/store_in_hand.hpp"
#include "tests/support/for_everybody.hpp"

namespace test_support {

/// A store whose tasks and sockets run on one thread beside the test's thread. The sockets' objects
/// must outlive `stop`, since the thread may be using them.
class ServerInHand {
 public:
  explicit ServerInHand(const service::ServiceLimits& limits = {}) : store(limits) {
    const service::Poster post = [this](service::Task task) { asio::post(io, std::move(task)); };
    store.context.main = post;
    store.context.reader = store.context.maintenance = service::for_everybody(post);
    store.context.storage = {store.context.reader, store.context.reader};
  }
  ~ServerInHand() { stop(); }
  ServerInHand(const ServerInHand&) = delete;
  ServerInHand& operator=(const ServerInHand&) = delete;

  /// Starts the thread. To be called once everything is set up.
  void run() {
    thread_ = std::thread([this] { io.run(); });
  }

  void stop() {
    io.stop();
    if (thread_.joinable()) thread_.join();
  }

  StoreInHand store;
  asio::io_context io;  // its handlers own conversations with the store

 private:
  asio::executor_work_guard<asio::io_context::executor_type> guard_{io.get_executor()};
  std::thread thread_;
};

}  // namespace test_support
