#include "estimator/fit/input_checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "estimator/fit/number_text.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/signal/noise_level.hpp"

namespace estimator {
namespace {

void check_mechanism(const Mechanism& mechanism) {
  const std::vector<Message> errors = find_mechanism_errors(mechanism, InertiaCheck::kFixed);
  if (errors.empty()) return;
  const std::vector<Argument>& arguments = errors.front().arguments;
  throw std::invalid_argument(
      "the rig cannot be used, because of " +
      (arguments.empty() ? "its joints" : quoted(std::get<std::string>(arguments.front().value))));
}

bool rises(const std::vector<double>& times) {
  const auto stands = [](double now, double next) { return !(now < next); };
  return std::ranges::adjacent_find(times, stands) == times.end();
}

void check_recordings(const Mechanism& mechanism, const std::vector<Recording>& recordings) {
  const auto sensors = static_cast<Eigen::Index>(used_encoders(mechanism).size());
  const auto motors = std::ssize(joints_with_motor(mechanism));
  if (sensors == 0) throw std::invalid_argument("no joint of the rig is measured; add an encoder");
  for (const Recording& recording : recordings) {
    for (const Segment& segment : recording.segments) {
      if (!(segment.period > 0.0) || !std::isfinite(segment.period)) {
        throw std::invalid_argument(recording.name + ": the sampling period must be positive");
      }
      if (segment.angles.cols() != sensors || segment.controls.cols() != motors ||
          segment.controls.rows() != segment.angles.rows()) {
        throw std::invalid_argument(recording.name + ": needs " + std::to_string(sensors) +
                                    " angle and " + std::to_string(motors) +
                                    " control columns of equal length");
      }
      if (!segment.times.empty() &&
          (std::ssize(segment.times) != segment.angles.rows() || !rises(segment.times))) {
        throw std::invalid_argument(recording.name + ": needs one increasing time per row");
      }
      if (!segment.controls.allFinite() || segment.angles.array().isInf().any()) {
        throw std::invalid_argument(recording.name + ": contains infinite or undefined values");
      }
    }
  }
}

void check_step(double step, const std::vector<Recording>& recordings) {
  double longest = 0.0, total = 0.0;
  for (const Recording& recording : recordings) {
    for (const Segment& segment : recording.segments) {
      const double duration = segment.sample_count() * segment.period;
      longest = std::max(longest, duration);
      total += duration;
    }
  }
  if (longest == 0.0) return;  // reported elsewhere
  if (!(step * kSegmentNodesMin <= longest)) {
    throw std::invalid_argument("the time step (" + number_text(step) +
                                " s) is too long: at least " + std::to_string(kSegmentNodesMin) +
                                " steps must fit into the longest segment (" +
                                number_text(longest) + " s)");
  }
  if (!(total / step <= kTimeStepsMax)) {
    throw std::invalid_argument(
        "the time step (" + number_text(step) + " s) is too short: " + number_text(total / step) +
        " steps are needed, and at most " + number_text(kTimeStepsMax) + " are supported");
  }
}

}  // namespace

void check_input(const Mechanism& mechanism, const std::vector<Recording>& recordings) {
  check_mechanism(mechanism);
  check_recordings(mechanism, recordings);
}

void check_options(const CalibrationOptions& options, const std::vector<Recording>& recordings) {
  if (options.step > 0.0) check_step(options.step, recordings);
  for (const OptionRow& row : kOptionRows) {
    if (has_default_value(row, options) || is_in_range(row, options)) continue;
    throw std::invalid_argument("the " + std::string(row.name) + " is " +
                                format_option(row, options) + "; give " +
                                describe_option_values(row));
  }
}

bool has_motion(const std::vector<Recording>& recordings) {
  for (const Recording& recording : recordings) {
    for (const Segment& segment : recording.segments) {
      for (const auto& column : segment.angles.colwise()) {
        double first = std::numeric_limits<double>::quiet_NaN();
        for (const double angle : column) {
          if (std::isnan(first)) first = angle;
          if (std::abs(angle - first) > kReadingNoiseFloor) return true;
        }
      }
    }
  }
  return false;
}

void require_motion(const std::vector<Recording>& recordings) {
  if (!has_motion(recordings)) {
    throw std::invalid_argument("nothing moves in the recordings; check the angle columns");
  }
}

}  // namespace estimator
