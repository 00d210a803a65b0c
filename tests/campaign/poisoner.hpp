#pragma once

#include <atomic>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tests/campaign/caller.hpp"

namespace campaign {

/// Streams sessions that are built to be acknowledged and then to be impossible to store or read:
/// time that goes back within a batch and between two, counts at the ends of their ranges, gaps
/// that contradict the samples, names full of escapes and slashes, headers without or with far too
/// much content, contradictory ends.
///
/// A refusal must have a sentence, and the session continues with a valid batch instead.
/// Acknowledged data must be read back exactly, take no more disk space than their size requires,
/// be written once, and can be deleted.
class Poisoner {
 public:
  Poisoner(Caller caller, std::uint64_t seed) : caller_(std::move(caller)), random_(seed) {}

  /// Runs one session after the other until `stop` is set; the last one is completed.
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
