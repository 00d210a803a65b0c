#include "service/cli/remote/short_id.hpp"

#include <algorithm>

#include "service/cli/remote/job_spec.hpp"

namespace service {
namespace {

using rigcal::v1::ServiceError;
using rigcal::v1::ServiceRequest;

constexpr std::size_t kListedMax = 3;

/// Returns whether the service has a session or job with exactly this id. The service's lists may
/// omit it, because they contain at most 1000 entries.
bool is_known(ServiceClient& client, const ServiceRequest& inspect) {
  try {
    client.call(inspect);
    return true;
  } catch (const ServiceFault& fault) {
    if (fault.code() != ServiceError::NOT_FOUND && fault.code() != ServiceError::BAD_REQUEST) throw;
    return false;
  }
}

}  // namespace

std::string complete_id(const std::string& kind, const std::string& text,
                        const std::vector<std::string>& ids) {
  std::vector<std::string> fitting;
  for (const std::string& id : ids) {
    if (id == text) return id;
    if (id.starts_with(text)) fitting.push_back(id);
  }
  if (fitting.size() == 1) return fitting.front();
  if (fitting.empty()) {
    throw proto::InputError("there is no " + kind + " \"" + text +
                            "\", and no id begins with it; rigcal " + kind + "s lists them");
  }
  std::string some;
  for (std::size_t k = 0; k < std::min(fitting.size(), kListedMax); ++k) {
    some += (k == 0 ? "" : ", ") + fitting[k];
  }
  throw proto::InputError("\"" + text + "\" matches " + std::to_string(fitting.size()) + " " +
                          kind + "s (" + some + (fitting.size() > kListedMax ? ", …" : "") +
                          "); give more characters");
}

std::string find_session(ServiceClient& client, const std::string& written) {
  // Accepts the "session:ID" form of calibrate.
  const std::string text = is_session(written) ? session_id(written) : written;
  ServiceRequest inspect;
  inspect.mutable_inspect_session()->set_session_id(text);
  if (is_known(client, inspect)) return text;
  ServiceRequest list;
  list.mutable_list_sessions();
  const auto reply = client.call(list);
  std::vector<std::string> ids;
  for (const auto& info : reply.session_list().sessions()) ids.push_back(info.session_id());
  return complete_id("session", text, ids);
}

std::string find_job(ServiceClient& client, const std::string& text) {
  ServiceRequest inspect;
  inspect.mutable_inspect_job()->set_job_id(text);
  if (is_known(client, inspect)) return text;
  ServiceRequest list;
  list.mutable_list_jobs();
  const auto reply = client.call(list);
  std::vector<std::string> ids;
  for (const auto& info : reply.job_list().jobs()) ids.push_back(info.job_id());
  return complete_id("job", text, ids);
}

}  // namespace service
