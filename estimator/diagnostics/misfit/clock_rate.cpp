#include "estimator/diagnostics/misfit/clock_rate.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "estimator/model/parameter_dependencies.hpp"
#include "estimator/model/parameter_target.hpp"

namespace estimator {
namespace {

/// Returns the power of the second in the unit of a joint parameter, such as "N·m·s²/rad²", where N
/// is kg·m/s². A motor's control counts as a force in the amplifier's own unit. Delays are not
/// converted.
int power_in_unit(std::string_view unit) {
  if (unit == "s") return 0;
  int power = 0, sign = 1;
  const auto count = [&](std::string_view factor) {
    const bool is_force = factor.starts_with("N"), is_second = factor.starts_with("s");
    if (is_force || is_second) {
      power += sign * (is_force ? -2 : 1) * (factor.substr(1) == "²" ? 2 : 1);
    }
  };
  constexpr std::string_view kTimes = "·";
  while (!unit.empty()) {
    const std::size_t end = std::min({unit.find(kTimes), unit.find('/'), unit.size()});
    count(unit.substr(0, end));
    unit.remove_prefix(end);
    if (unit.starts_with('/')) sign = -1;
    if (!unit.empty()) unit.remove_prefix(unit.starts_with('/') ? 1 : kTimes.size());
  }
  return power;
}

int power_of_second(const Mechanism& mechanism, int index) {
  if (index == mechanism.index(WorldQuantity::kGravity)) return -2;
  const ParameterTarget target = parameter_target(mechanism, index);
  if (target.kind != ParameterTarget::Kind::kJoint) return 0;
  const Joint& joint = mechanism.joints[static_cast<std::size_t>(target.element)];
  return power_in_unit(unit_of(joint.kind, static_cast<JointQuantity>(target.quantity)));
}

}  // namespace

ClockRateMechanism with_clock_rate(const Mechanism& mechanism) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  ClockRateMechanism clocked{mechanism, static_cast<int>(mechanism.parameters.size())};
  Mechanism& in_clock = clocked.mechanism;
  for (int i = 0; i < clocked.rate; ++i) {
    Parameter& parameter = parameter_at(in_clock, i);
    const double power = power_of_second(mechanism, i);
    if (power == 0.0) continue;
    parameter.prior_standard_deviation = kInfinity;
    if (parameter.free) continue;
    auto tie = std::ranges::find(in_clock.dependencies, i, &ParameterDependency::parameter);
    if (tie == in_clock.dependencies.end()) {
      if (parameter.value == 0.0) continue;
      tie = in_clock.dependencies.insert(tie, {.parameter = i, .constant = parameter.value});
    }
    if (tie->constant != 0.0) tie->terms.push_back({clocked.rate, power * tie->constant});
    parameter.lower = -kInfinity;
    parameter.upper = kInfinity;
  }
  in_clock.parameters.push_back({.name = "clock rate", .unit = "-", .free = true});
  return clocked;
}

void convert_from_clock_seconds(const ClockRateMechanism& clocked, Mechanism& mechanism) {
  const double rate = clocked.mechanism.parameters.back().value;
  for (int i = 0; i < clocked.rate; ++i) {
    Parameter& parameter = parameter_at(mechanism, i);
    if (!parameter.free) continue;
    const double value =
        parameter_at(clocked.mechanism, i).value / (1.0 + power_of_second(mechanism, i) * rate);
    parameter.value = std::clamp(value, parameter.lower, parameter.upper);
  }
  apply_dependencies(mechanism);
}

std::vector<Recording> correct_clock_error(std::vector<Recording> recordings, double rate) {
  for (Recording& recording : recordings) {
    for (Segment& segment : recording.segments) {
      segment.period /= 1.0 + rate;
      for (double& time : segment.times) time /= 1.0 + rate;
    }
  }
  return recordings;
}

}  // namespace estimator
