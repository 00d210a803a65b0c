#include <algorithm>
#include <utility>

#include "proto/stream/service_limits.hpp"
#include "service/messages/live_text.hpp"
#include "service/server/sessions/ingest_session.hpp"

// Estimates of the rig's parameters during a session.

namespace service {
namespace {

constexpr std::size_t kFitUnreadMax = 1u << 20;  // batches of the disk that a live fit has to read
constexpr std::uint64_t kFitReadCount = 64;      // batches read from the disk at once

}  // namespace

// A session keeps its live fit if the rig computer reconnects. A new live fit of a session that has
// batches gets them from the disk.
void IngestSession::start_live_fit(const rigcal::v1::OpenSession& request) {
  if (live_fit_) return;
  live_problem_.clear();
  if (context_.live_fits == nullptr) {
    live_problem_ = describe_live_problem(LiveProblem::kNotOffered);
    return;
  }
  auto started = context_.live_fits->start(
      info_.owner(), request, [weak = weak_from_this()](const rigcal::v1::LiveEstimate& estimate) {
        if (const auto self = weak.lock()) self->publish_estimate(estimate);
      });
  if (auto* const problem = std::get_if<std::string>(&started)) {
    live_problem_ = std::move(*problem);
    return;
  }
  live_fit_ = std::move(std::get<std::unique_ptr<LiveFitRun>>(started));
  fit_next_ = 1;
  continue_live_fit();
}

// Passes stored batches to the live fit until it has all of them. Each call reads a few, as long as
// the live fit has read the earlier ones; every group of new batches calls it again.
void IngestSession::continue_live_fit() {
  if (!live_fit_ || reading_for_fit_ || fit_next_ > durable_ || phase_ != SessionPhase::kOpen ||
      live_fit_->unread_bytes() > kFitUnreadMax) {
    return;
  }
  reading_for_fit_ = true;
  const std::uint64_t first = fit_next_, end = std::min(durable_ + 1, first + kFitReadCount);
  storage_([self = shared_from_this(), log = log_, first, end, main = context_.main] {
    std::vector<std::string> batches;
    for (std::uint64_t k = first; k < end && log->has_value(); ++k) {
      auto batch = (*log)->read(k);
      batches.push_back(batch.ok() ? std::move(batch.value()) : "");  // a lost one is a gap
    }
    main([self, first, batches = std::move(batches)] {
      self->reading_for_fit_ = false;
      if (!self->live_fit_ || self->fit_next_ != first || batches.empty()) return;
      for (const std::string& batch : batches) self->live_fit_->add(batch);
      self->fit_next_ += batches.size();
      self->continue_live_fit();
    });
  });
}

void IngestSession::publish_estimate(rigcal::v1::LiveEstimate estimate) {
  estimate.set_session_id(info_.session_id());
  if (const auto owner = owner_.lock(); owner && rig_wants_estimates_) {
    owner->on_live_estimate(estimate);
  }
  rigcal::v1::ServiceReply reply;
  *reply.mutable_live_estimate() = std::move(estimate);
  auto bytes = std::make_shared<std::string>();
  if (!proto::append_frame(reply, proto::service_reply_limits(), *bytes).ok()) return;
  const LiveFrame frame = {std::move(bytes), 0};
  for (const Subscription& each : subscribers_) {
    const auto here = each.subscriber.lock();
    if (here && each.estimates) here->on_live_update(frame);
  }
}

}  // namespace service
