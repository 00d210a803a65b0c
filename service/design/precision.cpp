#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "estimator/fit/free_parameters.hpp"
#include "estimator/model/encoder.hpp"
#include "proto/text/input_error.hpp"
#include "service/design/experiment.hpp"
#include "service/report/sections/result_table.hpp"
#include "service/rig/parameters/parameter_edits.hpp"
#include "service/text/number_format.hpp"
#include "service/text/table_notation.hpp"

namespace service {
namespace {

constexpr double kShareWanted = 0.01;   // of the value
constexpr double kAngleWanted = 0.001;  // [rad]
constexpr const char* kAngleUnit = "rad";

/// Parses a requested precision: a positive standard deviation, or a percentage of the parameter's
/// value.
double read_deviation(const std::string& option, const std::string& text,
                      const std::string& precision, const estimator::Parameter& parameter,
                      const estimator::Parameter& in_file) {
  const bool percent = precision.ends_with('%');
  double number = 0.0;
  const char* const end = precision.data() + precision.size() - (percent ? 1 : 0);
  const auto read = std::from_chars(precision.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || !(number > 0.0) || !std::isfinite(number)) {
    throw proto::InputError(
        "{} {}: {:?} is not a positive standard deviation. Write {}:2% or a number in {}", option,
        text, precision, parameter.name, parameter.unit);
  }
  if (!percent) return number;
  const double value = (is_at_bound(parameter) ? in_file : parameter).value;
  if (value == 0.0 || is_at_bound(in_file)) {
    throw proto::InputError(
        "{} {}: a percentage of the value {}{} is meaningless. Write a number in {}", option, text,
        format_number(value), value == 0.0 ? "" : ", its bound,", parameter.unit);
  }
  return 0.01 * number * std::abs(value);
}

bool is_offset(const estimator::Mechanism& mechanism, int index) {
  const std::vector<estimator::Encoder> sensors = estimator::all_encoders(mechanism);
  return std::ranges::count(sensors, index, &estimator::Encoder::offset) > 0;
}

/// Returns the standard deviation by which the design scales a target's predicted standard
/// deviation. It is the requested standard deviation, or else 1 % of the value, or 0.001 rad for an
/// angle.
/// @throws proto::InputError for a zero-valued parameter without a requested precision
double target_deviation(const TargetPrecision& precision, const estimator::Mechanism& mechanism) {
  if (precision.deviation > 0.0) return precision.deviation;
  const estimator::Parameter& parameter =
      mechanism.parameters[static_cast<std::size_t>(precision.index)];
  if (parameter.unit == kAngleUnit) return kAngleWanted;
  if (parameter.value != 0.0) return kShareWanted * std::abs(parameter.value);
  throw proto::InputError(
      "--for {0}: the value is 0, so an absolute precision is needed. Write {0}:NUMBER in {1}",
      precision.name, parameter.unit);
}

std::string share_of(double deviation, double value) {
  return std::isinf(deviation) || value == 0.0
             ? ""
             : format_percent(100.0 * deviation / std::abs(value));
}

std::string deviation_of(const TableNotation& notation, double deviation) {
  return std::isinf(deviation) ? "unknown" : notation.deviation_text(deviation);
}

}  // namespace

Eigen::VectorXd read_initial_coordinates(const std::vector<std::string>& texts,
                                         const estimator::Mechanism& mechanism) {
  Eigen::VectorXd placed =
      Eigen::VectorXd::Constant(mechanism.joint_count(), std::numeric_limits<double>::quiet_NaN());
  for (const std::string& text : texts) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string name = text.substr(0, equals);
    const auto joint = std::ranges::find(mechanism.joints, name, &estimator::Joint::name);
    if (joint == mechanism.joints.end()) {
      throw proto::InputError("--at {}: the rig has no joint {:?}; write JOINT=VALUE", text, name);
    }
    double value = 0.0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + std::min(equals + 1, text.size()), end, value);
    if (read.ec != std::errc() || read.ptr != end || !std::isfinite(value)) {
      throw proto::InputError("--at {}: not a number. Write {}=VALUE in {}", text, name,
                              joint->units().coordinate);
    }
    placed[joint - mechanism.joints.begin()] = value;
  }
  return placed;
}

bool is_at_bound(const estimator::Parameter& parameter) {
  return parameter.value <= parameter.lower || parameter.value >= parameter.upper;
}

