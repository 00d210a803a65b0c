#include "tests/campaign/stream_witness.hpp"

#include <algorithm>

#include "proto/recording/convert.hpp"
#include "proto/service.pb.h"

namespace campaign {

using rigcal::v1::ServiceReply;
using rigcal::v1::ServiceRequest;

void StreamWitness::on_line() {
  const std::lock_guard lock(mutex_);
  sent_at_.clear();
}

void StreamWitness::on_request(const proto::Frame& frame, bool timed) {
  ServiceRequest request;
  if (!request.ParseFromString(frame.payload)) {
    return ledger_.fail("a rig sent a frame that does not parse");
  }
  if (request.has_open_session()) {
    const std::lock_guard lock(mutex_);
    session_id_ = request.open_session().session_id();
  }
  if (request.has_sample_batch()) {
    if (timed) {
      const std::lock_guard lock(mutex_);
      sent_at_[request.sample_batch().batch_sequence()] = std::chrono::steady_clock::now();
    }
    saw_batch(request.sample_batch().batch_sequence(), request.sample_batch().SerializeAsString());
  }
}

void StreamWitness::saw_batch(std::uint64_t sequence, const std::string& content) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = batches_.try_emplace(sequence, content);
  if (is_new) return ledger_.count("batches streamed by rigcal-daq");
  ledger_.count("batches streamed again by rigcal-daq");
  if (at->second != content) {
    ledger_.fail(session_id_ + ": batch " + std::to_string(sequence) + " came again altered");
  }
}

void StreamWitness::on_reply(const proto::Frame& frame, bool timed) {
  ServiceReply reply;
  if (!reply.ParseFromString(frame.payload)) {
    return ledger_.fail("rigcald sent a frame that does not parse");
  }
  if (reply.has_session_opened()) {
    saw_acknowledgement(reply.session_opened().acknowledged_through());
  }
  if (reply.has_acknowledge()) saw_acknowledgement(reply.acknowledge().through());
  if (reply.has_acknowledge() && timed) saw_timed(reply.acknowledge().through());
  if (reply.has_session_closed()) {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  if (reply.has_session_refused()) {
    ledger_.count("refusals sent to rigcal-daq");
    const auto reason = reply.session_refused().reason();
    if (reason != rigcal::v1::SessionRefused::REASON_STORAGE &&
        reason != rigcal::v1::SessionRefused::REASON_BUSY) {
      ledger_.fail("rigcal-daq was refused for good: " + reply.session_refused().text());
    }
  }
}

void StreamWitness::saw_timed(std::uint64_t through) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  while (!sent_at_.empty() && sent_at_.begin()->first <= through) {
    const std::chrono::duration<double> took = now - sent_at_.begin()->second;
    ledger_.note_duration("rigcal-daq: batch to acknowledgement, on lines without trouble",
                          took.count());
    sent_at_.erase(sent_at_.begin());
  }
}

void StreamWitness::saw_acknowledgement(std::uint64_t through) {
  const std::lock_guard lock(mutex_);
  if (through > 0 && !batches_.contains(through)) {
    ledger_.fail(session_id_ + ": batch " + std::to_string(through) +
                 " is acknowledged, and was never sent");
  }
  acknowledged_ = std::max(acknowledged_, through);
}

std::string StreamWitness::session_id() const {
  const std::lock_guard lock(mutex_);
  return session_id_;
}

bool StreamWitness::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

std::uint64_t StreamWitness::acknowledged() const {
  const std::lock_guard lock(mutex_);
  return acknowledged_;
}

std::vector<proto::Sample> StreamWitness::acknowledged_samples() const {
  const std::lock_guard lock(mutex_);
  std::vector<proto::Sample> samples;
  for (const auto& [sequence, content] : batches_) {
    if (sequence > acknowledged_) break;
    rigcal::v1::SampleBatch batch;
    if (!batch.ParseFromString(content)) continue;
    for (const auto& message : batch.samples()) {
      if (const auto sample = proto::from_message(message)) samples.push_back(*sample);
    }
  }
  return samples;
}

}  // namespace campaign
