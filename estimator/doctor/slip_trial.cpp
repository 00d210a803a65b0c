#include "estimator/doctor/slip_trial.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "estimator/doctor/finding_text.hpp"
#include "estimator/doctor/misfit_judgement.hpp"
#include "estimator/doctor/modelled_segments.hpp"
#include "estimator/doctor/steps.hpp"
#include "estimator/model/sensor.hpp"

namespace estimator {
namespace {

/// Of what is told as a step, that a suspected one reaches at least: below, any noise has one.
constexpr double kSuspect = 0.3;

/// Rows beside a jump of the model's own, within which a step is that.
constexpr int kModelReach = 2;

bool is_of_model(const Eigen::MatrixXd& model, int row, int sensor, double size) {
  for (int k = row - kModelReach; k <= row + kModelReach; ++k) {
    if (std::abs(model_jump(model, k, sensor)) > 0.5 * std::abs(size)) return true;
  }
  return false;
}

}  // namespace

SignalExamination suspect_slip(const Calibration& calibration,
                               const std::vector<Recording>& recordings) {
  SignalExamination out;
  if (calibration.kind != EstimateKind::kPhysical) return out;
  const std::vector<Sensor> sensors = sensors_of(calibration.mechanism);
  const std::vector<double> quanta = seen_quanta(sensors, recordings);
  double best = kSuspect;
  for (int r = 0; r < std::ssize(recordings); ++r) {
    const std::vector<ModelledSegment> modelled =
        modelled_segments(calibration, sensors, recordings, r);
    const std::vector<double> left = root_mean_squares(modelled, sensors.size());
    for (const ModelledSegment& each : modelled) {
      for (int i = 0; i < std::ssize(sensors); ++i) {
        const Sensor& sensor = sensors[static_cast<std::size_t>(i)];
        const double quantum = quanta[static_cast<std::size_t>(i)];
        const ReadingSeries series =
            observed_readings(*each.segment, each.left.col(i), sensor.kind);
        const SignalScale scale(series, quantum);
        const std::optional<Step> step = likeliest_step(series, scale, sensor.units().scale, best);
        if (!step || !(step->ratio > best)) continue;
        if (!stands_out(step->size, left[static_cast<std::size_t>(i)])) continue;
        const int row = series.rows[step->position];
        if (is_of_model(*each.model, row, i, step->size)) continue;
        best = step->ratio;
        const double time = each.segment->start + each.segment->time(row);
        out.findings = {slip_finding(sensor, recordings[static_cast<std::size_t>(r)].name, time,
                                     step->size, step->deviation, quantum)};
        out.freed = {{r, each.index, i, row, step->size, 0}};
      }
    }
  }
  return out;
}

bool is_slip_confirmed(const Calibration& without, const Calibration& with,
                       const std::string& offset) {
  if (without.verdict.kind == VerdictKind::kHolds || with.verdict.kind != VerdictKind::kHolds) {
    return false;
  }
  const auto estimate = std::ranges::find(with.parameters, offset, &ParameterEstimate::name);
  return estimate != with.parameters.end() &&
         is_sure(estimate->value, estimate->standard_deviation);
}

}  // namespace estimator
