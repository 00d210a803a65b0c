#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/campaign/ledger.hpp"
#include "tests/campaign/service_under_test.hpp"
#include "tests/service/server/socket_client.hpp"

namespace campaign {

/// A rig that makes every mistake with which it still has a right to its samples: sends batches
/// twice, out of order and altered after their acknowledgement, stops in the middle, closes its
/// direction, reconnects while its old connection hangs. Its samples are those of batch_request(),
/// so that the stored ones can be checked exactly.
class MadeUpRig {
 public:
  MadeUpRig(std::string name, ServiceUnderTest& service, Ledger& ledger, std::uint64_t seed);

  /// Streams one session after the other until `stop` is set; the last one is completed.
  void run(const std::atomic<bool>& stop);

 private:
  enum class End { kConnectionLost, kAllAcknowledged };

  void stream_session();
  bool open();
  End stream(test_support::SocketClient& client);
  bool misbehave(test_support::SocketClient& client, std::uint64_t& next);
  bool take_acknowledgements(test_support::SocketClient& client, double timeout_s);
  void acknowledge(std::uint64_t through);
  bool close(test_support::SocketClient& client);
  void compare();

  std::string name_;
  ServiceUnderTest& service_;
  Ledger& ledger_;
  std::mt19937_64 random_;
  int session_count_ = 0;

  // Id of the session.
  std::string id_;
  std::uint64_t batch_count_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t sent_through_ = 0;
  bool expects_refusal_ = false;
  std::optional<test_support::SocketClient> hanging_;  // a connection that was left open
};

}  // namespace campaign
