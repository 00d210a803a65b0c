#include "daq/stream/stream_sink.hpp"

#include <utility>

#include "daq/stream/stream_connection.hpp"
#include "proto/recording/convert.hpp"
#include "proto/stream.pb.h"

namespace daq {
namespace {

using rigcal::v1::SampleBatch;
using State = proto::StreamSender::SenderState;

constexpr std::chrono::milliseconds kBatchAge(100);
constexpr std::chrono::milliseconds kTurn(20);
constexpr std::size_t kEstimatesMax = 64;  // not taken yet

// Adds the samples of a batch that could not be stored to the gap.
void extend_gap(std::optional<proto::Gap>& gap, const SampleBatch& batch) {
  if (batch.samples_size() == 0) return;
  const auto& first = batch.samples(0);
  const auto& last = batch.samples(batch.samples_size() - 1);
  if (!gap) {
    gap = proto::Gap{first.timestamp(), first.sequence(), 0, proto::GapCause::kSpoolFull};
  }
  gap->sample_count = last.sequence() + 1 - gap->first_sequence;
}

auto* add(SampleBatch& batch, const proto::Sample&) { return batch.add_samples(); }
auto* add(SampleBatch& batch, const proto::InertialReading&) { return batch.add_inertial(); }
auto* add(SampleBatch& batch, const proto::Command&) { return batch.add_commands(); }
auto* add(SampleBatch& batch, const proto::Gap&) { return batch.add_gaps(); }
auto* add(SampleBatch& batch, const proto::Event&) { return batch.add_events(); }
auto* add(SampleBatch& batch, const proto::ClockFit&) { return batch.add_clock_fits(); }
auto* add(SampleBatch& batch, const proto::LoopStats&) { return batch.add_loop_stats(); }

}  // namespace

StreamSink::StreamSink(const ServiceEndpoint& service, SpoolFolder folder)
    : batch_(std::make_unique<SampleBatch>()),
      spool_(std::move(folder.spool)),
      sender_(spool_, std::move(folder.session)) {
  thread_ = std::thread([this, service] { run(service); });
}

StreamSink::~StreamSink() {
  stop_.store(true);
  if (thread_.joinable()) thread_.join();
}

proto::Status StreamSink::write(const proto::RecordingMessage& message) {
  std::visit([this](const auto& plain) { proto::to_message(plain, *add(*batch_, plain)); },
             message);
  if (++batch_message_count_ >= kBatchMessagesMax) queue_batch();
  return proto::success();
}

proto::Status StreamSink::idle() {
  if (std::chrono::steady_clock::now() - batch_started_ >= kBatchAge) queue_batch();
  return proto::success();
}

void StreamSink::queue_batch() {
  batch_started_ = std::chrono::steady_clock::now();
  if (batch_message_count_ == 0) return;
  std::string bytes = batch_->SerializeAsString();
  batch_->Clear();
  batch_message_count_ = 0;
  const std::lock_guard lock(mutex_);
  pending_batches_.push_back(std::move(bytes));
}

void StreamSink::end(bool interrupted) {
  queue_batch();
  const std::lock_guard lock(mutex_);
  interrupted_ = interrupted;
  ending_ = true;
}

bool StreamSink::wait(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  ended_changed_.wait_for(lock, patience, [this] { return ended_; });
  return done_;
}

bool StreamSink::is_session_rejected() const {
  const std::lock_guard lock(mutex_);
  return ended_ && !done_;
}

std::string StreamSink::latest_problem() const {
  const std::lock_guard lock(mutex_);
  return problem_;
}

bool StreamSink::loses_samples() const {
  const std::lock_guard lock(mutex_);
  return loses_samples_;
}

std::deque<proto::LiveEstimate> StreamSink::take_estimates() {
  const std::lock_guard lock(mutex_);
  return std::exchange(estimates_, {});
}

std::string StreamSink::live_problem() const {
  const std::lock_guard lock(mutex_);
  return live_problem_;
}

std::string StreamSink::stop_requested_by() const {
  const std::lock_guard lock(mutex_);
  return stop_requested_by_;
}

std::uint64_t StreamSink::unsent_batch_count() const {
  const std::lock_guard lock(mutex_);
  return backlog_ + pending_batches_.size();
}

// Alternates between writing batches to the disk and running the connection.
void StreamSink::run(const ServiceEndpoint& service) {
  StreamConnection connection(sender_, service);
  std::string spool_problem;
  while (!stop_.load()) {
    std::deque<std::string> batches;
    bool ending = false;
    bool interrupted = false;
    {
      const std::lock_guard lock(mutex_);
      batches.swap(pending_batches_);
      ending = ending_;
      interrupted = interrupted_;
    }
    if (ending && batches.empty() && unspooled_gap_) batches.emplace_back();  // carries the gap
    if (!batches.empty() && spool_batches(batches, spool_problem)) spool_problem.clear();
    if (ending && !unspooled_gap_) sender_.end_session(interrupted);
    connection.process_events_for(kTurn);
    publish(connection, spool_problem);
  }
}

void StreamSink::publish(const StreamConnection& connection, const std::string& spool_problem) {
  const State state = sender_.state();
  const bool connected = state == State::kStreaming || state == State::kClosing;
  std::deque<proto::LiveEstimate> estimates = sender_.take_estimates();
  const std::lock_guard lock(mutex_);
  for (proto::LiveEstimate& estimate : estimates) {
    if (estimates_.size() == kEstimatesMax) estimates_.pop_front();
    estimates_.push_back(std::move(estimate));
  }
  live_problem_ = sender_.live_problem();
  stop_requested_by_ = sender_.stop_requested_by();
  backlog_ = spool_.end() - 1 - spool_.acknowledged_through();
  done_ = state == State::kDone;
  ended_ = done_ || state == State::kRefused;
  loses_samples_ = !spool_problem.empty();
  if (state == State::kRefused) {
    problem_ = sender_.latest_problem();
  } else if (!spool_problem.empty()) {
    problem_ = spool_problem + "; samples will be missing on the service";
  } else if (connected || done_ || connection.latest_problem().empty()) {
    problem_.clear();
  } else {
    problem_ = connection.latest_problem() +
               "; data for the service are kept on the disk until it responds";
  }
  if (ended_) ended_changed_.notify_all();
}

// Stores batches in the spool. Returns false, with the reason in `problem`, if one was lost.
bool StreamSink::spool_batches(std::deque<std::string>& batches, std::string& problem) {
  bool kept_all = true;
  for (std::string& bytes : batches) {
    SampleBatch batch;
    if (unspooled_gap_ && batch.ParseFromString(bytes)) {
      proto::to_message(*unspooled_gap_, *batch.add_gaps());
      bytes = batch.SerializeAsString();
    }
    if (const auto appended = spool_.append(bytes); appended.ok()) {
      unspooled_gap_.reset();
      continue;
    } else {
      problem = appended.error().detail;
    }
    if (batch.ParseFromString(bytes)) extend_gap(unspooled_gap_, batch);
    kept_all = false;
  }
  if (const proto::Status synced = spool_.sync(); !synced.ok()) {
    problem = synced.error().detail;
    return false;
  }
  return kept_all;
}

}  // namespace daq
