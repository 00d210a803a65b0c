#include "estimator/fit/input_checks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/number_text.hpp"
#include "estimator/model/encoder.hpp"
#include "estimator/signal/noise_level.hpp"

namespace estimator {
namespace {

void check_mechanism(const Mechanism& mechanism) {
  const std::vector<Message> errors = find_errors(mechanism, InertiaCheck::kFixed);
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
  const auto motors = std::ranges::count_if(mechanism.joints, &Joint::motorised);
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

struct OptionRule {
  const char* name;
  double CalibrationOptions::*value;
  double lowest;
  bool may_equal;    ///< whether the lowest value itself is allowed
  const char* zero;  ///< what 0 stands for
};

constexpr double kLargest = std::numeric_limits<double>::max();
constexpr OptionRule kOptionRules[] = {
    {"the time step", &CalibrationOptions::step, 0.0, true, "automatic"},
    {"the acceleration noise", &CalibrationOptions::acceleration_noise, 0.0, true, "estimated"},
    {"the state error weight", &CalibrationOptions::state_error_weight, 0.0, true, "automatic"},
    {"the compliance", &CalibrationOptions::compliance, -kLargest, true, ""},
    {"the damping time", &CalibrationOptions::damping_time, -kLargest, true, ""},
    {"the weighting compliance", &CalibrationOptions::weighting_compliance, 0.0, true, "automatic"},
    {"the filter cutoff", &CalibrationOptions::filter_cutoff, 0.0, false, ""},
};

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
    throw std::invalid_argument("a time step of " + number_text(step) +
                                " s is too long: the longest segment lasts " +
                                number_text(longest) + " s, and needs at least " +
                                std::to_string(kSegmentNodesMin) + " steps");
  }
  if (!(total / step <= kTimeStepsMax)) {
    throw std::invalid_argument("a time step of " + number_text(step) +
                                " s is too short: it would divide the recordings into " +
                                number_text(total / step) + " steps, and at most " +
                                number_text(kTimeStepsMax) + " are supported");
  }
}

}  // namespace

void check_input(const Mechanism& mechanism, const std::vector<Recording>& recordings) {
  check_mechanism(mechanism);
  check_recordings(mechanism, recordings);
}

void check_options(const CalibrationOptions& options, const std::vector<Recording>& recordings) {
  for (const OptionRule& rule : kOptionRules) {
    const double value = options.*rule.value;
    const bool allowed =
        std::isfinite(value) && (value > rule.lowest || (rule.may_equal && value == rule.lowest));
    if (allowed) continue;
    throw std::invalid_argument(
        std::string(rule.name) + " is " + number_text(value) + "; give a number that is " +
        (rule.lowest < 0.0 ? "0, positive, or negative (the value of the rig file)"
         : rule.may_equal  ? std::string("0 (") + rule.zero + ") or positive"
                           : "positive"));
  }
  if (options.max_iterations < 0) {
    throw std::invalid_argument("the iteration limit is " + std::to_string(options.max_iterations) +
                                "; give 0 or more");
  }
  if (options.step > 0.0) check_step(options.step, recordings);
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