std::vector<TargetPrecision> parse_target_precisions(const std::string& option,
                                                     const std::vector<std::string>& texts,
                                                     estimator::Mechanism& mechanism,
                                                     const estimator::Mechanism& in_file) {
  std::vector<TargetPrecision> precisions;
  for (const std::string& text : texts) {
    const std::size_t colon = text.rfind(':');
    const std::string name = text.substr(0, colon);
    const estimator::Parameter& parameter =
        find_required_parameter(option + " " + name, name, mechanism);
    if (!parameter.free) {
      throw proto::InputError(
          "{} {}: the parameter is not free, so it would not be estimated. "
          "Mark it with free: true in the rig file",
          option, text);
    }
    if (std::ranges::find(precisions, name, &TargetPrecision::name) != precisions.end()) {
      throw proto::InputError(option + " " + text + ": given twice. Give it once");
    }
    TargetPrecision precision{.name = name, .index = mechanism.find_parameter(name)};
    if (colon != std::string::npos) {
      precision.deviation = read_deviation(option, text, text.substr(colon + 1), parameter,
                                           in_file.at(precision.index));
    }
    precisions.push_back(std::move(precision));
  }
  return precisions;
}

std::vector<TargetPrecision> default_target_precisions(const estimator::Mechanism& mechanism) {
  std::vector<TargetPrecision> precisions;
  const estimator::FreeParameters free(mechanism);
  for (const int index : free.parameter_indices()) {
    const estimator::Parameter& parameter = mechanism.parameters[static_cast<std::size_t>(index)];
    if (parameter.value == 0.0 || is_at_bound(parameter) || parameter.unit == kAngleUnit ||
        is_offset(mechanism, index)) {
      continue;
    }
    precisions.push_back({.name = parameter.name, .index = index});
  }
  return precisions;
}

std::vector<estimator::DesignTarget> make_design_targets(
    const std::vector<TargetPrecision>& precisions, const estimator::Mechanism& mechanism) {
  const estimator::FreeParameters free(mechanism);
  std::vector<estimator::DesignTarget> targets;
  for (const TargetPrecision& precision : precisions) {
    targets.push_back(
        {free.find_position(precision.index), target_deviation(precision, mechanism)});
  }
  return targets;
}

std::string format_experiment(const DesignedExperiment& experiment) {
  std::vector<std::vector<std::string>> rows = {
      {"parameter", "value", "sd now", "", "sd after", "", "unit", "requested sd"}};
  std::vector<TableQuantity> quantities;
  for (const ExperimentPrecision& each : experiment.parameters) {
    quantities.push_back({each.value, each.after, each.unit});
  }
  const std::vector<TableNotation> notations = make_table_notations(quantities);
  for (std::size_t i = 0; i < notations.size(); ++i) {
    const ExperimentPrecision& parameter = experiment.parameters[i];
    const TableNotation& notation = notations[i];
    std::string asked;
    if (parameter.is_target) {
      asked = parameter.asked == 0.0
                  ? "as small as possible"
                  : notation.deviation_text(parameter.asked) +
                        (parameter.after <= parameter.asked ? "" : ", not reached");
    }
    const double scale = parameter.is_at_bound ? 0.0 : parameter.value;
    rows.push_back({parameter.name, notation.number_text(parameter.value),
                    deviation_of(notation, parameter.before),
                    share_of(parameter.before, scale),
                    deviation_of(notation, parameter.after),
                    share_of(parameter.after, scale), notation.unit(), asked});
  }
  return format_table(std::move(rows), {false, true, true, true, true, true, false, false});
}

std::string describe_uncertain_target(const TargetPrecision& target, const std::string& rig_path) {
  return fmt::format(
      "{}: no run that certainly stays within the limits ({}, safety) makes this parameter "
      "identifiable, because the standard deviations of the parameters are too large",
      target.name, rig_path);
}

std::string describe_unidentifiable(const TargetPrecision& target, const std::string& motor,
                                    const estimator::ParameterUncertainty& seen,
                                    const estimator::Mechanism& mechanism) {
  const estimator::FreeParameters free(mechanism);
  const Eigen::Index place = free.find_position(target.index);
  const std::vector<int> indices = free.parameter_indices();
  std::vector<std::string> others;
  for (const estimator::NullDirection& direction : seen.null_directions) {
    if (direction.coefficients[place] == 0.0) continue;
    for (Eigen::Index i = 0; i < direction.coefficients.size(); ++i) {
      const auto index = static_cast<std::size_t>(indices[static_cast<std::size_t>(i)]);
      const std::string& name = mechanism.parameters[index].name;
      if (i == place || direction.coefficients[i] == 0.0 ||
          std::ranges::find(others, name) != others.end()) {
        continue;
      }
      others.push_back(name);
    }
  }
  return fmt::format(
      "{}: no command of motor {:?} makes this parameter identifiable{}. Fix the parameter at "
      "a value measured in another way (free: false), or give it a prior",
      target.name, motor, others.empty() ? "" : " separately from " + join_items(others));
}

}  // namespace service
