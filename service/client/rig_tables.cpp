#include "service/client/rig_tables.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "estimator/model/sensor.hpp"
#include "service/report/result_table.hpp"
#include "service/text/number_format.hpp"

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

/// Formats the joints that an encoder between bodies measures, e.g. "1 + 2 - 3".
std::string describe_terms(const estimator::Mechanism& mechanism,
                           const estimator::BodyEncoder& encoder) {
  std::string text, fault;
  for (const estimator::Sensor::Term& term : terms_between(mechanism, encoder, fault)) {
    const char* const sign =
        term.sign > 0.0 ? (text.empty() ? "" : " + ") : (text.empty() ? "-" : " - ");
    text += sign + mechanism.hinges[static_cast<std::size_t>(term.hinge)].name;
  }
  return text;
}

bool is_tied(const estimator::Mechanism& mechanism, std::size_t index) {
  return estimator::find_tie(mechanism, static_cast<int>(index)) != nullptr;
}

bool has_prior(const estimator::Parameter& parameter) {
  return std::isfinite(parameter.prior_standard_deviation);
}

bool is_fixed(const estimator::Mechanism& mechanism, std::size_t index) {
  const estimator::Parameter& parameter = mechanism.parameters[index];
  return !parameter.free && !is_tied(mechanism, index) && !has_prior(parameter);
}

/// Marks parameters that are fixed at zero, and Stribeck rates whose torques are.
std::vector<bool> idle_parameters(const estimator::Mechanism& mechanism) {
  std::vector<bool> idle;
  for (std::size_t i = 0; i < mechanism.parameters.size(); ++i) {
    const estimator::Parameter& parameter = mechanism.parameters[i];
    idle.push_back(is_fixed(mechanism, i) && parameter.value == 0.0);
  }
  for (int h = 0; h < mechanism.hinge_count(); ++h) {
    const auto at = [&](estimator::HingeQuantity quantity) {
      return static_cast<std::size_t>(mechanism.index_of_hinge(h, quantity));
    };
    const std::size_t rate = at(estimator::HingeQuantity::kStribeckRate);
    idle[rate] = idle[at(estimator::HingeQuantity::kStribeckTorque)] && is_fixed(mechanism, rate);
  }
  return idle;
}

}  // namespace

std::string rig_head(const Rig& rig) {
  const estimator::Mechanism& mechanism = rig.mechanism;
  return "rig " + (mechanism.name.empty() ? rig.path : mechanism.name) + ": " +
         std::to_string(mechanism.body_count()) + " bodies, " +
         std::to_string(mechanism.hinge_count()) + " hinges\n";
}

std::string joint_tables(const Rig& rig) {
  const estimator::Mechanism& mechanism = rig.mechanism;
  std::string text;
  TableRows hinges = {{"hinge", "parent", "child", "encoder", "motor", "compliance", "damping"}};
  std::size_t sensor = 0;
  for (std::size_t i = 0; i < mechanism.hinges.size(); ++i) {
    const estimator::Hinge& hinge = mechanism.hinges[i];
    const HingeFacts& facts = rig.hinge_facts[i];
    hinges.push_back({hinge.name, body_name(mechanism, hinge.body_a),
                      body_name(mechanism, hinge.body_b),
                      hinge.measured ? describe_counts(rig.encoders[sensor++]) : "-",
                      hinge.motorised ? "in " + facts.control_unit : "-",
                      format_number(hinge.compliance_linear) + " m/N, " +
                          format_number(hinge.compliance_angular) + " rad/(N·m)",
                      hinge.damping_time == estimator::Hinge::kAutomaticDamping
                          ? std::string("step/4")
                          : format_number(hinge.damping_time) + " s"});
  }
  text += format_table(hinges, std::vector<bool>(7, false)) + '\n';
  if (!mechanism.couplings.empty()) {
    TableRows couplings = {{"hinge", "follows", "ratio", "offset"}};
    for (const estimator::Coupling& each : mechanism.couplings) {
      const estimator::Hinge& own = mechanism.hinges[static_cast<std::size_t>(each.hinge)];
      couplings.push_back({own.name, mechanism.hinges[static_cast<std::size_t>(each.follows)].name,
                           format_number(each.ratio, 6),
                           format_number(each.offset, 6) + " " + own.units().coordinate});
    }
    text += format_table(couplings, std::vector<bool>(4, false)) + '\n';
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
  for (std::size_t i = 0; i < mechanism.parameters.size(); ++i) {
    const estimator::Parameter& parameter = mechanism.parameters[i];
    if (idle[i] && !all) continue;
    rows.push_back({parameter.name, format_number(parameter.value, 6), parameter.unit,
                    parameter.free          ? "free"
                    : is_tied(mechanism, i) ? "tied"
                                            : "",
                    format_number(parameter.lower), format_number(parameter.upper),
                    has_prior(parameter) ? format_with_deviation(parameter.prior_mean,
                                                                 parameter.prior_standard_deviation)
                                         : ""});
  }
  std::string text = format_table(rows, {false, true, false, false, true, true, false});
  const auto count = std::ranges::count(idle, true);
  if (count > 0 && !all) {
    text += "\n" + std::to_string(count) +
            " more parameters are fixed, at zero, or without effect; add --all to list them.\n";
  }
  return text;
}

}  // namespace service
