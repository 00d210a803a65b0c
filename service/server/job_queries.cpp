// What JobStore tells about its jobs.

#include <algorithm>
#include <utility>

#include "proto/stream/service_states.hpp"
#include "service/server/job_store.hpp"
#include "service/server/utf8_prefix.hpp"

namespace service {
namespace {

using proto::has_ended;
using proto::state_name;
using rigcal::v1::JobInfo;
using rigcal::v1::ServiceError;

constexpr int kListCountMax = 1000;

}  // namespace

ServiceError unknown_job(const std::string& id) {
  return make_fault(ServiceError::NOT_FOUND, "there is no job '" + utf8_prefix(id, 64) + "'");
}

std::vector<std::string> JobStore::queue() const {
  std::vector<std::pair<std::int64_t, std::string>> waiting;
  for (const auto& [id, job] : jobs_) {
    if (job.record.info().state() == rigcal::v1::JOB_QUEUED && job.on_disk) {
      waiting.emplace_back(job.record.info().submitted_unix_ns(), id);
    }
  }
  std::sort(waiting.begin(), waiting.end());
  std::vector<std::string> ids;
  for (auto& [time, id] : waiting) ids.push_back(std::move(id));
  return ids;
}

JobInfo JobStore::info(const Job& job) const {
  JobInfo info = job.record.info();
  if (info.state() == rigcal::v1::JOB_QUEUED) {
    const auto waiting = queue();
    const auto place = std::find(waiting.begin(), waiting.end(), info.job_id());
    info.set_queue_position(static_cast<int>(place - waiting.begin()) + 1);
    for (const auto& session : info.session_ids()) {
      const auto path = sessions_.recording_path(session);
      if (const auto* why = std::get_if<ServiceError>(&path)) info.set_error(why->text());
    }
  }
  return info;
}

Outcome<JobInfo> JobStore::inspect(const std::string& id) const {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || !found->second.on_disk) return unknown_job(id);
  return info(found->second);
}

rigcal::v1::JobList JobStore::list() const {
  std::vector<const Job*> sorted;
  for (const auto& [id, job] : jobs_) sorted.push_back(&job);
  std::sort(sorted.begin(), sorted.end(), [](const Job* a, const Job* b) {
    return a->record.info().submitted_unix_ns() > b->record.info().submitted_unix_ns();
  });
  constexpr std::size_t kListedTextSize = 256;
  constexpr int kListedSessions = 4;
  rigcal::v1::JobList list;
  list.set_total_count(sorted.size());
  const auto waiting = queue();
  for (const Job* job : sorted) {
    if (list.jobs_size() == kListCountMax) break;
    JobInfo& listed = *list.add_jobs();
    listed = job->record.info();
    listed.clear_progress();
    listed.set_error(utf8_prefix(listed.error(), kListedTextSize));
    while (listed.session_ids_size() > kListedSessions) listed.mutable_session_ids()->RemoveLast();
    const auto place = std::find(waiting.begin(), waiting.end(), listed.job_id());
    if (place != waiting.end()) {
      listed.set_queue_position(static_cast<int>(place - waiting.begin()) + 1);
    }
  }
  return list;
}

Outcome<std::string> JobStore::result_folder(const std::string& id) const {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second.removing) return unknown_job(id);
  const JobInfo& info = found->second.record.info();
  if (info.state() == rigcal::v1::JOB_DONE) return folder_of(id);
  return make_fault(ServiceError::NOT_READY, "job '" + id + "' has no result: it is " +
                                                 state_name(info.state()) +
                                                 (info.error().empty() ? "" : ": " + info.error()));
}

std::string JobStore::user_of(const std::string& session_id) const {
  const auto user = std::find_if(jobs_.begin(), jobs_.end(), [&](const auto& entry) {
    const JobInfo& info = entry.second.record.info();
    return !has_ended(info) && std::find(info.session_ids().begin(), info.session_ids().end(),
                                         session_id) != info.session_ids().end();
  });
  return user == jobs_.end() ? std::string() : user->first;
}

std::map<std::string, std::uint64_t> JobStore::counts() const {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& [id, job] : jobs_) ++counts[state_name(job.record.info().state())];
  return counts;
}

}  // namespace service
