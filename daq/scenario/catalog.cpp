#include "daq/scenario/catalog.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace daq {

Scenario::Scenario(std::string name, std::vector<MotorExcitation> excitations, double duration_s)
    : name_(std::move(name)), excitations_(std::move(excitations)), duration_s_(duration_s) {
  assert(!excitations_.empty());
}

Scenario::Scenario(std::string name, Excitation excitation, double duration_s)
    : Scenario(std::move(name), {MotorExcitation{std::move(excitation)}}, duration_s) {}

void Scenario::compute_command(const ScenarioInput& now, std::span<double> commands) noexcept {
  std::ranges::fill(commands, 0.0);
  if (phase_ == ScenarioPhase::kFinished) return;
  std::optional<ScenarioPhase> phase;  // of the excitation that ends last
  for (MotorExcitation& each : excitations_) {
    std::visit(
        [&](auto& excitation) {
          const double command = excitation.compute_command(now);
          if (each.motor < commands.size()) commands[each.motor] += command;
          if constexpr (requires { excitation.phase(); }) {
            phase = std::min(phase.value_or(ScenarioPhase::kFinished), excitation.phase());
          }
        },
        each.excitation);
  }
  phase_ = phase.value_or(ScenarioPhase::kRunning);
  if (phase_ == ScenarioPhase::kRunning) {
    if (running_since_s_ < 0.0) running_since_s_ = now.time_s;
    if (!(now.time_s - running_since_s_ < duration_s_)) phase_ = ScenarioPhase::kFinished;
  }
  if (phase_ == ScenarioPhase::kFinished) std::ranges::fill(commands, 0.0);
}

double Scenario::command_peak() const {
  double peak = 0.0;
  for (const MotorExcitation& each : excitations_) {
    const double own = command_peak(each.motor);
    if (!std::isfinite(own)) return own;
    peak = std::max(peak, own);
  }
  return peak;
}

double Scenario::command_peak(std::size_t motor) const {
  double peak = 0.0;
  for (const MotorExcitation& each : excitations_) {
    if (each.motor != motor) continue;
    peak += std::visit([](const auto& excitation) { return excitation.command_peak(); },
                       each.excitation);
  }
  return peak;
}

std::optional<HeldJoint> Scenario::held_joint() const {
  const auto* release = std::get_if<Release>(&excitations_.front().excitation);
  return release == nullptr ? std::nullopt : std::optional(release->held_joint());
}

std::vector<std::string> Scenario::validation_errors() const {
  std::vector<std::string> found;
  for (const MotorExcitation& each : excitations_) {
    const auto own = std::visit(
        [](const auto& excitation) { return excitation.validation_errors(); }, each.excitation);
    found.insert(found.end(), own.begin(), own.end());
  }
  if (!(duration_s_ > 0.0)) found.push_back("duration_s must be positive");
  return found;
}

bool Scenario::is_open_loop() const noexcept {
  return std::ranges::none_of(excitations_, [](const MotorExcitation& each) {
    return std::holds_alternative<Release>(each.excitation) ||
           std::holds_alternative<SwingUp>(each.excitation) ||
           std::holds_alternative<PositionFeedback>(each.excitation) ||
           std::holds_alternative<TestPush>(each.excitation);
  });
}

}  // namespace daq
