#include "daq/console/stream_watch.hpp"

#include "proto/text/printable.hpp"

namespace daq {

void StreamWatch::look() {
  if (stream_ == nullptr) return;
  for (const proto::LiveEstimate& estimate : stream_->take_estimates()) rule_.add(estimate);
  stop_requested_by_ = proto::escape_for_terminal(stream_->stop_requested_by());
  const std::string live_problem = stream_->live_problem();
  if (live_problem != live_problem_ && !live_problem.empty()) {
    say_("note: no estimates during this recording: " + proto::escape_for_terminal(live_problem));
  }
  live_problem_ = live_problem;
  const std::string problem = stream_->latest_problem();
  const bool loses_samples = stream_->loses_samples();
  if (problem.empty() == problem_.empty() && loses_samples == loses_samples_) return;
  problem_ = problem;
  loses_samples_ = loses_samples;
  say_(problem.empty() ? "note: streaming again" : "note: " + proto::escape_for_terminal(problem));
}

}  // namespace daq
