#include "service/cli/base_parameter_table.hpp"

#include <vector>

#include "estimator/assessment/identifiability/combinations.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/text/number_format.hpp"

namespace service {

std::string base_parameter_table(const estimator::Mechanism& mechanism) {
  const estimator::BaseInertialParameters base =
      estimator::find_base_inertial_parameters(mechanism);
  const Eigen::VectorXd values = estimator::standard_values(mechanism);
  std::vector<std::vector<std::string>> rows = {{"base parameter", "value", "unit"}};
  for (const estimator::BaseCombination& each : base.base) {
    const estimator::Combination reported = estimator::evaluate(base, each, values);
    rows.push_back({reported.description, format_number(reported.value, 4), reported.unit});
  }
  std::string text = "\nIf every joint is measured, " + std::to_string(base.base.size()) +
                     " combinations of the " + std::to_string(base.standard.size()) +
                     " inertial parameters are identifiable:\n\n" +
                     format_table(rows, {false, true, false});
  text +=
      "\nm is a body's mass, mc its first moment and I its inertia about the joint that carries "
      "it,\nalong the body's axes.";
  if (!base.without_effect.empty()) {
    text += " Without effect on the motion:";
    for (const int index : base.without_effect) {
      text += " " + base.standard[static_cast<std::size_t>(index)].name;
    }
    text += ".";
  }
  text += "\n";
  if (!estimator::is_torque_known(mechanism)) {
    text +=
        "No absolute torque is known (no motor gain, spring or constant torque is fixed), so only\n"
        "ratios of these parameters and torques are identifiable. Fix one of them, for example a\n"
        "weighed mass.\n";
  }
  return text;
}

}  // namespace service
