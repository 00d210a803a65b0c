#pragma once

#include <functional>
#include <string>

#include "daq/console/until_rule.hpp"
#include "daq/stream/stream_sink.hpp"

namespace daq {

/// Reports when the service is unreachable, when it will lack samples, when it is back, and when it
/// sends no estimates. Passes estimates on to the rule that may end the recording. Also passes on
/// requests from clients of the service to stop the rig.
class StreamWatch {
 public:
  /// @param stream  may be null
  StreamWatch(StreamSink* stream, UntilRule& rule, std::function<void(const std::string&)> say)
      : stream_(stream), rule_(rule), say_(std::move(say)) {}

  /// To be called about every 10 ms.
  void look();

  /// Returns who requested the end of the run through the service; empty if nobody did.
  const std::string& stop_requested_by() const { return stop_requested_by_; }

 private:
  StreamSink* stream_;
  UntilRule& rule_;
  std::function<void(const std::string&)> say_;
  std::string problem_;
  std::string live_problem_;
  std::string stop_requested_by_;
  bool loses_samples_ = false;
};

}  // namespace daq
