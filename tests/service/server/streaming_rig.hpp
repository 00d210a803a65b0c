#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tests/service/server/service_process.hpp"

namespace test_support {

/// Result of sending batches of a rig to the service.
struct Sent {
  std::uint64_t acknowledged = 0;
  std::optional<rigcal::v1::SessionRefused> refused;
};

/// Opens a session like a rig and sends the batches that the service lacks, until
/// batch_request(through) is acknowledged or refused.
Sent send_through(const ServiceProcess& service, const std::string& id, std::uint64_t through,
                  std::uint64_t sample_count = 20);

/// Sends batches as send_through does, and expects that they are accepted. Closes the session and
/// waits for its recording.
void complete_session(ServiceProcess& service, const std::string& id, std::uint64_t batch_count,
                      std::uint64_t sample_count = 20);

/// Returns true once the recording of a session is stored and its log is deleted.
bool is_stored(const ServiceProcess& service, const std::string& id);

}  // namespace test_support
