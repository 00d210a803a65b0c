#include "service/cli/rig_tables.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "estimator/assessment/identifiability/base_parameters.hpp"
#include "estimator/model/encoder.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/text/number_format.hpp"
#include "service/text/table_notation.hpp"

namespace service {
namespace {

using TableRows = std::vector<std::vector<std::string>>;

std::string body_name(const estimator::Mechanism& mechanism, int body) {
  return body < 0 ? "ground" : mechanism.bodies[static_cast<std::size_t>(body)].name;
}

std::string describe_counts(const EncoderFacts& encoder) {
  return encoder.counts > 0.0 ? format_number(encoder.counts) + " counts/" + encoder.counts_of
                              : "yes";
}

/// Returns the signed sum of joints that an encoder between bodies measures, e.g. "1 + 2 - 3".
std::string describe_terms(const estimator::Mechanism& mechanism,
                           const estimator::BodyEncoder& encoder) {
  std::string text;
  for (const estimator::Encoder::Term& term : terms_between(mechanism, encoder)) {
    const char* const sign =
        term.sign > 0.0 ? (text.empty() ? "" : " + ") : (text.empty() ? "-" : " - ");
    text += sign + mechanism.joints[static_cast<std::size_t>(term.joint)].name;
  }
  return text;
}

bool is_tied_parameter(const estimator::Mechanism& mechanism, std::size_t index) {
  return estimator::find_dependency(mechanism, static_cast<int>(index)) != nullptr;
}

bool has_prior(const estimator::Parameter& parameter) {
  return std::isfinite(parameter.prior_standard_deviation);
}

bool is_fixed(const estimator::Mechanism& mechanism, std::size_t index) {
  const estimator::Parameter& parameter = mechanism.parameters[index];
  return !parameter.free && !is_tied_parameter(mechanism, index) && !has_prior(parameter);
}

/// Returns a mark per parameter that is true if the parameter has no effect: it is fixed at zero,
/// or it is a Stribeck rate whose Stribeck torque has no effect.
std::vector<bool> idle_parameters(const estimator::Mechanism& mechanism) {
  std::vector<bool> idle;
  for (std::size_t i = 0; i < mechanism.parameters.size(); ++i) {
    const estimator::Parameter& parameter = mechanism.parameters[i];
    idle.push_back(is_fixed(mechanism, i) && parameter.value == 0.0);
  }
  for (int h = 0; h < mechanism.joint_count(); ++h) {
    const auto at = [&](estimator::JointQuantity quantity) {
      return static_cast<std::size_t>(mechanism.index_of_joint(h, quantity));
    };
    const std::size_t rate = at(estimator::JointQuantity::kStribeckRate);
    idle[rate] = idle[at(estimator::JointQuantity::kStribeckTorque)] && is_fixed(mechanism, rate);
  }
  return idle;
}

}  // namespace

std::string rig_summary(const Rig& rig) {
  const estimator::Mechanism& mechanism = rig.mechanism;
  return "rig " + (mechanism.name.empty() ? rig.path : mechanism.name) + ": " +
         std::to_string(mechanism.body_count()) + " bodies, " +
         std::to_string(mechanism.joint_count()) + " joints\n";
}

std::string joint_tables(const Rig& rig) {
  const estimator::Mechanism& mechanism = rig.mechanism;
  std::string text;
  TableRows joints = {{"joint", "parent", "child", "encoder", "motor", "compliance", "damping"}};
  std::size_t sensor = 0;
  for (std::size_t i = 0; i < mechanism.joints.size(); ++i) {
    const estimator::Joint& joint = mechanism.joints[i];
    const JointFacts& facts = rig.joint_facts[i];
    joints.push_back({joint.name, body_name(mechanism, joint.body_a),
                      body_name(mechanism, joint.body_b),
                      joint.measured ? describe_counts(rig.encoders[sensor++]) : "-",
                      joint.motorised ? "in " + facts.control_unit : "-",
                      format_number(joint.compliance_linear) + " m/N, " +
                          format_number(joint.compliance_angular) + " rad/(N·m)",
                      joint.damping_time == estimator::Joint::kAutomaticDamping
                          ? std::string("step/4")
                          : format_number(joint.damping_time) + " s"});
  }
  text += format_table(joints, std::vector<bool>(7, false)) + '\n';
  if (!mechanism.mimic_joints.empty()) {
    TableRows mimic_joints = {{"joint", "mimic of", "ratio", "offset"}};
    for (const estimator::MimicJoint& each : mechanism.mimic_joints) {
      const estimator::Joint& own = mechanism.joints[static_cast<std::size_t>(each.joint)];
      mimic_joints.push_back({own.name,
                              mechanism.joints[static_cast<std::size_t>(each.follows)].name,
                              format_number(each.ratio, 6),
                              format_number(each.offset, 6) + " " + own.units().coordinate});
    }
    text += format_table(mimic_joints, std::vector<bool>(4, false)) + '\n';
  }
  if (mechanism.body_encoder_count() > 0) {
    TableRows encoders = {{"encoder", "of", "against", "reads", "resolution"}};
    for (const estimator::BodyEncoder& encoder : mechanism.body_encoders) {
      encoders.push_back({encoder.name, body_name(mechanism, encoder.body_b),
                          body_name(mechanism, encoder.body_a), describe_terms(mechanism, encoder),
                          describe_counts(rig.encoders[sensor++])});
    }
    text += format_table(encoders, std::vector<bool>(5, false)) + '\n';
  }
  return text;
}

std::string parameter_table(const estimator::Mechanism& mechanism, bool all) {
  TableRows rows = {{"parameter", "value", "unit", "estimated", "lower", "upper", "prior"}};
  const std::vector<bool> idle = idle_parameters(mechanism);
  std::vector<TableQuantity> quantities;
  for (const estimator::Parameter& each : mechanism.parameters) {
    quantities.push_back({each.value, 0.0, each.unit});
  }
  const std::vector<TableNotation> notations = table_notations(quantities);
  for (std::size_t i = 0; i < mechanism.parameters.size(); ++i) {
    const estimator::Parameter& parameter = mechanism.parameters[i];
    const TableNotation& notation = notations[i];
    if (idle[i] && !all) continue;
    const TableNotation prior =
        notation.with(parameter.prior_mean, parameter.prior_standard_deviation);
    rows.push_back({parameter.name, notation.number(parameter.value, 6), notation.unit(),
                    parameter.free                    ? "free"
                    : is_tied_parameter(mechanism, i) ? "dependent"
                                                      : "",
                    notation.number(parameter.lower), notation.number(parameter.upper),
                    has_prior(parameter) ? prior.value() + " ± " + prior.deviation() : ""});
  }
  std::string text = format_table(rows, {false, true, false, false, true, true, false});
  const auto count = std::ranges::count(idle, true);
  if (count > 0 && !all) {
    text += "\n" + std::to_string(count) +
            " more parameters are fixed, at zero, or without effect; add --all to list them.\n";
  }
  return text;
}

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
