#include "service/server/job_store.hpp"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "proto/stream/service_states.hpp"
#include "proto/stream/stream_limits.hpp"
#include "service/server/durable_file.hpp"
#include "service/server/log.hpp"
#include "service/server/record_file.hpp"
#include "service/server/utf8_prefix.hpp"

namespace service {
namespace {

namespace fs = std::filesystem;
using proto::has_ended;
using proto::state_name;
using proto::Status;
using rigcal::v1::JobInfo;
using rigcal::v1::JobRecord;
using rigcal::v1::JobState;
using rigcal::v1::ServiceError;

constexpr int kRecordingCountMax = 64;
constexpr std::size_t kErrorSizeMax = 4096;
constexpr int kNamedRecordingsMax = 3;
constexpr std::size_t kNameSizeMax = 64;

std::string recordings_text(const rigcal::v1::JobSpec& spec) {
  std::string text;
  for (int k = 0; k < std::min(spec.recordings_size(), kNamedRecordingsMax); ++k) {
    const auto& recording = spec.recordings(k);
    if (k > 0) text += ", ";
    text += utf8_prefix(recording.name().empty() ? recording.session_id() : recording.name(),
                        kNameSizeMax);
  }
  const int more = spec.recordings_size() - kNamedRecordingsMax;
  return more > 0 ? text + " and " + std::to_string(more) + " more" : text;
}

Status create_job_folder(const std::string& folder, const JobRecord& record) {
  const fs::path target(folder);
  const std::string unfinished =
      (target.parent_path() / (".new-" + target.filename().string())).string();
  std::error_code error;
  fs::remove_all(unfinished, error);
  fs::create_directory(unfinished, error);
  if (Status saved = save_record(unfinished + "/job.textproto", record); !saved.ok()) {
    fs::remove_all(unfinished, error);
    return saved;
  }
  fs::rename(unfinished, folder, error);
  if (error) return proto::Error{proto::ErrorCode::kInputOutput, folder + ": " + error.message()};
  return sync_folder(target.parent_path().string());
}

}  // namespace

JobStore::JobStore(ServiceContext& context, SessionStore& sessions, JobRunner& runner)
    : context_(context), sessions_(sessions), runner_(runner) {}

std::string JobStore::folder_of(const std::string& id) const {
  return context_.data_folder + "/jobs/" + id;
}

Status JobStore::load() {
  const std::string folder = context_.data_folder + "/jobs";
  const auto names = open_store(folder);
  if (!names.ok()) return names.error();
  for (const std::string& id : names.value()) {
    if (proto::is_session_id(id)) load_job(folder + '/' + id, id);
  }
  if (Status synced = sync_folder(folder); !synced.ok()) return synced;
  advance();
  return proto::success();
}

void JobStore::load_job(const std::string& folder, const std::string& id) {
  Job& job = jobs_[id];
  job.on_disk = true;
  const Status loaded = load_record(folder + "/job.textproto", job.record);
  if (!loaded.ok() || job.record.info().job_id() != id) {
    job.record.Clear();
    JobInfo& unreadable = *job.record.mutable_info();
    unreadable.set_job_id(id);
    unreadable.set_error(loaded.ok() ? folder + ": its record is of another job"
                                     : loaded.error().detail);
    log_event(LogLevel::kError, "job_unreadable", {{"job", id}, {"error", unreadable.error()}});
    return;
  }
  JobInfo& info = *job.record.mutable_info();  // reading the record has replaced any earlier one
  if (info.state() != rigcal::v1::JOB_RUNNING) return;
  std::error_code ignored;
  if (fs::exists(folder + "/result.json", ignored)) {
    end(id, rigcal::v1::JOB_DONE, "");
  } else if (info.start_count() >= kStartCountMax) {
    end(id, rigcal::v1::JOB_FAILED,
        "the service stopped " + std::to_string(info.start_count()) +
            " times while this job was running; submit it under another id to try again");
  } else {
    info.set_state(rigcal::v1::JOB_QUEUED);
    log_event(LogLevel::kWarning, "job_interrupted", {{"job", id}});
  }
}

std::optional<ServiceError> JobStore::reason_against(const rigcal::v1::SubmitJob& request,
                                                     const std::string& address) const {
  const auto bad = [](const std::string& text) {
    return make_fault(ServiceError::BAD_REQUEST, text);
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
  for (const auto& recording : spec.recordings()) {
    const auto& id = recording.session_id();
    if (const auto known = sessions_.inspect(id); std::holds_alternative<ServiceError>(known)) {
      return std::get<ServiceError>(known);
    }
    if (auto why = sessions_.reason_against_use(id)) return why;
  }
  const auto waiting = queue();
  const auto of_address = std::count_if(waiting.begin(), waiting.end(), [&](const auto& id) {
    return jobs_.at(id).submitter == address;
  });
  if (of_address >= ServiceLimits::share(context_.limits.queued_jobs)) {
    return make_fault(ServiceError::BUSY,
                      std::to_string(of_address) + " jobs from " + address +
                          " are waiting, as many as this service takes from one address; cancel "
                          "some or try again later");
  }
  const auto queued = waiting.size();
  if (queued >= context_.limits.queued_jobs) {
    return make_fault(ServiceError::BUSY, std::to_string(queued) +
                                              " jobs are waiting, the limit of this service; try "
                                              "again later");
  }
  if (jobs_.size() >= context_.limits.jobs) {
    return make_fault(ServiceError::BUSY, std::to_string(jobs_.size()) +
                                              " jobs are kept, the limit of this service; delete "
                                              "some");
  }
  return std::nullopt;
}

void JobStore::submit(rigcal::v1::SubmitJob& request, const std::string& address,
                      const Answer& answer) {
  const std::string id = request.job_id();
  if (const auto found = jobs_.find(id); found != jobs_.end()) {
    using google::protobuf::util::MessageDifferencer;
    if (!MessageDifferencer::Equals(found->second.record.spec(), request.spec())) {
      return answer(make_fault(ServiceError::EXISTS,
                               "job id '" + id + "' belongs to a different job; choose another"));
    }
    if (found->second.on_disk) return answer(info(found->second));
    return answer(make_fault(ServiceError::BUSY, "job '" + id + "' is being stored; ask again"));
  }
  if (auto reason = reason_against(request, address)) return answer(std::move(*reason));
  Job& job = jobs_[id];
  job.submitter = address;
  JobInfo& fresh = *job.record.mutable_info();
  fresh.set_job_id(id);
  fresh.set_state(rigcal::v1::JOB_QUEUED);
  fresh.set_rig_name(utf8_prefix(request.spec().rig_name(), 128));
  for (const auto& recording : request.spec().recordings()) {
    fresh.add_session_ids(recording.session_id());
  }
  fresh.set_recordings(recordings_text(request.spec()));
  fresh.set_submitted_unix_ns(unix_time_ns());
  job.record.mutable_spec()->Swap(request.mutable_spec());
  context_.storage.front()(
      [this, id, answer, record = job.record, folder = folder_of(id), main = context_.main] {
        const Status created = create_job_folder(folder, record);
        main([this, id, answer, created] {
          if (!created.ok()) {
            ++context_.metrics.storage_errors_total;
            jobs_.erase(id);
            return answer(make_fault(ServiceError::STORAGE, created.error().detail));
          }
          jobs_[id].on_disk = true;
          log_event(LogLevel::kInfo, "job_submitted", {{"job", id}});
          answer(info(jobs_[id]));
          advance();
        });
      });
}

void JobStore::save(const std::string& id, const std::function<void(const Status&)>& saved) {
  JobRecord record = jobs_[id].record;
  record.mutable_info()->clear_progress();
  context_.storage.front()(
      [record, saved, path = folder_of(id) + "/job.textproto", main = context_.main] {
        const Status status = save_record(path, record);
        main([status, saved] { saved(status); });
      });
}

void JobStore::advance() {
  if (shutting_down_) return;
  for (const std::string& id : queue()) {
    if (running_count_ >= context_.limits.workers) return;
    start(id);
  }
}

void JobStore::start(const std::string& id) {
  Job& job = jobs_[id];
  for (const auto& session : job.record.info().session_ids()) {
    const auto path = sessions_.recording_path(session);
    if (!std::holds_alternative<ServiceError>(path)) continue;
    const ServiceError& why = std::get<ServiceError>(path);
    if (why.code() == ServiceError::NOT_READY) return;  // it will be stored
    return end(id, rigcal::v1::JOB_FAILED, why.text());
  }
  JobInfo& starting = *job.record.mutable_info();
  starting.set_state(rigcal::v1::JOB_RUNNING);
  starting.set_start_count(starting.start_count() + 1);
  starting.set_started_unix_ns(unix_time_ns());
  job.started = std::chrono::steady_clock::now();
  ++running_count_;
  save(id, [this, id](const Status& saved) {
    if (saved.ok()) return launch(id);
    --running_count_;
    end(id, rigcal::v1::JOB_FAILED, saved.error().detail);
  });
}

void JobStore::launch(const std::string& id) {
  Job& job = jobs_[id];
  const auto on_ended = [this, id](const JobRunner::Ended& ended) {
    --running_count_;
    Job& over = jobs_[id];
    if (ended.done) return end(id, rigcal::v1::JOB_DONE, "");
    if (over.cancelling) return end(id, rigcal::v1::JOB_CANCELLED, "cancelled by a client");
    if (!shutting_down_) return end(id, rigcal::v1::JOB_FAILED, ended.error);
    over.record.mutable_info()->set_state(rigcal::v1::JOB_QUEUED);
    over.record.mutable_info()->set_start_count(over.record.info().start_count() - 1);
    save(id, [](const Status&) {});  // if it fails, the job counts as interrupted instead
  };
  if (job.cancelling || shutting_down_) return on_ended({});
  std::vector<std::string> paths;
  for (const auto& session : job.record.info().session_ids()) {
    const auto path = sessions_.recording_path(session);
    if (const auto* why = std::get_if<ServiceError>(&path)) return on_ended({false, why->text()});
    paths.push_back(std::get<std::string>(path));
  }
  const double asked = job.record.spec().deadline_s();
  const double duration_s_max = asked > 0.0 ? std::min(asked, context_.limits.job_duration_s)
                                            : context_.limits.job_duration_s;
  log_event(LogLevel::kInfo, "job_started", {{"job", id}});
  notify(job);
  runner_.start(
      id, folder_of(id), paths, duration_s_max,
      [this, id](const rigcal::v1::JobProgress& progress) {
        Job& running = jobs_[id];
        *running.record.mutable_info()->mutable_progress() = progress;
        notify(running);
      },
      on_ended);
}

void JobStore::end(const std::string& id, JobState state, const std::string& error) {
  Job& job = jobs_[id];
  JobInfo& ended = *job.record.mutable_info();
  ended.set_state(state);
  ended.set_error(utf8_prefix(error, kErrorSizeMax));
  ended.set_ended_unix_ns(unix_time_ns());
  if (job.started != std::chrono::steady_clock::time_point()) {
    const std::chrono::duration<double> duration = std::chrono::steady_clock::now() - job.started;
    context_.metrics.job_duration.add(duration.count());
  }
  ++context_.metrics.jobs_ended_total[state_name(state)];
  log_event(LogLevel::kInfo, "job_ended",
            {{"job", id}, {"state", state_name(state)}, {"error", error}});
  save(id, [this, id](const Status& saved) {
    if (!saved.ok()) {
      ++context_.metrics.storage_errors_total;
      log_event(LogLevel::kError, "job_save_failed",
                {{"job", id}, {"error", saved.error().detail}});
    }
    notify(jobs_[id]);
    advance();
  });
}

void JobStore::notify(Job& job) {
  const JobInfo update = info(job);
  for (const auto& subscriber : job.subscribers) {
    if (const auto here = subscriber.lock()) here->on_job_update(update);
  }
  if (has_ended(update)) job.subscribers.clear();
  std::erase_if(job.subscribers, [](const auto& subscriber) { return subscriber.expired(); });
}

Outcome<JobInfo> JobStore::cancel(const std::string& id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || !found->second.on_disk) return unknown_job(id);
  Job& job = found->second;
  if (job.record.info().state() == rigcal::v1::JOB_QUEUED) {
    end(id, rigcal::v1::JOB_CANCELLED, "cancelled by a client");
  } else if (job.record.info().state() == rigcal::v1::JOB_RUNNING && !job.cancelling) {
    job.cancelling = true;
    runner_.stop(id);
  }
  return info(job);
}

Outcome<JobInfo> JobStore::subscribe(const std::string& id,
                                     const std::shared_ptr<JobSubscriber>& subscriber) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || !found->second.on_disk) return unknown_job(id);
  JobInfo now = info(found->second);
  auto& subscribers = found->second.subscribers;
  const bool there = std::any_of(subscribers.begin(), subscribers.end(),
                                 [&](const auto& other) { return other.lock() == subscriber; });
  if (!has_ended(now) && !there) subscribers.push_back(subscriber);
  return now;
}

void JobStore::remove(const std::string& id, const Removed& removed) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return removed(unknown_job(id));
  if (!has_ended(found->second.record.info()) || found->second.removing) {
    return removed(
        make_fault(ServiceError::NOT_READY, "job '" + id + "' has not ended; cancel it first"));
  }
  found->second.removing = true;
  // Behind whatever is still being saved of it.
  context_.storage.front()([this, id, removed, folder = folder_of(id), main = context_.main] {
    const Status status = remove_folder(folder);
    main([this, id, removed, status] {
      if (!status.ok()) {
        jobs_[id].removing = false;
        return removed(make_fault(ServiceError::STORAGE, status.error().detail));
      }
      jobs_.erase(id);
      log_event(LogLevel::kInfo, "job_deleted", {{"job", id}});
      removed(rigcal::v1::Deleted());
    });
  });
}

void JobStore::shut_down() {
  shutting_down_ = true;
  for (const auto& [id, job] : jobs_) {
    if (job.record.info().state() == rigcal::v1::JOB_RUNNING) runner_.stop(id);
  }
}

}  // namespace service
