#pragma once

#include <string>
#include <vector>

#include "service/client/remote/service_client.hpp"

namespace service {

/// The id a person means: `text` itself where it is one of `ids`, else the only one that begins
/// with it.
/// @param kind  "session" or "job", for messages; "rigcal <kind>s" lists them
/// @throws proto::InputError when none or several begin so
std::string complete_id(const std::string& kind, const std::string& text,
                        const std::vector<std::string>& ids);

/// The same among the sessions or jobs of a service. @throws proto::InputError
std::string find_session(ServiceClient& client, const std::string& text);
std::string find_job(ServiceClient& client, const std::string& text);

}  // namespace service
