#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "proto/stream.pb.h"

namespace service {

/// Samples of a running session for display: the smallest and the largest value of each joint and
/// each command in each interval of kInterval_s. The size of the output therefore does not depend
/// on the sampling rate. Collects batches until the viewer can receive more, and drops the oldest
/// intervals if the viewer is too slow.
class LiveSamples {
 public:
  static constexpr double kInterval_s = 0.01;
  static constexpr std::size_t kIntervalsMax = 1000;  ///< 10 s
  static constexpr std::size_t kEventsMax = 64;

  void add(const rigcal::v1::SampleBatch& batch);
  /// Adds the latest estimates, which replace those that the viewer has not received.
  void set_estimate(const rigcal::v1::LiveEstimate& estimate);
  /// Counts samples that the service dropped before they reached this viewer.
  void add_dropped(std::uint64_t sample_count) { dropped_ += sample_count; }

  bool is_empty() const { return intervals_.empty() && events_.empty() && estimate_.empty(); }

  /// Returns the collected data as server-sent events, and removes them. Events "samples" contain
  /// the intervals and the latest sample, events "loop" the timing of the control loop, events
  /// "event" the events of the run, and events "estimate" estimates of the parameters.
  std::string take_events();

 private:
  struct Interval {
    std::int64_t number;            // time / kInterval_s
    std::vector<double> low, high;  // joints, then commands; NaN without a valid reading
  };

  void add_sample(const rigcal::v1::Sample& sample);
  void add_event(const char* kind, const google::protobuf::Message& message);

  std::deque<Interval> intervals_;
  std::deque<std::string> events_;
  std::string estimate_;
  rigcal::v1::Sample latest_;
  std::uint64_t samples_ = 0;  // since the display began
  std::uint64_t missing_ = 0;  // samples that the rig computer lists as missing
  std::uint64_t dropped_ = 0;  // samples that the viewer did not receive
};

/// Returns one server-sent event.
/// @param data  text in one line
std::string make_server_sent_event(const std::string& kind, const std::string& data);

}  // namespace service
