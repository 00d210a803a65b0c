#include "service/server/jobs/job_store.hpp"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "proto/result.hpp"
#include "proto/stream/service_limits.hpp"
#include "proto/text/printable.hpp"
#include "service/server/jobs/job_files.hpp"
#include "service/server/storage/checksums.hpp"
#include "service/server/storage/durable_file.hpp"
#include "service/server/storage/log.hpp"

namespace service {
namespace {

namespace fs = std::filesystem;
using proto::Error;
using proto::ErrorCode;
using proto::has_ended;
using proto::state_name;
using proto::Status;
using rigcal::v1::JobInfo;
using rigcal::v1::JobRecord;
using rigcal::v1::JobState;
using rigcal::v1::ServiceError;

constexpr const char* kRecordFile = "job.textproto";
constexpr const char* kCancelledByClient = "cancelled by a client";
constexpr int kNamedRecordingsMax = 3;
constexpr std::size_t kNameSizeMax = 64;

/// Replaces the info in the stored record of a job; the job's specification in the record is
/// unchanged.
Status save_job_info(const std::string& folder, const JobInfo& info, bool is_cancelled) {
  const std::string path = folder + '/' + kRecordFile;
  JobRecord record;
  if (Status loaded = load_record(path, record); !loaded.ok()) return loaded;
  *record.mutable_info() = info;
  record.mutable_info()->clear_progress();
  record.set_is_cancelled(is_cancelled);
  return save_record(path, record);
}

ServiceError not_allowed(const std::string& id, const std::string& owner, const Identity& who) {
  return make_service_error(ServiceError::NOT_ALLOWED,
                            describe_ownership_error("job \"" + id + "\"", owner, who));
}

/// Reads the stored record of a job.
/// @return an error with the remedy if the record is unreadable
Status load_job_record(const std::string& folder, const std::string& id, JobRecord& record) {
  const std::string path = folder + '/' + kRecordFile;
  Status loaded = load_record(path, record);
  if (loaded.ok() && record.info().job_id() != id) {
    loaded = Error{ErrorCode::kDamaged, path + ": belongs to another job"};
  }
  if (loaded.ok()) return loaded;
  return Error{loaded.error().code, loaded.error().detail + "; " + describe_damage_remedy(path)};
}

/// Result of comparing a submitted job with the stored job of the same id.
struct JobComparison {
  Status readable = proto::success();  ///< error of the stored job's files
  bool is_same = false;
};

/// @param is_done  whether the stored job has a result, which must be readable
JobComparison compare_jobs(const std::string& folder, const rigcal::v1::SubmitJob& submitted,
                           bool is_done) {
  using google::protobuf::util::MessageDifferencer;
  JobRecord stored;
  if (Status loaded = load_job_record(folder, submitted.job_id(), stored); !loaded.ok()) {
    return {.readable = std::move(loaded)};
  }
  const bool is_same = MessageDifferencer::Equals(stored.spec(), submitted.spec());
  if (!is_same || !is_done) return {.is_same = is_same};
  const Status files = check_job_files(folder);
  if (!files.ok() && is_content_lost(files.error())) return {.readable = files};
  return {.is_same = true};
}

std::string recordings_text(const rigcal::v1::JobSpec& spec) {
  std::string text;
  for (int k = 0; k < std::min(spec.recordings_size(), kNamedRecordingsMax); ++k) {
    const auto& recording = spec.recordings(k);
    if (k > 0) text += ", ";
    text += proto::to_utf8(recording.name().empty() ? recording.session_id() : recording.name(),
                           kNameSizeMax);
  }
  const int more = spec.recordings_size() - kNamedRecordingsMax;
  return more > 0 ? text + " and " + std::to_string(more) + " more" : text;
}

}  // namespace

JobStore::JobStore(ServiceContext& context, SessionStore& sessions, JobRunner& runner)
    : context_(context), sessions_(sessions), runner_(runner) {}

std::string JobStore::job_folder(const std::string& id) const {
  return context_.data_folder + "/jobs/" + id;
}

JobStore::Job* JobStore::find(const std::string& id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? nullptr : &found->second;
}

Status JobStore::load() {
  const std::string folder = context_.data_folder + "/jobs";
  const auto names = open_item_folders(folder);
  if (!names.ok()) return names.error();
  for (const std::string& id : names.value()) {
    if (!proto::is_valid_session_id(id)) continue;
    load_job(folder + '/' + id, id);
    // The service was killed before it could cancel the job's task on a cluster.
    std::error_code ignored;
    if (has_ended(jobs_.at(id).info))
      fs::remove_all(folder + '/' + id + '/' + kClusterFolder, ignored);
  }
  std::vector<const JobInfo*> waiting;
  for (const auto& [id, job] : jobs_) {
    if (job.info.state() == rigcal::v1::JOB_QUEUED) waiting.push_back(&job.info);
  }
  std::ranges::stable_sort(waiting, {}, &JobInfo::submitted_unix_ns);
  for (const JobInfo* info : waiting) queue_.add(info->owner(), info->job_id());
  if (Status synced = sync_folder(folder); !synced.ok()) return synced;
  start_ready_jobs();
  return proto::success();
}

void JobStore::load_job(const std::string& folder, const std::string& id) {
  Job& job = jobs_[id];
  job.on_disk = true;
  job.disk_bytes = folder_size_bytes(folder);
  JobRecord record;
  const Status loaded = load_job_record(folder, id, record);
  JobInfo& info = job.info;
  if (!loaded.ok()) {
    info.set_job_id(id);
    info.set_error(loaded.error().detail);
    log_event(LogLevel::kError, "job_unreadable", {{"job", id}, {"error", info.error()}});
    return;
  }
  info.Swap(record.mutable_info());
  job.time_limit_s = record.spec().time_limit_s();
  if (info.ended_unix_ns() > 0) {
    const double now_s = context_.time_s();
    const double age_s = 1e-9 * static_cast<double>(unix_time_ns() - info.ended_unix_ns());
    const double ended_s = now_s - std::max(0.0, age_s);
    processor_use_.add(info.owner(), ended_s - info.processor_s(), ended_s, info.processor_s());
  }
  if (info.state() != rigcal::v1::JOB_RUNNING) return;
  std::error_code ignored;
  if (fs::exists(folder + "/result.json", ignored)) {
    end(id, rigcal::v1::JOB_DONE, "");
  } else if (record.is_cancelled()) {
    end(id, rigcal::v1::JOB_CANCELLED, kCancelledByClient);
  } else if (info.start_count() >= kStartCountMax) {
    end(id, rigcal::v1::JOB_FAILED,
        "the service stopped " + std::to_string(info.start_count()) +
            " times while this job was running; submit it under another id to try again");
  } else {
    info.set_state(rigcal::v1::JOB_QUEUED);
    log_event(LogLevel::kWarning, "job_interrupted", {{"job", id}});
  }
}

void JobStore::submit_job(rigcal::v1::SubmitJob& request, const Identity& who,
                          const Answer& answer) {
  if (const Job* known = find(request.job_id())) {
    if (known->on_disk) return compare_with_stored_job(request, who, answer);
    return answer(make_service_error(
        ServiceError::BUSY, "job \"" + request.job_id() + "\" is being stored; ask again"));
  }
  if (auto reason = check_submission(request)) return answer(std::move(*reason));
  if (auto reason = check_job_quota(request, who)) return answer(std::move(*reason));
  create_job(request, who, answer);
}

void JobStore::create_job(rigcal::v1::SubmitJob& request, const Identity& who,
                          const Answer& answer) {
  const std::string id = request.job_id();
  Job& job = jobs_[id];
  job.time_limit_s = request.spec().time_limit_s();
  JobInfo& fresh = job.info;
  fresh.set_job_id(id);
  fresh.set_owner(who.name);
  fresh.set_state(rigcal::v1::JOB_QUEUED);
  fresh.set_rig_name(proto::to_utf8(request.spec().rig_name(), 128));
  for (const auto& recording : request.spec().recordings()) {
    fresh.add_session_ids(recording.session_id());
  }
  fresh.set_recordings(recordings_text(request.spec()));
  fresh.set_submitted_unix_ns(unix_time_ns());
  context_.index.add(who.name, index_memory_bytes(fresh));
  auto record = std::make_shared<JobRecord>();
  *record->mutable_info() = fresh;
  record->mutable_spec()->Swap(request.mutable_spec());
  job.disk_bytes = record->ByteSizeLong();
  context_.disk.add(who.name, job.disk_bytes);
  context_.storage.front()(who.name, [this, id, answer, record, folder = job_folder(id),
                                      main = context_.main] {
    const Status created = create_record_folder(folder, kRecordFile, *record);
    main([this, id, answer, created] {
      Job* const stored = find(id);
      if (!created.ok() || stored == nullptr) {
        ++context_.metrics.storage_errors_total;
        jobs_.erase(id);
        return answer(make_service_error(
            ServiceError::STORAGE, created.ok() ? "the job was deleted" : created.error().detail));
      }
      stored->on_disk = true;
      queue_.add(stored->info.owner(), id);
      log_event(LogLevel::kInfo, "job_submitted", {{"job", id}, {"owner", stored->info.owner()}});
      answer(info(*stored));
      start_ready_jobs();
    });
  });
}

// Answers a repeated submission. The thread for readers compares the files, because a result and
// its reports may be large.
void JobStore::compare_with_stored_job(rigcal::v1::SubmitJob& request, const Identity& who,
                                       const Answer& answer) {
  const std::string id = request.job_id();
  const auto submitted = std::make_shared<rigcal::v1::SubmitJob>();
  submitted->Swap(&request);
  const bool is_done = jobs_.at(id).info.state() == rigcal::v1::JOB_DONE;
  context_.reader(who.name, [this, id, who, answer, submitted, is_done, folder = job_folder(id),
                             main = context_.main] {
    const JobComparison found = compare_jobs(folder, *submitted, is_done);
    main([this, id, who, answer, submitted, found] {
      Job* const job = find(id);
      if (job == nullptr) return submit_job(*submitted, who, answer);  // deleted meanwhile
      if (job->removing) {
        return answer(make_service_error(ServiceError::BUSY,
                                         "job \"" + id + "\" is being deleted; submit it again"));
      }
      if (found.is_same) return answer_with_stored_job(*job, answer);
      if (found.readable.ok()) {
        return answer(
            make_service_error(ServiceError::EXISTS, "job id \"" + id +
                                                         "\" belongs to a different job; choose "
                                                         "another"));
      }
      const Error& damage = found.readable.error();
      if (is_content_lost(damage) && has_ended(job->info)) {
        return replace_job(submitted, who, damage.detail, answer);
      }
      answer(make_service_error(ServiceError::STORAGE, damage.detail));
    });
  });
}

// The end of a job that is being cancelled comes soon, and with it the final state.
void JobStore::answer_with_stored_job(Job& job, const Answer& answer) {
  if (!job.cancelling || has_ended(job.info)) return answer(info(job));
  job.awaiting_end.push_back(answer);
}

// The submission must be valid before the old job is deleted.
void JobStore::replace_job(const std::shared_ptr<rigcal::v1::SubmitJob>& request,
                           const Identity& who, const std::string& damage, const Answer& answer) {
  if (auto reason = check_submission(*request)) return answer(std::move(*reason));
  delete_job(request->job_id(), who, [this, request, who, damage, answer](const auto& outcome) {
    if (const auto* why = std::get_if<ServiceError>(&outcome)) return answer(*why);
    log_event(LogLevel::kWarning, "job_replaced", {{"job", request->job_id()}, {"error", damage}});
    submit_job(*request, who, answer);
  });
}

void JobStore::save(const std::string& id, const Saved& saved) {
  const Job* const job = find(id);
  if (job == nullptr) return;
  context_.storage.front()(job->info.owner(), [this, id, saved, info = job->info,
                                               is_cancelled = job->cancelling,
                                               folder = job_folder(id), main = context_.main] {
    const Status status = save_job_info(folder, info, is_cancelled);
    main([this, id, saved, status, size_bytes = folder_size_bytes(folder)] {
      if (Job* const kept = find(id)) kept->disk_bytes = size_bytes;
      saved(status);
    });
  });
}

void JobStore::start_ready_jobs() {
  if (shutting_down_) return;
  const IdentityLimits share = context_.limits.limits_per_identity();
  processor_use_.discard_entries_before(context_.time_s());
  for (const std::string& id : waiting_job_ids()) {
    if (running_.size() >= context_.limits.workers) return;
    const Job* const job = find(id);
    if (job == nullptr || count_running_jobs(job->info.owner()) >= share.running_jobs) continue;
    if (processor_use_s(job->info.owner()) <= share.processor_s) start(id);
  }
}

void JobStore::start(const std::string& id) {
  Job& job = jobs_.at(id);
  for (const auto& session : job.info.session_ids()) {
    const auto path = sessions_.recording_path(session);
    if (!std::holds_alternative<ServiceError>(path)) continue;
    const ServiceError& why = std::get<ServiceError>(path);
    if (why.code() == ServiceError::NOT_READY) return;  // it will be stored
    return end(id, rigcal::v1::JOB_FAILED, why.text());
  }
  queue_.serve(id);
  running_[id] = job.info.owner();
  job.info.set_state(rigcal::v1::JOB_RUNNING);
  job.info.set_start_count(job.info.start_count() + 1);
  job.info.set_started_unix_ns(unix_time_ns());
  job.started_s = context_.time_s();
  save(id, [this, id](const Status& saved) {
    if (saved.ok()) return start_worker(id);
    on_job_ended(id, {false, saved.error().detail});
  });
}

void JobStore::start_worker(const std::string& id) {
  const Job* const job = find(id);
  if (job == nullptr || job->cancelling || shutting_down_) return on_job_ended(id, {});
  std::vector<std::string> paths;
  for (const auto& session : job->info.session_ids()) {
    const auto path = sessions_.recording_path(session);
    if (const auto* why = std::get_if<ServiceError>(&path)) {
      return on_job_ended(id, {false, why->text()});
    }
    paths.push_back(std::get<std::string>(path));
  }
  log_event(LogLevel::kInfo, "job_started", {{"job", id}});
  notify_subscribers(jobs_.at(id));
  runner_.start(
      id, job_folder(id), paths, time_limit_s(*job),
      [this, id](const rigcal::v1::JobProgress& progress) { on_job_progress(id, progress); },
      [this, id](const JobRunner::JobEnd& ended) { on_job_ended(id, ended); });
}

// A worker may still report on a job that has ended or was deleted.
void JobStore::on_job_progress(const std::string& id, const rigcal::v1::JobProgress& progress) {
  if (!running_.contains(id)) return;
  Job& job = jobs_.at(id);
  *job.info.mutable_progress() = progress;
  notify_subscribers(job);
}

void JobStore::on_job_ended(const std::string& id, const JobRunner::JobEnd& ended) {
  if (running_.erase(id) == 0) return;
  Job& job = jobs_.at(id);
  add_processor_use(job, ended.processor_s);
  if (ended.done) return end(id, rigcal::v1::JOB_DONE, "");
  if (job.cancelling) return end(id, rigcal::v1::JOB_CANCELLED, kCancelledByClient);
  job.info.set_is_time_over(ended.is_time_over);
  if (ended.is_time_over) return end(id, rigcal::v1::JOB_FAILED, describe_time_limit(job));
  if (!shutting_down_) return end(id, rigcal::v1::JOB_FAILED, ended.error);
  job.info.set_state(rigcal::v1::JOB_QUEUED);
  job.info.set_start_count(job.info.start_count() - 1);
  queue_.add(job.info.owner(), id);
  save(id, [](const Status&) {});  // if it fails, the job counts as interrupted
}

void JobStore::add_processor_use(Job& job, double processor_s) {
  processor_use_.add(job.info.owner(), job.started_s, context_.time_s(), processor_s);
  job.info.set_processor_s(job.info.processor_s() + processor_s);
}

void JobStore::end(const std::string& id, JobState state, const std::string& error) {
  Job& job = jobs_.at(id);
  queue_.remove(id);
  JobInfo& ended = job.info;
  ended.set_state(state);
  ended.set_error(proto::to_utf8(error, kErrorTextSizeMax));
  ended.set_ended_unix_ns(unix_time_ns());
  ended.clear_progress();
  if (job.started_s > 0.0) context_.metrics.job_duration.add(context_.time_s() - job.started_s);
  ++context_.metrics.jobs_ended_total[state_name(state)];
  log_event(LogLevel::kInfo, "job_ended",
            {{"job", id}, {"state", state_name(state)}, {"error", error}});
  save(id, [this, id](const Status& saved) {
    if (!saved.ok()) {
      ++context_.metrics.storage_errors_total;
      log_event(LogLevel::kError, "job_save_failed",
                {{"job", id}, {"error", saved.error().detail}});
    }
    if (Job* const over = find(id)) {
      notify_subscribers(*over);
      const JobInfo final_info = info(*over);
      for (const Answer& answer : std::exchange(over->awaiting_end, {})) answer(final_info);
    }
    start_ready_jobs();
  });
}

void JobStore::notify_subscribers(Job& job) {
  const JobInfo update = info(job);
  for (const auto& subscriber : job.subscribers) {
    if (const auto here = subscriber.lock()) here->on_job_update(update);
  }
  if (has_ended(update)) job.subscribers = {};
  std::erase_if(job.subscribers, [](const auto& subscriber) { return subscriber.expired(); });
}

void JobStore::cancel_job(const std::string& id, const Identity& who, const Answer& answer) {
  if (find_stored_job(id) == nullptr) return answer(make_unknown_job_error(id));
  Job& job = jobs_.at(id);
  if (!who.may_change_items_of(job.info.owner())) {
    return answer(not_allowed(id, job.info.owner(), who));
  }
  if (has_ended(job.info)) return answer(info(job));
  if (job.info.state() == rigcal::v1::JOB_QUEUED) {
    job.awaiting_end.push_back(answer);
    return end(id, rigcal::v1::JOB_CANCELLED, kCancelledByClient);
  }
  if (!std::exchange(job.cancelling, true)) runner_.stop(id);
  // If it cannot be stored, the job ends all the same unless the service is killed before.
  save(id, [this, id, answer](const Status&) { answer(find_job_info(id)); });
}

ReplyOrError<JobInfo> JobStore::add_subscriber(const std::string& id,
                                               const std::shared_ptr<JobSubscriber>& subscriber) {
  if (find_stored_job(id) == nullptr) return make_unknown_job_error(id);
  Job& job = jobs_.at(id);
  JobInfo now = info(job);
  const bool there = std::any_of(job.subscribers.begin(), job.subscribers.end(),
                                 [&](const auto& other) { return other.lock() == subscriber; });
  if (!has_ended(now) && !there) job.subscribers.push_back(subscriber);
  return now;
}

void JobStore::delete_job(const std::string& id, const Identity& who, const Removed& removed) {
  Job* const job = find(id);
  if (job == nullptr) return removed(make_unknown_job_error(id));
  if (!who.may_change_items_of(job->info.owner()))
    return removed(not_allowed(id, job->info.owner(), who));
  if (!has_ended(job->info) || job->removing) {
    return removed(make_service_error(ServiceError::NOT_READY,
                                      "job \"" + id + "\" has not ended; cancel it first"));
  }
  job->removing = true;
  // After the job's pending saves.
  context_.storage.front()(
      job->info.owner(), [this, id, removed, folder = job_folder(id), main = context_.main] {
        const Status status = remove_folder(folder);
        main([this, id, removed, status] {
          if (status.ok()) {
            jobs_.erase(id);
            log_event(LogLevel::kInfo, "job_deleted", {{"job", id}});
            return removed(rigcal::v1::Deleted());
          }
          if (Job* const kept = find(id)) kept->removing = false;
          removed(make_service_error(ServiceError::STORAGE, status.error().detail));
        });
      });
}

void JobStore::shut_down() {
  shutting_down_ = true;
  std::vector<std::string> ids;
  for (const auto& [id, owner] : running_) ids.push_back(id);
  for (const std::string& id : ids) runner_.interrupt(id);
}

}  // namespace service
