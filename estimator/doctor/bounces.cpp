#include "estimator/doctor/bounces.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "estimator/calibrate/number_text.hpp"
#include "estimator/doctor/edge_fit.hpp"
#include "estimator/doctor/reading_series.hpp"
#include "estimator/doctor/signal_scale.hpp"
#include "estimator/model/sensor.hpp"

namespace estimator {
namespace {

/// Readings on each side of a corner, through which lines are laid.
constexpr std::size_t kCornerWindows[] = {4, 12};

/// A corner's change of speed is so many times what noise, and what the largest acceleration that
/// lasts, make of one.
constexpr double kCornerNoise = 8.0;
constexpr double kCornerBend = 4.0;

/// Corners at one place that are told of, and how close they lie: in readings at their speed [-].
constexpr int kCornersMin = 3;
constexpr double kPlaceReadings = 1.5;

struct Corner {
  double time, place, change;  ///< [s], [rad or m], of the speed: above zero where it rises
  double reach;                ///< by how much the place is not known
};

/// Corners of one series, largest changes of speed among their neighbours.
class CornerSearch {
 public:
  CornerSearch(const ReadingSeries& series, double quantum)
      : series_(series), scale_(series, quantum), quantum_(quantum) {}

  std::vector<Corner> run() const {
    std::vector<Corner> corners;
    for (const std::size_t window : kCornerWindows) scan(window, corners);
    return corners;
  }

 private:
  void scan(std::size_t m, std::vector<Corner>& corners) const {
    const double period = series_.period;
    const double bend = kCornerBend * scale_.acceleration(m) / period * static_cast<double>(m);
    Corner best{};
    std::size_t best_at = 0;
    for (std::size_t k = m; k + m <= series_.size(); ++k) {
      if (best.change != 0.0 && k > best_at + m) {
        keep(best, corners);
        best = {};
      }
      if (!series_.is_dense(k - m, 2 * m)) continue;
      const double* t = series_.times.data() + k;
      const double* y = series_.values.data() + k;
      const EdgeFit left({t - m, m}, {y - m, m}, 1, period);
      const EdgeFit right({t, m}, {y, m}, 1, period);
      const double before = left.slope(t[-1]), after = right.slope(t[0]);
      if (!(before * after < 0.0)) continue;
      const double noise =
          std::max({scale_.noise(k), 0.5 * quantum_,
                    std::sqrt(std::max(left.residual_variance(), right.residual_variance()))});
      const double count = static_cast<double>(m);
      const double deviation = noise / period * std::sqrt(24.0 / (count * (count * count - 1.0)));
      const double change = after - before;
      const double least = std::min(std::abs(before), std::abs(after));
      if (!(std::abs(change) > kCornerNoise * deviation + bend) ||
          !(least > 2.0 * deviation + 0.5 * bend)) {
        continue;
      }
      if (std::abs(change) > std::abs(best.change)) {
        // Where the lines meet.
        const double meets = (left.value(t[0]) - right.value(t[0])) / change;
        best = {series_.times[k], right.value(t[0] + meets), change,
                kPlaceReadings * std::abs(change) * period + 2.0 * noise};
        best_at = k;
      }
    }
    if (best.change != 0.0) keep(best, corners);
  }

  void keep(const Corner& corner, std::vector<Corner>& corners) const {
    const double beside = 2.0 * static_cast<double>(kCornerWindows[1]) * series_.period;
    const auto is_beside = [&](const Corner& other) {
      return std::abs(other.time - corner.time) < beside;
    };
    if (std::ranges::none_of(corners, is_beside)) corners.push_back(corner);
  }

  const ReadingSeries& series_;
  SignalScale scale_;
  double quantum_;
};

/// The place that most corners of one side lie at.
std::vector<Corner> most_at_one_place(const std::vector<Corner>& corners, double side) {
  std::vector<Corner> best;
  for (const Corner& about : corners) {
    std::vector<Corner> here;
    for (const Corner& each : corners) {
      const bool is_near = std::abs(each.place - about.place) < each.reach + about.reach;
      if (side * each.change > 0.0 && side * about.change > 0.0 && is_near) here.push_back(each);
    }
    if (here.size() > best.size()) best = here;
  }
  return best;
}

Finding bounce_finding(const Mechanism& mechanism, const Sensor& sensor, const Recording& recording,
                       const std::vector<Corner>& corners, double side) {
  const Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(sensor.terms.front().hinge)];
  std::vector<double> places, times;
  for (const Corner& corner : corners) {
    places.push_back(corner.place);
    times.push_back(corner.time);
  }
  const double offset = parameter_at(mechanism, sensor.offset).value;
  const double place = sensor.terms.front().sign * (median_of(places) + offset);
  const double first = *std::ranges::min_element(times), last = *std::ranges::max_element(times);
  const std::string unit = sensor.units().coordinate;
  const char* const which = side * sensor.terms.front().sign > 0.0 ? "lower" : "upper";
  return {.kind = "undescribed-stop",
          .severity = Severity::kNote,
          .recording = recording.name,
          .channel = hinge.name,
          .from = first,
          .to = last,
          .size = place,
          .unit = unit,
          .what = "hinge " + hinge.name + " turns back at once " + std::to_string(corners.size()) +
                  " times at about " + number_text(place) + " " + unit + ", the first at " +
                  number_text(first, 6) + " s: as if it struck an end stop",
          .advice = "describe it: `stops { " + std::string(which) + " { value: " +
                    number_text(place) + " free: true } restitution { value: 0.5 free: true } }`"};
}

}  // namespace

void find_bounces(const Mechanism& mechanism, const std::vector<double>& quanta,
                  const Recording& recording, SignalExamination& out) {
  const std::vector<Sensor> sensors = sensors_of(mechanism);
  for (std::size_t i = 0; i < sensors.size(); ++i) {
    const Sensor& sensor = sensors[i];
    if (sensor.terms.size() != 1) continue;
    const Hinge& hinge = mechanism.hinges[static_cast<std::size_t>(sensor.terms.front().hinge)];
    if (hinge.stops_lower || hinge.stops_upper) continue;
    std::vector<Corner> corners;
    for (const Segment& segment : recording.segments) {
      const ReadingSeries series =
          observed_readings(segment, segment.angles.col(static_cast<Eigen::Index>(i)), sensor.kind);
      for (Corner corner : CornerSearch(series, quanta[i]).run()) {
        corner.time += segment.start;
        corners.push_back(corner);
      }
    }
    for (const double side : {1.0, -1.0}) {
      const std::vector<Corner> here = most_at_one_place(corners, side);
      if (std::ssize(here) < kCornersMin) continue;
      out.findings.push_back(bounce_finding(mechanism, sensor, recording, here, side));
    }
  }
}

}  // namespace estimator
