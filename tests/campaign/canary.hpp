#pragma once

#include <atomic>
#include <string>

#include "tests/campaign/ledger.hpp"
#include "tests/campaign/service_under_test.hpp"

namespace campaign {

/// A rig computer that does nothing wrong, twenty batches a second. While nobody disturbs the
/// service itself, whatever other clients do must not show here: no connection lost, no refusal, no
/// acknowledgement that is not the next one.
void run_canary(ServiceUnderTest& service, Ledger& ledger, const std::atomic<bool>& stop);

}  // namespace campaign
