#pragma once

#include <atomic>

#include "tests/campaign/caller.hpp"

namespace campaign {

/// A rig that behaves correctly: samples at 1 kHz, twenty batches per second. While the service
/// itself is not disturbed, other clients must not affect it: no lost connection, no refusal, no
/// acknowledgement out of order.
class Canary {
 public:
  Canary(Caller caller, Ledger& ledger) : caller_(std::move(caller)), ledger_(ledger) {}

  /// Runs one session after the other until `stop` is set; the last one is completed.
  void run(const std::atomic<bool>& stop);

 private:
  Caller caller_;
  Ledger& ledger_;
};

}  // namespace campaign
