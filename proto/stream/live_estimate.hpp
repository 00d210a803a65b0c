#pragma once

#include <string>
#include <vector>

namespace proto {

/// Request for estimates of the rig's parameters during a session.
struct LiveRequest {
  std::string rig_name;  ///< name of the rig file, for messages
  std::string rig_text;  ///< content of the rig file; empty: no estimates are requested
};

/// A precision that a recording should reach.
struct LiveTarget {
  std::string parameter;
  double half_width = 0.0;  ///< largest half-width of the 95 % confidence interval [`unit`]
  std::string unit;         ///< unit of the parameter, or "%" of its estimate
};

/// Estimate of one parameter from the recording so far.
struct LiveParameter {
  std::string name, unit;
  double value = 0.0;       ///< [`unit`]
  double half_width = 0.0;  ///< half-width of the 95 % confidence interval [`unit`]
};

/// Estimates of the rig's parameters from a recording in progress.
struct LiveEstimate {
  double through_s = 0.0;  ///< time of the newest sample used, on the recording's clock
  bool is_model_accepted = false;
  std::vector<LiveParameter> parameters = {};
  std::string problem = {};  ///< reason for missing estimates; empty if there are estimates
};

}  // namespace proto
