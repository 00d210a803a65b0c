#pragma once

#include <string>
#include <vector>

#include "service/client/remote/service_client.hpp"

namespace service {

/// Completes an abbreviated id: returns `text` itself if it is one of `ids`, else the only id that
/// begins with it.
/// @param kind  "session" or "job", for messages; "rigcal <kind>s" lists them
/// @throws proto::InputError if no id or several begin with it
std::string complete_id(const std::string& kind, const std::string& text,
                        const std::vector<std::string>& ids);

/// Completes an id among the sessions or jobs of a service. @throws proto::InputError
std::string find_session(ServiceClient& client, const std::string& text);
std::string find_job(ServiceClient& client, const std::string& text);

}  // namespace service
