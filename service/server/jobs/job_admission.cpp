// Rules by which JobStore accepts jobs.

#include <algorithm>
#include <cmath>

#include "proto/stream/service_limits.hpp"
#include "proto/text/input_error.hpp"
#include "service/options/option_message.hpp"
#include "service/server/jobs/job_store.hpp"

namespace service {
namespace {

using rigcal::v1::ServiceError;

constexpr int kRecordingCountMax = 64;
constexpr std::uint64_t kJobIndexSize = 8u << 10;  // including session names and an error [byte]

}  // namespace

// Returns an error in the job itself.
std::optional<ServiceError> JobStore::admission_error(const rigcal::v1::SubmitJob& request) const {
  const auto bad = [](const std::string& text) {
    return make_service_error(ServiceError::BAD_REQUEST, text);
  };
  const rigcal::v1::JobSpec& spec = request.spec();
  if (!proto::is_session_id(request.job_id())) {
    return bad("a job id is 1 to 64 characters of A-Z a-z 0-9 . _ -, without a dot first");
  }
  if (spec.rig_text().empty()) return bad("rig_text is empty; send the content of a rig file");
  if (spec.recordings().empty() || spec.recordings_size() > kRecordingCountMax) {
    return bad("a job has 1 to " + std::to_string(kRecordingCountMax) + " recordings, not " +
               std::to_string(spec.recordings_size()));
  }
  if (!std::isfinite(spec.deadline_s()) || spec.deadline_s() < 0.0) {
    return bad("deadline_s is not a duration");
  }
  try {
    (void)job_options(spec);
  } catch (const proto::InputError& error) {
    return bad(error.what());
  }
  for (const auto& recording : spec.recordings()) {
    const auto& id = recording.session_id();
    if (const auto known = sessions_.inspect(id); std::holds_alternative<ServiceError>(known)) {
      return std::get<ServiceError>(known);
    }
    if (auto why = sessions_.usability_error(id)) return why;
  }
  return std::nullopt;
}

// Returns why one more job exceeds the limits of `who` or of the service.
std::optional<ServiceError> JobStore::quota_error(const rigcal::v1::SubmitJob& request,
                                                  const Identity& who) const {
  const ServiceLimits& limits = context_.limits;
  const ServiceShare share = limits.per_identity();
  const auto busy = [](std::size_t count, const std::string& text) {
    return make_service_error(ServiceError::BUSY, std::to_string(count) + text);
  };
  const std::string per_identity = " from " + who.name;
  if (const auto count = queue_.size(who.name); count >= share.queued_jobs) {
    return busy(count,
                " jobs" + per_identity +
                    " are waiting, the limit for one client; cancel some or try again later");
  }
  if (const auto count = queue_.size(); count >= limits.queued_jobs) {
    return busy(count, " jobs are waiting, the limit of this service; try again later");
  }
  const auto kept =
      static_cast<std::size_t>(std::count_if(jobs_.begin(), jobs_.end(), [&](const auto& entry) {
        return entry.second.info.owner() == who.name;
      }));
  if (kept >= share.jobs) {
    return busy(kept, " jobs" + per_identity + " are kept, the limit for one client; delete some");
  }
  if (jobs_.size() >= limits.jobs) {
    return busy(jobs_.size(), " jobs are kept, the limit of this service; delete some");
  }
  return sessions_.storage_quota_error(who.name, request.ByteSizeLong(), kJobIndexSize);
}

}  // namespace service
