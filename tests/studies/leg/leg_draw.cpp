#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "estimator/simulation/loops/loop_closure.hpp"
#include "proto/text/input_error.hpp"
#include "service/simulation/plant.hpp"
#include "service/simulation/simulation.hpp"
#include "tests/studies/leg/leg.hpp"

namespace service {
namespace {

using LegGenerator = std::mt19937_64;

constexpr int kLegSines = 3;        // per motor
constexpr double kLegFadeIn = 1.0;  // at the beginning of a motion [s]

double leg_gaussian(LegGenerator& generator) {
  return std::normal_distribution<double>()(generator);
}

/// Returns a random log-normal factor whose logarithm has the given standard deviation.
double drawn_factor(LegGenerator& generator, double deviation) {
  return std::exp(deviation * leg_gaussian(generator));
}

/// Draws the true values of a leg: the masses to be estimated, with inertias and centres of mass,
/// and the parameters `drawn`. Scaling an inertia about the centre of mass keeps it physically
/// consistent.
estimator::Mechanism draw_leg_truth(const RandomLegs& drawing, LegGenerator& generator) {
  using estimator::BodyParameter;
  estimator::Mechanism truth = drawing.typical;
  for (int i = 0; i < truth.body_count(); ++i) {
    estimator::Parameter& mass = truth.parameter(i, BodyParameter::kMass);
    if (!mass.free) continue;
    double moments = 0.0;
    for (const BodyParameter moment :
         {BodyParameter::kJxx, BodyParameter::kJyy, BodyParameter::kJzz}) {
      moments += truth.parameter(i, moment).value;
    }
    const double gyration = std::sqrt(0.5 * moments / mass.value);  // radius of gyration [m]
    mass.value *= drawn_factor(generator, drawing.deviation);
    const double of_inertia = drawn_factor(generator, drawing.deviation);
    for (int q = static_cast<int>(BodyParameter::kJxx); q <= static_cast<int>(BodyParameter::kJyz);
         ++q) {
      truth.parameter(i, static_cast<BodyParameter>(q)).value *= of_inertia;
    }
    for (const char* axis : {".c_x", ".c_y", ".c_z"}) {
      const int centre =
          truth.find_parameter(truth.bodies[static_cast<std::size_t>(i)].name + axis);
      if (centre < 0) continue;
      truth.parameters[static_cast<std::size_t>(centre)].value +=
          drawing.deviation * std::numbers::sqrt2 / 2.0 * gyration * leg_gaussian(generator);
    }
  }
  for (const int parameter : drawing.drawn) {
    truth.parameters[static_cast<std::size_t>(parameter)].value *=
        drawn_factor(generator, drawing.deviation);
  }
  estimator::apply_dependencies(truth);
  for (estimator::Parameter& parameter : truth.parameters) parameter.free = false;
  return truth;
}

/// Returns random reference angles of the driven joints, samples × drives [rad]: three sines about
/// the mean angle of each joint, with log-uniform frequencies.
Eigen::MatrixXd draw_leg_motion(const RandomLegs& drawing, LegGenerator& generator) {
  const auto samples = static_cast<Eigen::Index>(std::lround(drawing.duration / drawing.period));
  const auto drives = static_cast<Eigen::Index>(drawing.drives.size());
  const auto even = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(generator);
  };
  Eigen::MatrixXd reference = Eigen::MatrixXd::Zero(samples, drives);
  for (Eigen::Index i = 0; i < drives; ++i) {
    const LegDrive& drive = drawing.drives[static_cast<std::size_t>(i)];
    for (int sine = 0; sine < kLegSines; ++sine) {
      const double rate = 2.0 * std::numbers::pi *
                          std::exp(even(std::log(drawing.slowest), std::log(drawing.fastest)));
      const double phase = even(0.0, 2.0 * std::numbers::pi);
      for (Eigen::Index k = 0; k < samples; ++k) {
        reference(k, i) += std::sin(rate * drawing.period * static_cast<double>(k) + phase);
      }
    }
    reference.col(i) *= drive.amplitude / reference.col(i).cwiseAbs().maxCoeff();
    for (Eigen::Index k = 0; k < samples; ++k) {
      const double share = std::min(1.0, static_cast<double>(k) * drawing.period / kLegFadeIn);
      reference(k, i) *= 0.5 - 0.5 * std::cos(std::numbers::pi * share);
    }
    reference.col(i).array() += drive.about;
  }
  return reference;
}

/// Returns the joint angles with all driven joints at their mean angles and the loops closed.
Eigen::VectorXd start_angles(const RandomLegs& drawing, const Rig& rig) {
  const Eigen::Index n = rig.mechanism.joint_count();
  Eigen::VectorXd angles = Eigen::VectorXd::Zero(n);
  Eigen::VectorXd wanted = Eigen::VectorXd::Constant(n, std::numeric_limits<double>::quiet_NaN());
  for (Eigen::Index j = 0; j < n; ++j) {
    const double about = rig.mechanism.joints[static_cast<std::size_t>(j)].assembly_guess;
    if (!std::isnan(about)) angles[j] = about;
  }
  for (const LegDrive& drive : drawing.drives) angles[drive.joint] = drive.about;
  for (const LegDrive& drive : drawing.drives) wanted[drive.joint] = drive.about;
  estimator::LoopClosure closure(rig.mechanism);
  if (closure.has_loops() && !closure.close(angles, wanted)) {
    throw proto::InputError(rig.path +
                            ": its loops cannot be closed at the positions of the study's drives; "
                            "check about_rad and the joints' points");
  }
  return angles;
}

/// Simulates the leg and returns a recording of encoder readings and motor torques.
std::string record_leg(const LegStudy& study, const estimator::Mechanism& truth,
                       LegGenerator& generator) {
  const RandomLegs& drawing = *study.drawing;
  Rig rig = study.loop;
  rig.mechanism = truth;
  const Eigen::MatrixXd reference = draw_leg_motion(drawing, generator);
  const Scenario scenario{.excitation = {"leg", daq::Release({}), drawing.duration},
                          .initial_angles = start_angles(drawing, rig),
                          .initial_speeds = Eigen::VectorXd::Zero(rig.mechanism.joint_count())};
  const std::unique_ptr<Plant> plant =
      make_plant(rig, scenario, drawing.period, Integrator::kPhysical);
  std::vector<Eigen::Index> read;
  for (int j = 0; j < truth.joint_count(); ++j) {
    if (truth.joints[static_cast<std::size_t>(j)].measured) read.push_back(j);
  }
  SimulatedRun run;
  run.period = run.step = drawing.period;
  run.angles.resize(reference.rows(), static_cast<Eigen::Index>(read.size()));
  run.controls.resize(reference.rows(), reference.cols());
  Eigen::VectorXd torque(reference.cols());
  for (Eigen::Index k = 0; k < reference.rows(); ++k) {
    for (Eigen::Index i = 0; i < reference.cols(); ++i) {
      const LegDrive& drive = drawing.drives[static_cast<std::size_t>(i)];
      torque[i] = drive.stiffness * (reference(k, i) - plant->joint_coordinates()[drive.joint]) -
                  drive.damping * plant->joint_speeds()[drive.joint];
      run.controls(k, i) = torque[i] + study.torque_noise * leg_gaussian(generator);
    }
    for (std::size_t i = 0; i < read.size(); ++i) {
      run.angles(k, static_cast<Eigen::Index>(i)) =
          plant->joint_coordinates()[read[i]] + drawing.encoder_noise * leg_gaussian(generator);
    }
    plant->advance_step(torque, static_cast<double>(k) * drawing.period);
  }
  return simulation_csv(rig, run);
}

}  // namespace

LegRecordings draw_leg(const LegStudy& study, std::uint64_t index) {
  std::seed_seq seeds{study.drawing->seed, index};
  LegGenerator generator(seeds);
  LegRecordings drawn;
  drawn.name = "leg " + std::to_string(index + 1);
  drawn.truth = draw_leg_truth(*study.drawing, generator);
  drawn.training = record_leg(study, *drawn.truth, generator);
  drawn.held_out = record_leg(study, *drawn.truth, generator);
  return drawn;
}

}  // namespace service
