#include "daq/stream/live_check.hpp"

#include <chrono>

#include "daq/stream/stream_connection.hpp"
#include "proto/stream/live_check.hpp"
#include "proto/stream/service_limits.hpp"

namespace daq {
namespace {

constexpr std::chrono::seconds kCheckPatience(10);
constexpr std::chrono::milliseconds kCheckTurn(20);

}  // namespace

std::string find_live_problem(const ServiceEndpoint& service, const proto::LiveRequest& request,
                              const std::vector<proto::LiveTarget>& targets) {
  const std::string& place = service.host_port;
  if (request.rig_text.size() > proto::kLiveRigSizeMax) {
    return request.rig_name + ": has " + std::to_string(request.rig_text.size() >> 10) +
           " KiB, and estimates during a recording need a rig file of at most " +
           std::to_string(proto::kLiveRigSizeMax >> 10) + " KiB; shorten it or omit --until";
  }
  proto::LiveCheck check(request, targets);
  StreamConnection connection(check, service);
  const auto end = std::chrono::steady_clock::now() + kCheckPatience;
  while (!check.is_done() && !check.was_left_unanswered() && connection.latest_problem().empty() &&
         std::chrono::steady_clock::now() < end) {
    connection.process_events_for(kCheckTurn);
  }
  if (check.is_done()) {
    return check.latest_problem().empty() ? "" : place + ": " + check.latest_problem();
  }
  if (check.was_left_unanswered()) {
    return place +
           ": this service has no estimates during recordings, which --until needs; use a rigcald "
           "of the same release, or omit --until";
  }
  return (connection.latest_problem().empty() ? place + ": the service does not respond"
                                              : connection.latest_problem()) +
         "; --until needs the service's estimates. Start rigcald, or omit --until";
}

}  // namespace daq
