#include "daq/scenario/open_loop.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>
#include <utility>

namespace daq {
namespace {

constexpr double kTwoPi = 2.0 * std::numbers::pi;
// Grid densities for the choice of phases, evaluated hundreds of times, and for the peak, once.
constexpr int kCoarsePointsPerCycle = 16, kCoarsePointsMax = 8192;
constexpr int kFinePointsPerCycle = 64, kFinePointsMax = 1 << 20;

double tone_value(const Tone& tone, double time_s) {
  return tone.amplitude *
         std::sin(kTwoPi * tone.frequency_Hz * time_s + tone.phase_rad.value_or(0.0));
}

// Signal on a uniform grid over the duration, without the ramp.
struct Grid {
  int points = 0;
  double period_s = 0.0;
};

Grid make_grid(const Multisine& multisine, int points_per_cycle, int points_max) {
  double fastest = 0.0;
  for (const Tone& tone : multisine.tones) fastest = std::max(fastest, tone.frequency_Hz);
  const double wanted = multisine.duration_s * fastest * points_per_cycle;
  const int points = static_cast<int>(std::clamp(std::ceil(wanted), 64.0, double(points_max)));
  return {points, multisine.duration_s / points};
}

Grid coarse_grid(const Multisine& multisine) {
  return make_grid(multisine, kCoarsePointsPerCycle, kCoarsePointsMax);
}

std::vector<double> sample(const Multisine& multisine, const Grid& grid) {
  std::vector<double> values(static_cast<std::size_t>(grid.points), 0.0);
  for (const Tone& tone : multisine.tones) {
    for (int k = 0; k < grid.points; ++k) {
      values[static_cast<std::size_t>(k)] += tone_value(tone, k * grid.period_s);
    }
  }
  return values;
}

double peak_of(const std::vector<double>& values) {
  double peak = 0.0;
  for (const double value : values) peak = std::max(peak, std::abs(value));
  return peak;
}

// Returns Σ x^(2^doublings), scaled by the reference to stay within the range of a double.
double power_sum(const std::vector<double>& rest, const std::vector<double>& sine,
                 const std::vector<double>& cosine, double a, double b, double scale,
                 int doublings) {
  double sum = 0.0;
  for (std::size_t k = 0; k < rest.size(); ++k) {
    double x = (rest[k] + a * sine[k] + b * cosine[k]) * scale;
    for (int d = 0; d < doublings; ++d) x *= x;
    sum += x;
  }
  return sum;
}

// Lowers the p-norm, p = 2^doublings, by one pass over the free phases with the given step.
void improve_phases(Multisine& multisine, const std::vector<bool>& is_free, const Grid& grid,
                    int doublings, double step_rad) {
  std::vector<double> total = sample(multisine, grid);
  std::vector<double> sine(total.size());
  std::vector<double> cosine(total.size());
  for (std::size_t i = 0; i < multisine.tones.size(); ++i) {
    if (!is_free[i]) continue;
    Tone& tone = multisine.tones[i];
    const double start = *tone.phase_rad;
    for (std::size_t k = 0; k < total.size(); ++k) {
      const double angle = kTwoPi * tone.frequency_Hz * static_cast<double>(k) * grid.period_s;
      sine[k] = std::sin(angle);
      cosine[k] = std::cos(angle);
      total[k] -= tone.amplitude * std::sin(angle + start);
    }
    const double scale = 1.0 / std::max(peak_of(total) + std::abs(tone.amplitude), 1e-300);
    const auto norm_at = [&](double phase) {
      return power_sum(total, sine, cosine, tone.amplitude * std::cos(phase),
                       tone.amplitude * std::sin(phase), scale, doublings);
    };
    double best = norm_at(start);
    for (const double phase :
         {start - 2 * step_rad, start - step_rad, start + step_rad, start + 2 * step_rad}) {
      if (const double norm = norm_at(phase); norm < best) {
        best = norm;
        tone.phase_rad = phase;
      }
    }
    for (std::size_t k = 0; k < total.size(); ++k) {
      total[k] += tone.amplitude *
                  (sine[k] * std::cos(*tone.phase_rad) + cosine[k] * std::sin(*tone.phase_rad));
    }
  }
}

}  // namespace

double Multisine::compute_command(const ScenarioInput& now) const noexcept {
  if (now.time_s < 0.0) return 0.0;
  double sum = 0.0;
  for (const Tone& tone : tones) sum += tone_value(tone, now.time_s);
  return now.time_s < ramp_s ? sum * now.time_s / ramp_s : sum;
}

// Between two grid points the signal is at most |f''| (Δt/2)²/2 above the higher one. During the
// fade-in, f = s t/T and f'' = s'' t/T + 2 s'/T.
double Multisine::command_peak() const {
  const Grid grid = make_grid(*this, kFinePointsPerCycle, kFinePointsMax);
  std::vector<double> values = sample(*this, grid);
  for (int k = 0; k < grid.points && k * grid.period_s < ramp_s; ++k) {
    values[static_cast<std::size_t>(k)] *= k * grid.period_s / ramp_s;
  }
  double amplitude_sum = 0.0;
  double curvature_max = 0.0;
  for (const Tone& tone : tones) {
    const double omega = kTwoPi * tone.frequency_Hz;
    amplitude_sum += std::abs(tone.amplitude);
    curvature_max += std::abs(tone.amplitude) * omega * omega;
    if (ramp_s > 0.0) curvature_max += std::abs(tone.amplitude) * 2.0 * omega / ramp_s;
  }
  values.push_back(compute_command({duration_s, {}}));  // the end of the last grid interval
  const double bound = peak_of(values) + curvature_max * grid.period_s * grid.period_s / 8.0;
  return std::min(bound, amplitude_sum);
}

std::vector<std::string> Multisine::validation_errors() const {
  std::vector<std::string> found;
  if (tones.empty()) found.push_back("multisine.sine: give at least one");
  for (std::size_t i = 0; i < tones.size(); ++i) {
    if (!(tones[i].frequency_Hz > 0.0)) {
      found.push_back("multisine.sine[" + std::to_string(i) + "].frequency_hz must be positive");
    }
  }
  if (!(ramp_s >= 0.0)) found.push_back("multisine.ramp_s must not be negative");
  return found;
}

void choose_multisine_phases(Multisine& multisine) {
  const auto n = static_cast<double>(multisine.tones.size());
  std::vector<bool> is_free(multisine.tones.size());
  for (std::size_t i = 0; i < multisine.tones.size(); ++i) {
    is_free[i] = !multisine.tones[i].phase_rad.has_value();
    if (!is_free[i]) continue;
    const auto index = static_cast<double>(i + 1);
    multisine.tones[i].phase_rad = -std::numbers::pi * index * (index - 1.0) / n;
  }
  if (std::none_of(is_free.begin(), is_free.end(), [](bool is) { return is; })) return;

  // The p-norms only approximate the peak, so keep the best crest factor found on the way.
  const Grid grid = coarse_grid(multisine);
  Multisine best = multisine;
  double best_peak = peak_of(sample(best, grid));
  for (int doublings = 2; doublings <= 5; ++doublings) {
    for (const double step_rad : {0.8, 0.4, 0.2, 0.1, 0.05, 0.02}) {
      improve_phases(multisine, is_free, grid, doublings, step_rad);
      if (const double peak = peak_of(sample(multisine, grid)); peak < best_peak) {
        best_peak = peak;
        best = multisine;
      }
    }
  }
  multisine = best;
}

Replay::Replay(std::vector<double> time_s, std::vector<double> values)
    : time_s_(std::move(time_s)), values_(std::move(values)) {
  assert(time_s_.size() == values_.size());
  if (time_s_.empty()) return;
  const double start_s = time_s_.front();
  for (double& t : time_s_) t -= start_s;
}

double Replay::compute_command(const ScenarioInput& now) noexcept {
  if (time_s_.empty() || now.time_s < 0.0) return 0.0;
  while (row_ + 1 < time_s_.size() && time_s_[row_ + 1] <= now.time_s) ++row_;
  return row_ + 1 < time_s_.size() ? values_[row_] : 0.0;
}

double Replay::command_peak() const noexcept {
  double peak = 0.0;
  for (const double value : values_) peak = std::max(peak, std::abs(value));
  return peak;
}

std::vector<std::string> Replay::validation_errors() const {
  std::vector<std::string> found;
  if (time_s_.size() < 2) found.push_back("replay.file: needs at least two rows");
  for (std::size_t k = 0; k < time_s_.size(); ++k) {
    const std::string row = "replay.file: row " + std::to_string(k + 1);
    if (!std::isfinite(time_s_[k]) || !std::isfinite(values_[k])) {
      found.push_back(row + " is not a number");
      break;
    }
    if (k > 0 && time_s_[k] <= time_s_[k - 1]) {
      found.push_back(row + ": time does not increase");
      break;
    }
  }
  return found;
}

}  // namespace daq
