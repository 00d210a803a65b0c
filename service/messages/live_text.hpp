#pragma once

#include <cstdint>
#include <string>

namespace service {

/// Reasons why there are no estimates during a recording.
enum class LiveProblem {
  kNotReleased,      ///< the operator still holds the rig
  kTooLittleMotion,  ///< too short to begin
  kTooSlow,          ///< the estimation reads samples more slowly than they arrive
  kEndedEarly,       ///< the process of the estimation has died
  kNotOffered,       ///< this service does not offer estimates during a recording
  kSwitchedOff,      ///< limits.live_fits is 0
};

/// Returns the reason as a sentence for people.
std::string describe_live_problem(LiveProblem problem);

/// Returns the sentence that all live fits are in use.
/// @param running  number of recordings whose parameters are being estimated
std::string describe_live_limit(std::uint32_t running);

/// Returns the sentence that the operating system cannot start an estimation.
/// @param reason  error of the system
std::string describe_live_start_error(const std::string& reason);

/// Returns the sentence that the target of a recording is not the name of a parameter.
/// @param suggestion  similar names, or empty
std::string describe_unknown_target_parameter(const std::string& name,
                                              const std::string& suggestion);
/// Returns the sentence that the parameter of a target is fixed.
std::string describe_fixed_target_parameter(const std::string& name);
/// Returns the sentence that the precision of a target has the wrong unit.
std::string describe_target_unit(const std::string& name, const std::string& unit,
                                 const std::string& given);

}  // namespace service
