#pragma once

#include <string>
#include <vector>

#include "proto/stream/live_estimate.hpp"
#include "proto/stream/stream_dialog.hpp"

namespace proto {

/// Asks the service, over a separate connection, whether it can estimate the parameters of a rig
/// during a recording, and whether the rig has the parameters of the targets.
class LiveCheck final : public StreamDialog {
 public:
  LiveCheck(LiveRequest request, std::vector<LiveTarget> targets)
      : request_(std::move(request)), targets_(std::move(targets)) {}

  void on_connected(Nanoseconds now) override;
  void on_disconnected(Nanoseconds now) override;
  Status on_reply(const rigcal::v1::StreamReply& reply, Nanoseconds now) override;
  bool wants_connection(Nanoseconds now) const override;
  bool wants_disconnect(Nanoseconds now) const override;
  Result<std::optional<std::string>> next_request(Nanoseconds now) override;
  bool awaits_first_reply() const override { return state_ == CheckState::kAsked; }
  bool is_done() const override { return state_ == CheckState::kAnswered; }
  /// Returns the reason why the service cannot fulfil the request; empty if it can.
  const std::string& latest_problem() const override { return problem_; }

  /// Returns whether the connection ended without a reply. An old service does not know this
  /// request.
  bool was_left_unanswered() const { return state_ == CheckState::kUnanswered; }

 private:
  enum class CheckState { kNotConnected, kConnected, kAsked, kAnswered, kUnanswered };

  LiveRequest request_;
  std::vector<LiveTarget> targets_;
  CheckState state_ = CheckState::kNotConnected;
  std::string problem_;
};

}  // namespace proto
