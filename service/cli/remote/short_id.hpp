#pragma once

#include <string>
#include <vector>

#include "service/cli/remote/service_client.hpp"

namespace service {

/// Returns the full id for an abbreviated id: `text` itself if it is one of `ids`, otherwise the
/// only id that begins with `text`.
/// @param kind  "session" or "job", for messages; the command "rigcal <kind>s" lists the ids
/// @throws proto::InputError if no id or several ids begin with `text`
std::string complete_id(const std::string& kind, const std::string& text,
                        const std::vector<std::string>& ids);

/// Returns the id of the session on the service that `text` abbreviates.
/// @throws proto::InputError if there is none, or more than one
std::string find_session(ServiceClient& client, const std::string& text);
std::string find_job(ServiceClient& client, const std::string& text);

}  // namespace service
