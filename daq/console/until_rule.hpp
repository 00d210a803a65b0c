#pragma once

#include <string>
#include <utility>
#include <vector>

#include "proto/stream/live_estimate.hpp"

namespace daq {

/// Reads a target of the option --until, "NAME:PRECISION": "B.J_yy:0.1%" for a half-width of the
/// 95 % confidence interval relative to the estimate, or "B.J_yy:4e-6 kg·m²" with the parameter's
/// unit.
/// @throws proto::InputError with the remedy
proto::LiveTarget parse_live_target(const std::string& text);

/// Decides from the estimates during a recording whether the recording may end. Over kEstimates
/// consecutive estimates that span kRest_s of the recording, the model must fit and each target
/// precision must be reached. A single small interval is not sufficient: among many intervals, the
/// smallest are too often smaller than the error of the estimate.
class UntilRule {
 public:
  static constexpr int kEstimates = 3;
  static constexpr double kRest_s = 0.5;  ///< on the recording's clock

  /// @param targets  without any, the rule never ends the recording
  explicit UntilRule(std::vector<proto::LiveTarget> targets) : targets_(std::move(targets)) {}

  void add(const proto::LiveEstimate& estimate);

  bool has_targets() const { return !targets_.empty(); }
  bool is_met() const { return is_met_; }

  /// Returns the latest estimate of each target, one line each: "B.J_yy = 0.00396 ± 0.12 % (target
  /// 0.1 %)".
  std::vector<std::string> describe_targets() const;

  /// Returns why the recording ended, as one sentence.
  std::string describe_end() const;

 private:
  bool holds(const proto::LiveEstimate& estimate) const;

  std::vector<proto::LiveTarget> targets_;
  proto::LiveEstimate latest_;
  int held_count_ = 0;         // consecutive estimates on which all targets hold
  double held_since_s_ = 0.0;  // on the recording's clock
  bool is_met_ = false;
};

}  // namespace daq
