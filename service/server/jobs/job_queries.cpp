// Queries of JobStore, and the rules by which it accepts jobs.

#include <algorithm>
#include <cmath>
#include <functional>
#include <ranges>

#include "proto/stream/service_limits.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/printable.hpp"
#include "service/options/option_message.hpp"
#include "service/options/option_texts.hpp"
#include "service/server/jobs/job_store.hpp"

namespace service {
namespace {

constexpr int kRecordingCountMax = 64;
constexpr std::uint64_t kJobIndexSize = 8u << 10;  // including session names and an error [byte]

}  // namespace

using proto::has_ended;
using proto::state_name;
using rigcal::v1::JobInfo;
using rigcal::v1::ServiceError;

std::uint64_t index_memory_bytes(const JobInfo& info) {
  constexpr std::uint64_t kJobSize = 1024;
  constexpr std::uint64_t kPieceSize = 64;
  return kJobSize + info.ByteSizeLong() +
         kPieceSize * static_cast<std::uint64_t>(info.session_ids_size());
}

ServiceError make_unknown_job_error(const std::string& id) {
  return make_service_error(ServiceError::NOT_FOUND,
                            "there is no job \"" + proto::to_utf8(id, 64) + "\"");
}

const JobStore::Job* JobStore::find(const std::string& id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

const JobStore::Job* JobStore::find_stored_job(const std::string& id) const {
  const Job* const job = find(id);
  return job != nullptr && job->on_disk ? job : nullptr;
}

std::size_t JobStore::count_running_jobs(const std::string& owner) const {
  return static_cast<std::size_t>(std::ranges::count(running_ | std::views::values, owner));
}

// Measured use of ended jobs and of jobs on a cluster, which may still wait for a node; other
// running jobs are assumed to use one processor each.
double JobStore::processor_use_s(const std::string& owner) const {
  const double now_s = context_.time_s();
  double used_s = processor_use_.of(owner, now_s);
  for (const auto& [id, other] : running_) {
    if (other != owner) continue;
    const Job& job = jobs_.at(id);
    const rigcal::v1::JobProgress& progress = job.info.progress();
    used_s += std::min(progress.has_processor_s() ? progress.processor_s() : now_s - job.started_s,
                       ProcessorUsage::kWindow_s);
  }
  return used_s;
}

double JobStore::time_limit_s(const Job& job) const {
  const double limit_s = context_.limits.job_duration_s;
  return job.time_limit_s > 0.0 ? std::min(job.time_limit_s, limit_s) : limit_s;
}

std::string JobStore::describe_time_limit(const Job& job) const {
  const double limit_s = time_limit_s(job);
  return describe_time_limit_end(
      limit_s, limit_s < context_.limits.job_duration_s
                   ? "raise --time-limit"
                   : "raise --time-limit and job_duration_s in the settings of the service");
}

std::vector<std::string> JobStore::waiting_job_ids() const {
  return queue_.order([this](const std::string& owner) { return processor_use_s(owner); });
}

JobInfo JobStore::info(const Job& job) const {
  JobInfo info = job.info;
  if (info.state() == rigcal::v1::JOB_QUEUED) {
    const auto order = waiting_job_ids();
    const auto place = std::find(order.begin(), order.end(), info.job_id());
    info.set_queue_position(static_cast<int>(place - order.begin()) + 1);
    const double share_s = context_.limits.limits_per_identity().processor_s;
    if (const double used_s = processor_use_s(info.owner()); used_s > share_s) {
      info.set_error(info.owner() + " has used " + std::to_string(std::lround(used_s)) +
                     " s of processor time in the last hour, and its share is " +
                     std::to_string(std::lround(share_s)) +
                     " s; the job waits until its use drops below that");
    }
    for (const auto& session : info.session_ids()) {
      const auto path = sessions_.recording_path(session);
      if (const auto* why = std::get_if<ServiceError>(&path)) info.set_error(why->text());
    }
  }
  return info;
}

ReplyOrError<JobInfo> JobStore::find_job_info(const std::string& id) const {
  const Job* const job = find_stored_job(id);
  if (job == nullptr) return make_unknown_job_error(id);
  return info(*job);
}

rigcal::v1::JobList JobStore::list() const {
  std::vector<const Job*> sorted;
  for (const auto& [id, job] : jobs_) sorted.push_back(&job);
  std::ranges::sort(sorted, std::greater{},
                    [](const Job* job) { return job->info.submitted_unix_ns(); });
  constexpr std::size_t kListedTextSize = 256;
  constexpr int kListedSessions = 4;
  rigcal::v1::JobList list;
  list.set_total_count(sorted.size());
  const auto order = waiting_job_ids();
  for (const Job* job : sorted) {
    if (list.jobs_size() == kListCountMax) break;
    JobInfo& listed = *list.add_jobs();
    listed = job->info;
    listed.clear_progress();
    listed.set_error(proto::to_utf8(listed.error(), kListedTextSize));
    while (listed.session_ids_size() > kListedSessions) listed.mutable_session_ids()->RemoveLast();
    const auto place = std::find(order.begin(), order.end(), listed.job_id());
    if (place != order.end()) {
      listed.set_queue_position(static_cast<int>(place - order.begin()) + 1);
    }
  }
  return list;
}

ReplyOrError<std::string> JobStore::find_result_folder(const std::string& id) const {
  const Job* const job = find_stored_job(id);
  if (job == nullptr || job->removing) return make_unknown_job_error(id);
  const JobInfo& info = job->info;
  if (info.state() == rigcal::v1::JOB_DONE) return job_folder(id);
  return make_service_error(ServiceError::NOT_READY,
                            "job \"" + id + "\" has no result: it is " + state_name(info.state()) +
                                (info.error().empty() ? "" : ": " + info.error()));
}

std::string JobStore::find_job_using_session(const std::string& session_id) const {
  const auto session = sessions_.find_session_info(session_id);
  const auto* const known = std::get_if<rigcal::v1::SessionInfo>(&session);
  const auto user = std::find_if(jobs_.begin(), jobs_.end(), [&](const auto& entry) {
    const JobInfo& info = entry.second.info;
    return !has_ended(info) && known != nullptr && info.owner() == known->owner() &&
           std::ranges::count(info.session_ids(), session_id) > 0;
  });
  return user == jobs_.end() ? std::string() : user->first;
}

std::map<std::string, std::uint64_t> JobStore::count_by_state() const {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [id, job] : jobs_) ++counts[state_name(job.info.state())];
  return counts;
}

std::uint64_t JobStore::add_disk_and_memory_usage(IdentityByteUsage& disk,
                                                  IdentityByteUsage& index) const {
  std::uint64_t there = 0;
  for (const auto& [id, job] : jobs_) {
    disk.add(job.info.owner(), job.disk_bytes);
    index.add(job.info.owner(), index_memory_bytes(job.info));
    there += job.disk_bytes;
  }
  return there;
}

// Returns an error in the job itself.
std::optional<ServiceError> JobStore::check_submission(const rigcal::v1::SubmitJob& request) const {
  const auto bad = [](const std::string& text) {
    return make_service_error(ServiceError::BAD_REQUEST, text);
  };
  const rigcal::v1::JobSpec& spec = request.spec();
  if (!proto::is_valid_session_id(request.job_id())) {
    return bad(
        "a job id must have 1 to 64 characters (A-Z a-z 0-9 . _ -) and must not start with a dot");
  }
  if (spec.rig_text().empty()) return bad("rig_text is empty; send the content of a rig file");
  if (spec.recordings().empty() || spec.recordings_size() > kRecordingCountMax) {
    return bad("a job has 1 to " + std::to_string(kRecordingCountMax) + " recordings, not " +
               std::to_string(spec.recordings_size()));
  }
  if (!std::isfinite(spec.time_limit_s()) || spec.time_limit_s() < 0.0) {
    return bad("time_limit_s is not a duration");
  }
  try {
    (void)read_job_options(spec);
  } catch (const proto::InputError& error) {
    return bad(error.what());
  }
  for (const auto& recording : spec.recordings()) {
    const auto& id = recording.session_id();
    if (const auto known = sessions_.find_session_info(id);
        std::holds_alternative<ServiceError>(known)) {
      return std::get<ServiceError>(known);
    }
    if (auto why = sessions_.check_usable_by_job(id)) return why;
  }
  return std::nullopt;
}

// Returns why one more job exceeds the limits of `who` or of the service.
std::optional<ServiceError> JobStore::check_job_quota(const rigcal::v1::SubmitJob& request,
                                                      const Identity& who) const {
  const ServiceLimits& limits = context_.limits;
  const IdentityLimits share = limits.limits_per_identity();
  const auto busy = [](std::size_t count, const std::string& text) {
    return make_service_error(ServiceError::BUSY, std::to_string(count) + text);
  };
  const std::string from_client = " from " + who.name;
  if (const auto count = queue_.size(who.name); count >= share.queued_jobs) {
    return busy(count,
                " jobs" + from_client +
                    " are waiting, the limit for one client; cancel some or try again later");
  }
  if (const auto count = queue_.size(); count >= limits.queued_jobs) {
    return busy(count, " jobs are waiting, the limit of this service; try again later");
  }
  const auto kept = static_cast<std::size_t>(std::ranges::count_if(
      jobs_ | std::views::values, [&](const Job& job) { return job.info.owner() == who.name; }));
  if (kept >= share.jobs) {
    return busy(kept, " jobs" + from_client + " are kept, the limit for one client; delete some");
  }
  if (jobs_.size() >= limits.jobs) {
    return busy(jobs_.size(), " jobs are kept, the limit of this service; delete some");
  }
  return sessions_.check_storage_quota(who.name, request.ByteSizeLong(), kJobIndexSize);
}

}  // namespace service
