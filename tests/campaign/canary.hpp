#pragma once

#include <atomic>

#include "tests/campaign/caller.hpp"

namespace campaign {

/// A rig computer that does nothing wrong: samples of 1 kHz, twenty batches a second. While nobody
/// disturbs the service itself, whatever other clients do must not show here: no connection lost,
/// no refusal, no acknowledgement that is not the next one.
class Canary {
 public:
  Canary(Caller caller, Ledger& ledger) : caller_(std::move(caller)), ledger_(ledger) {}

  /// One session after the other until `stop` is set; the last is brought to its end.
  void run(const std::atomic<bool>& stop);

 private:
  Caller caller_;
  Ledger& ledger_;
};

}  // namespace campaign
