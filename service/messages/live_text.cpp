#include "service/messages/live_text.hpp"

namespace service {

std::string describe_live_problem(LiveProblem problem) {
  switch (problem) {
    case LiveProblem::kNotReleased:
      return "the rig has not been released yet";
    case LiveProblem::kTooLittleMotion:
      return "too little motion is recorded yet";
    case LiveProblem::kTooSlow:
      return "the service is too slow for estimates";
    case LiveProblem::kEndedEarly:
      return "the estimation ended unexpectedly: it exceeded the memory or the processor time of "
             "one job, or there is an error in rigcal";
    case LiveProblem::kNotOffered:
      return "this service gives no estimates during recordings";
    case LiveProblem::kSwitchedOff:
      return "this service gives no estimates during recordings, because live_fits is 0 in its "
             "settings";
  }
  return "";
}

std::string describe_live_limit(std::uint32_t running) {
  return "the service already estimates the parameters of " + std::to_string(running) +
         " recordings; try again when one has ended, or raise live_fits in its settings";
}

std::string describe_live_start_error(const std::string& reason) {
  return "cannot start the estimation: " + reason;
}

std::string describe_unknown_target_parameter(const std::string& name,
                                              const std::string& suggestion) {
  return "there is no parameter \"" + name + "\" in the rig file" + suggestion +
         " (rigcal info RIG lists all parameters)";
}

std::string describe_fixed_target_parameter(const std::string& name) {
  return "the parameter \"" + name + "\" is not estimated; write free: true in the rig file";
}

std::string describe_target_unit(const std::string& name, const std::string& unit,
                                 const std::string& given) {
  return "the unit of \"" + name + "\" is " + (unit.empty() ? "1" : unit) + ", not \"" + given +
         "\"; give the precision in that unit or in %";
}

}  // namespace service
