#include "tests/studies/arm/arm_tasks.hpp"

#include <memory>
#include <string_view>
#include <utility>

#include "estimator/fit/inertia_parameterized_problem.hpp"
#include "estimator/model/inertia/inertia_parameterization.hpp"
#include "service/work/fingerprint.hpp"
#include "tests/studies/arm/arm_draw.hpp"
#include "tests/studies/arm/arm_judgement.hpp"
#include "tests/studies/arm/arm_regressors.hpp"

namespace service {
namespace {

namespace est = estimator;
using Eigen::VectorXd;

constexpr double kArmCutoff = 5.0;  // of filters for initial states [Hz]
constexpr int kArmIterations = 200;
constexpr double kTimedNoise = 0.01;

/// Cost of regressions and energy estimates as a number of calibration steps of equal duration.
constexpr double kRegressionWork = 500.0, kEnergyWork = 5e3;

std::string links_of(const StudyArm& arm) { return std::to_string(arm.links) + " links"; }

RunLabels place_of(const StudyArm& arm, const char* stage, std::uint64_t index, double noise) {
  RunLabels place;
  place.stage = stage;
  place.set = links_of(arm);
  place.recording = "draw " + std::to_string(index) + ", noise " + std::to_string(noise);
  return place;
}

/// Returns the hash of all inputs on which a random arm and its recording depend.
Fingerprint fingerprint_of(const StudyArm& arm, std::string_view stage, double duration,
                           double noise, std::uint64_t index) {
  Fingerprint key;
  key.add(RIGCAL_VERSION).add(stage).add(static_cast<std::uint64_t>(arm.links)).add(arm.seed);
  for (const double each : {duration, arm.period, arm.amplitude, arm.slowest, arm.fastest,
                            arm.dither, arm.initial_error, noise}) {
    key.add(each);
  }
  return key.add(index);
}

/// Returns a calibration task for a recording of a random arm.
StudyTask calibration_of(RunLabels place, const est::Mechanism& start, const ArmRun& with_noise) {
  auto data = std::make_shared<StudyData>();
  data->name = place.recording;
  data->duration = static_cast<double>(with_noise.angles.rows()) * with_noise.period;
  data->recordings.push_back(recording_of(with_noise));
  est::CalibrationOptions options;
  options.kind = est::EstimateKind::kPhysical;
  options.filter_cutoff = kArmCutoff;
  options.max_iterations = kArmIterations;
  options.refine_simulation = false;
  options.compare_parts = false;
  options.repair = false;  // simulated data have no faults
  return make_task(std::move(place), std::move(data), start, options);
}

StudyTask fit_task(const StudyArm& arm, const char* stage, double duration, double noise,
                   std::uint64_t index) {
  RunLabels place = place_of(arm, stage, index, noise);
  const auto compute = [arm, duration, noise, index, place](StudyRun& run,
                                                            const std::atomic<bool>* stop) {
    const auto [drawn, clean] = draw_run(arm, duration, index);
    const ArmRun with_noise = recorded_draw(arm, clean, noise, index);
    calibration_of(place, arm_mechanism(drawn.start, drawn.start_bodies, noise), with_noise)
        .compute(run, stop);
  };
  return {.place = std::move(place),
          .key = fingerprint_of(arm, stage, duration, noise, index).hex(),
          .work = arm.links * duration / arm.period,
          .compute = compute};
}

/// Makes the inertias physically consistent by using the nearest consistent ones. Unidentifiable
/// moments keep their initial values, which may be inconsistent with the estimated moments.
est::Mechanism with_consistent_inertias(est::Mechanism mechanism) {
  for (int body = 0; body < mechanism.body_count(); ++body) {
    const Eigen::Matrix3d has_consistent_inertias = est::nearest_consistent_inertia_matrix(
        mechanism.parameter(body, est::BodyParameter::kMass).value,
        est::inertia_matrix(est::moments_of_inertia(mechanism, body)));
    const est::Moments moments = est::moments_of_inertia(has_consistent_inertias);
    for (int i = 0; i < 6; ++i) {
      const int index = mechanism.index(body, est::BodyParameter::kJxx) + i;
      mechanism.parameters[static_cast<std::size_t>(index)].value = moments[i];
    }
  }
  return mechanism;
}

/// Makes the friction of every joint depend on the first joint's friction by the true ratio.
est::Mechanism with_tied_friction(est::Mechanism mechanism, const Arm& arm) {
  for (int j = 1; j < arm.size(); ++j) {
    const ArmLink& first = arm.links.front();
    const ArmLink& own = arm.links[static_cast<std::size_t>(j)];
    const auto tie = [&](est::JointParameter quantity, double ratio) {
      const int index = mechanism.joint_parameter_index(j, quantity);
      mechanism.parameters[static_cast<std::size_t>(index)].free = false;
      mechanism.dependencies.push_back(
          {.parameter = index, .terms = {{mechanism.joint_parameter_index(0, quantity), ratio}}});
    };
    tie(est::JointParameter::kViscous, own.viscous / first.viscous);
    tie(est::JointParameter::kCoulombTorque, own.coulomb / first.coulomb);
  }
  est::apply_dependencies(mechanism);
  return mechanism;
}

}  // namespace

StudyTask arm_fit_task(const StudyArm& arm, double noise, std::uint64_t index) {
  return fit_task(arm, "fit", arm.duration, noise, index);
}

StudyTask arm_time_task(const StudyArm& arm, double duration) {
  return fit_task(arm, "time", duration, kTimedNoise, 0);
}

StudyTask arm_tied_task(const StudyArm& arm, double noise, std::uint64_t index,
                        const StudyRun& fit) {
  RunLabels place = place_of(arm, "dependent", index, noise);
  const auto compute = [arm, noise, index, place, fit](StudyRun& run,
                                                       const std::atomic<bool>* stop) {
    const auto [drawn, clean] = draw_run(arm, arm.duration, index);
    const ArmRun with_noise = recorded_draw(arm, clean, noise, index);
    const est::Mechanism reached =
        with_estimates(arm_mechanism(drawn.start, drawn.start_bodies, noise), fit);
    calibration_of(place, with_tied_friction(with_consistent_inertias(reached), drawn.arm),
                   with_noise)
        .compute(run, stop);
  };
  return {.place = std::move(place),
          .key = fingerprint_of(arm, "dependent " + fit.key, arm.duration, noise, index).hex(),
          .work = arm.links * arm.duration / arm.period,
          .compute = compute};
}

StudyTask arm_regression_task(const StudyArm& arm, double noise, std::uint64_t index) {
  const auto compute = [arm, noise, index](StudyRun& run, const std::atomic<bool>*) {
    const auto [drawn, clean] = draw_run(arm, arm.duration, index);
    const ArmRun with_noise = recorded_draw(arm, clean, noise, index);
    const auto error = [&, truth = ArmTruth(drawn)](const VectorXd& values) {
      return truth.median_error(values);
    };
    for (const auto& [name, regress] :
         {std::pair{"torques", &regress_torques}, std::pair{"energy", &regress_energy}}) {
      for (const double value : tuned_regression(drawn.arm, with_noise, error, regress).values) {
        run.parameters.push_back({.name = name, .unit = "SI", .value = value});
      }
    }
    run.converged = true;
  };
  return {.place = place_of(arm, "regressions", index, noise),
          .key = fingerprint_of(arm, "regressions", arm.duration, noise, index).hex(),
          .work = kRegressionWork * arm.links,
          .compute = compute};
}

StudyTask arm_energy_task(const StudyArm& arm, std::uint64_t start) {
  const auto compute = [arm, start](StudyRun& run, const std::atomic<bool>* stop) {
    run.parameters = parameters_of(run_energy(arm, start, stop));
    run.converged = true;
  };
  return {.place = place_of(arm, "energy", start, arm.energy_noise),
          .key = fingerprint_of(arm, "energy", arm.energy_duration, arm.energy_noise, start).hex(),
          .work = kEnergyWork,
          .compute = compute};
}

}  // namespace service
