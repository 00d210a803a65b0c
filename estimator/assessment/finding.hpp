#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "estimator/messages/message.hpp"

namespace estimator {

/// A time interval of a recording [s]; a single instant if both times are equal.
struct TimeInterval {
  double from = 0.0, to = 0.0;
};

/// Appends a time interval to a list, or extends the last interval if the gap between these two is
/// at most 0.1 s.
inline void append_time_interval(TimeInterval interval, std::vector<TimeInterval>& intervals) {
  constexpr double kNear = 0.1;  // [s]
  if (intervals.empty() || interval.from - intervals.back().to > kNear) {
    intervals.push_back(interval);
  } else {
    intervals.back().to = interval.to;
  }
}

/// A fault of a recording or of the rig description, found before or after a fit.
struct Finding {
  Message message = {};
  Severity severity = Severity::kNote;
  std::string recording = {};  ///< empty if the finding concerns all recordings
  std::string channel = {};    ///< encoder, joint, motor or parameter; empty if none
  /// Time interval of the recording [s]; NaN for the whole recording.
  double from = std::numeric_limits<double>::quiet_NaN();
  double to = std::numeric_limits<double>::quiet_NaN();
  /// Intervals to mark in plots. Empty for single readings, which are visible without marks.
  std::vector<TimeInterval> intervals = {};
  double size = std::numeric_limits<double>::quiet_NaN();  ///< size of the fault, in `unit`
  std::string unit = {};
  double confidence = 1.0;  ///< probability that the fault is real, 0 to 1
  bool treated = false;     ///< whether rigcal repaired the fault
  bool doubtful = false;    ///< a model error may be the cause instead; the severity is then a note
  std::string place = {};   ///< line of the rig file, such as "rig.textproto:12"; empty if unknown
};

/// Returns a finding with a message and the severity of this message.
/// @param size  size of the fault, with its unit
inline Finding make_finding(Message message, std::string recording = {}, std::string channel = {},
                            Quantity size = {std::numeric_limits<double>::quiet_NaN()}) {
  Finding finding{.message = std::move(message),
                  .recording = std::move(recording),
                  .channel = std::move(channel),
                  .size = size.value,
                  .unit = std::move(size.unit)};
  finding.severity = severity_of(finding.message);
  return finding;
}

/// Sets the time intervals of a finding.
/// @param intervals  in order of time, at least one
inline void set_time_intervals(std::vector<TimeInterval> intervals, Finding& finding) {
  finding.from = intervals.front().from;
  finding.to = intervals.back().to;
  finding.intervals = std::move(intervals);
}

}  // namespace estimator
