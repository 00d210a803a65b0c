#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/campaign/caller.hpp"

namespace campaign {

/// Streams sessions that are built to be acknowledged and then to be unstorable or unreadable: time
/// that goes back within a batch and between two, counts at the ends of their ranges, gaps that
/// contradict the samples, names full of escapes and slashes, headers without or with far too much,
/// endings that disagree.
///
/// What is refused is refused with a sentence, and the session goes on with a good batch in its
/// place. What was acknowledged reads back to the bit, takes no more of the disk than its size
/// asks, is written once, and can be deleted.
class Poisoner {
 public:
  Poisoner(Caller caller, std::uint64_t seed) : caller_(std::move(caller)), random_(seed) {}

  /// One session after the other until `stop` is set; the last is brought to its end.
  void run(const std::atomic<bool>& stop);

 private:
  struct Session;

  void poison_one();
  bool stream(Session& session);
  bool send_batches(test_support::SocketClient& client, Session& session);
  void end(test_support::SocketClient& client, Session& session);
  void expect_readable(const Session& session);

  Caller caller_;
  std::mt19937_64 random_;
  int session_count_ = 0;
};

}  // namespace campaign
