#include "daq/scenario/catalog.hpp"

namespace daq {
namespace {

// Scenarios without a phase of their own run from the start.
template <typename T>
Phase phase_of(const T& excitation) noexcept {
  if constexpr (requires { excitation.phase(); }) {
    return excitation.phase();
  } else {
    return Phase::kRunning;
  }
}

}  // namespace

double Scenario::command(const Moment& now) noexcept {
  if (phase_ == Phase::kFinished) return 0.0;
  return std::visit(
      [&](auto& excitation) {
        const double command = excitation.command(now);
        phase_ = phase_of(excitation);
        if (phase_ == Phase::kRunning) {
          if (running_since_s_ < 0.0) running_since_s_ = now.time_s;
          if (!(now.time_s - running_since_s_ < duration_s_)) phase_ = Phase::kFinished;
        }
        return phase_ == Phase::kFinished ? 0.0 : command;
      },
      excitation_);
}

double Scenario::command_peak() const {
  return std::visit([](const auto& excitation) { return excitation.command_peak(); }, excitation_);
}

std::vector<std::string> Scenario::faults() const {
  auto found = std::visit([](const auto& excitation) { return excitation.faults(); }, excitation_);
  if (!(duration_s_ > 0.0)) found.push_back("duration_s must be positive");
  return found;
}

bool Scenario::is_open_loop() const noexcept {
  return !std::holds_alternative<Release>(excitation_) &&
         !std::holds_alternative<SwingUp>(excitation_);
}

}  // namespace daq
