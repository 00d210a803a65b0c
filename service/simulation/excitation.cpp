#include "service/simulation/excitation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace service {
namespace {

constexpr double kTwoPi = 2.0 * std::numbers::pi;

}  // namespace

double SwingUp::command(const Moment& now) const {
  if (now.time < kick_time) return kick_command;
  const double theta = now.pendulum_angle;
  const double from_upright = std::remainder(theta - std::numbers::pi, kTwoPi);
  if (std::abs(from_upright) < stop_angle) return 0.0;
  const double w = now.pendulum_speed / (kTwoPi * natural_frequency);
  const double E = 0.5 * w * w - std::cos(theta);
  const double direction = now.pendulum_speed * std::cos(theta);
  if (direction == 0.0) return 0.0;
  const double wanted = std::copysign(1.0, direction) * energy_gain * (1.0 - E);
  return std::clamp(wanted, -command_max, command_max);
}

double Pulse::command(const Moment& now) const {
  return now.time >= start && now.time < start + width ? amplitude : 0.0;
}

double Step::command(const Moment& now) const { return now.time >= start ? amplitude : 0.0; }

double Chirp::command(const Moment& now) const {
  const double s = now.time - start;
  if (s < 0.0 || now.time > end) return 0.0;
  const double slope = (frequency_end - frequency_start) / (end - start);
  return amplitude * std::sin(kTwoPi * (frequency_start + 0.5 * slope * s) * s);
}

double Multisine::command(const Moment& now) const {
  double sum = 0.0;
  for (const Tone& tone : tones) {
    sum += tone.amplitude * std::sin(kTwoPi * tone.frequency * now.time + tone.phase);
  }
  return now.time < ramp ? sum * now.time / ramp : sum;
}

double schroeder_phase(int index, int count) {
  return -std::numbers::pi * index * (index - 1.0) / count;
}

double Replay::command(const Moment& now) const {
  const auto next = std::upper_bound(times.begin(), times.end(), now.time);
  if (next == times.begin()) return 0.0;
  return commands[static_cast<std::size_t>(next - times.begin()) - 1];
}

}  // namespace service
