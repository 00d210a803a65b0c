#include "service/result/examination_message.hpp"

#include <algorithm>

#include "proto/check.pb.h"
#include "service/messages/message_text.hpp"
#include "service/result/result_message.hpp"

namespace service {

std::string examination_json(const std::vector<estimator::Finding>& findings,
                             const estimator::Excitation& excitation,
                             const CalibrationContext& context) {
  rigcal::v1::CheckResult result;
  const auto worst = std::ranges::max_element(findings, {}, &estimator::Finding::severity);
  result.set_worst(worst == findings.end() ? "none" : to_text(worst->severity));
  add_findings(findings, result.mutable_findings());
  for (const estimator::ParameterExcitation& parameter : excitation.parameters) {
    rigcal::v1::ExcitationResult* out = result.add_excitation();
    out->set_parameter(parameter.name);
    out->set_unit(parameter.unit);
    out->set_start(parameter.start);
    out->set_standard_deviation(parameter.deviation);
  }
  add_null_directions(excitation.null_directions, result.mutable_null_directions());
  if (!excitation.parameters.empty()) {
    result.mutable_clock()->set_standard_deviation(excitation.clock.deviation);
    for (const std::string& name : excitation.clock.absorbed_by) {
      result.mutable_clock()->add_absorbed_by(name);
    }
  }
  return finished_json(result, context);
}

}  // namespace service
