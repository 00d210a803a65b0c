#include "service/calibration/live_fit.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "proto/recording/convert.hpp"
#include "proto/text/input_error.hpp"
#include "proto/text/spelling_suggestions.hpp"
#include "service/calibration/pipeline.hpp"
#include "service/messages/live_text.hpp"
#include "service/recordings/formats/recording_formats.hpp"

namespace service {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr const char* kRecordingName = "the recording so far";
/// Growth of the recording until the next complete calibration. All complete calibrations together
/// then take at most three times as long as the last one.
constexpr double kCompleteGrowth = 1.5;

/// Appends messages as structs; omits those that violate the schema.
template <typename Messages, typename Plain>
void append(const Messages& messages, std::vector<Plain>& items) {
  for (const auto& message : messages) {
    if (auto item = proto::from_message(message)) items.push_back(std::move(*item));
  }
}

double motion_duration(const estimator::Recording& recording) {
  double duration = 0.0;
  for (const estimator::Segment& segment : recording.segments) duration += segment.duration();
  return duration;
}

std::string describe_target_problem(const rigcal::v1::LiveTarget& target,
                                    const estimator::Mechanism& mechanism) {
  std::vector<std::string> names;
  for (const estimator::Parameter& parameter : mechanism.parameters) {
    if (parameter.free) names.push_back(parameter.name);
  }
  const int index = mechanism.find_parameter(target.parameter());
  if (index < 0) {
    return describe_unknown_target_parameter(target.parameter(),
                                             proto::suggest_spelling(target.parameter(), names));
  }
  const estimator::Parameter& parameter = mechanism.at(index);
  if (!parameter.free) return describe_fixed_target_parameter(parameter.name);
  if (target.unit() != "%" && target.unit() != parameter.unit) {
    return describe_target_unit(parameter.name, parameter.unit, target.unit());
  }
  return "";
}

}  // namespace

std::string find_live_problem(const rigcal::v1::CheckLive& request) {
  try {
    const Rig rig = parse_rig(request.live().rig_name(), request.live().rig_text());
    for (const rigcal::v1::LiveTarget& target : request.targets()) {
      const std::string problem = describe_target_problem(target, rig.mechanism);
      if (!problem.empty()) return problem;
    }
  } catch (const std::exception& error) {  // also of a mechanism that cannot be assembled
    return error.what();
  }
  return "";
}

LiveFit::LiveFit(const rigcal::v1::LiveRequest& request, proto::RecordingHeader names)
    : rig_(parse_rig(request.rig_name(), request.rig_text())), estimated_through_s_(-kInf) {
  recording_.header = std::move(names);
}

LiveFit::~LiveFit() { stop_.store(true); }

void LiveFit::add(const rigcal::v1::SampleBatch& batch) {
  if (has_ended()) return;
  append(batch.samples(), recording_.samples);
  append(batch.inertial(), recording_.inertial);
  append(batch.gaps(), recording_.gaps);
  append(batch.events(), recording_.events);
  append(batch.clock_fits(), recording_.clock_fits);
}

bool LiveFit::is_due() const {
  return !recording_.samples.empty() && !has_ended() &&
         recording_.samples.back().timestamp_s - estimated_through_s_ >= kPeriod_s;
}

Rig LiveFit::make_start() const {
  Rig rig = rig_;
  // The calibration may have added parameters, such as the offset after an encoder slip.
  if (last_ && last_->calibration.mechanism.parameters.size() == rig.mechanism.parameters.size()) {
    copy_parameter_values(last_->calibration.mechanism, rig.mechanism);
  }
  return rig;
}

LiveFit::CompleteCalibration LiveFit::calibrate_completely(
    Rig rig, const estimator::Recording& recording) const {
  CalibrationInput input;
  input.rig_name = rig.path;
  input.rig = std::move(rig);
  input.recordings = {recording};
  input.context.recordings.emplace_back().summary.file = kRecordingName;
  estimator::CalibrationMonitor monitor;
  monitor.stop = &stop_;
  CompleteCalibration complete;
  complete.result.emplace(run_calibration(input, monitor));
  const estimator::Calibration& calibration = complete.result->calibration;
  complete.is_model_accepted =
      calibration.converged() && calibration.verdict.kind == estimator::VerdictKind::kAccepted;
  return complete;
}

void LiveFit::begin_complete_calibration(const estimator::Recording& recording) {
  complete_s_ = motion_duration(recording);
  complete_ = std::async(std::launch::async, [this, recording, rig = make_start()]() mutable {
    try {
      return calibrate_completely(std::move(rig), recording);
    } catch (const std::exception&) {  // a later estimate reports it
      return CompleteCalibration();
    }
  });
}

void LiveFit::continue_from_complete_calibration() {
  if (!complete_.valid() ||
      complete_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    return;
  }
  CompleteCalibration complete = complete_.get();
  is_model_accepted_ = complete.is_model_accepted;
  last_ = std::move(complete.result);
}

estimator::ContinuedCalibration LiveFit::update(const estimator::Recording& recording) {
  const auto continued = [&]() -> std::optional<estimator::ContinuedCalibration> {
    if (!last_) return std::nullopt;
    return estimator::continue_calibration(rig_.mechanism, *last_, {recording}, {});
  };
  continue_from_complete_calibration();
  auto next = continued();
  if (!next && complete_.valid()) {
    complete_.wait();
    continue_from_complete_calibration();
    next = continued();
  }
  if (next) return *std::move(next);
  complete_s_ = motion_duration(recording);
  CompleteCalibration complete = calibrate_completely(make_start(), recording);
  is_model_accepted_ = complete.is_model_accepted;
  return *std::move(complete.result);
}

rigcal::v1::LiveEstimate LiveFit::estimate() {
  rigcal::v1::LiveEstimate estimate;
  if (recording_.samples.empty()) return estimate;
  estimated_through_s_ = recording_.samples.back().timestamp_s;
  estimate.set_through_s(estimated_through_s_);
  const double release_s = proto::find_release_time(recording_.events);
  if (release_s == kInf) {
    estimate.set_problem(describe_live_problem(LiveProblem::kNotReleased));
    return estimate;
  }
  try {
    const estimator::Recording recording =
        import_daq_samples(kRecordingName, recording_, release_s, rig_).recording;
    const double duration_s = motion_duration(recording);
    estimate.set_duration_s(duration_s);
    if (duration_s < kFirst_s) {
      estimate.set_problem(describe_live_problem(LiveProblem::kTooLittleMotion));
      return estimate;
    }
    last_ = update(recording);
    estimate.set_is_model_accepted(is_model_accepted_);
    for (const estimator::ParameterEstimate& parameter : last_->calibration.parameters) {
      rigcal::v1::LiveParameter& item = *estimate.add_parameters();
      item.set_name(parameter.name);
      item.set_unit(parameter.unit);
      item.set_value(parameter.value);
      item.set_half_width(parameter.half_interval);
    }
    if (!complete_.valid() && duration_s >= kCompleteGrowth * complete_s_) {
      begin_complete_calibration(recording);
    }
  } catch (const std::exception& error) {  // too little motion, no convergence
    last_.reset();
    estimate.set_problem(error.what());
  }
  return estimate;
}

}  // namespace service
