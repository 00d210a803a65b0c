#pragma once

#include <string>
#include <vector>

#include "daq/stream/service_endpoint.hpp"
#include "proto/stream/live_estimate.hpp"

namespace daq {

/// Asks the service whether it can estimate the parameters of a rig during a recording, and whether
/// it knows the targets. Waits for the reply, at most about 10 s.
/// @return the reason why it cannot, with the remedy; empty if it can
std::string find_live_problem(const ServiceEndpoint& service, const proto::LiveRequest& request,
                              const std::vector<proto::LiveTarget>& targets);

}  // namespace daq
