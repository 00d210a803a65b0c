// One iteration of the default estimation: a candidate simulated, its derivatives, the
// factorization.
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>

#include "estimator/fit/physical/shooting_input.hpp"
#include "estimator/optimize/arrow_factor.hpp"
#include "proto/text/command_line/malloc_tuning.hpp"
#include "tests/bench/shooting/furuta_limit.hpp"
#include "tests/estimator/inertial_sensor.hpp"
#include "tests/support/mechanisms/controlled_arm.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

namespace {

using namespace test_support;

using estimator::JointParameter;
using estimator::Mechanism;
using estimator::Segment;
using estimator::ShootingProblem;

constexpr double kPeriod = 1e-3, kStep = 2e-3;
constexpr int kSamples = 60'001;

// The limit, for the same number of samples.
void limit(benchmark::State& bench) {
  const int steps = 100, intervals = 300;
  for (auto _ : bench) benchmark::DoNotOptimize(bench::shoot_by_hand(intervals, steps, kStep));
  bench.counters["us_per_sample"] =
      benchmark::Counter(2.0 * intervals * steps * 1e-6 * static_cast<double>(bench.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

Mechanism furuta() {
  Mechanism mechanism = mechanism_of({});
  free_parameters(mechanism,
                  {"A.J_zz", "B.J_yy", "B.J_zz", "1.b", "2.b", "1.tau_c", "2.tau_c", "1.K",
                   "gravity.tilt_x", "gravity.tilt_z"},
                  1.0);
  return mechanism;
}

/// States that repeat every interval, so that the motion is as fast at the end as at the start.
Eigen::MatrixXd recurring_states(int joints, const Segment& segment, double interval) {
  const auto nodes = static_cast<Eigen::Index>(std::ceil(segment.duration() / interval)) + 1;
  Eigen::MatrixXd states(2 * joints, nodes);
  for (Eigen::Index k = 0; k < nodes; ++k) {
    for (int j = 0; j < joints; ++j) {
      states(j, k) = std::sin(0.7 * static_cast<double>(k) + j);
      states(joints + j, k) = 4.0 * std::cos(1.3 * static_cast<double>(k) + j);
    }
  }
  return states;
}

ShootingProblem problem_of(const Mechanism& mechanism, int samples, int threads, double period) {
  const int joints = mechanism.joint_count();
  Segment segment;
  segment.period = period;
  segment.angles = Eigen::MatrixXd::Zero(samples, joints);
  const int axes = estimator::Sensor::kAxes * mechanism.sensor_count();
  if (axes > 0) segment.inertial = Eigen::MatrixXd::Zero(samples, axes);
  int motors = 0;
  for (const estimator::Joint& joint : mechanism.joints) motors += joint.motor.present ? 1 : 0;
  segment.controls.resize(samples, motors);
  for (Eigen::Index k = 0; k < samples; ++k) {
    segment.controls.row(k).setConstant(std::sin(0.01 * static_cast<double>(k)));
  }
  const double interval = estimator::default_node_interval({segment});
  return ShootingProblem(
      mechanism, {segment}, {recurring_states(joints, segment, interval)}, {interval},
      {kStep, interval},
      {Eigen::VectorXd::Constant(joints, 1e-3), Eigen::VectorXd::Constant(joints, 0.3),
       Eigen::VectorXd::Constant(axes, 1e-2)},
      threads);
}

void run(benchmark::State& bench, const Mechanism& mechanism, int samples, int threads = 1,
         double period = kPeriod) {
  ShootingProblem problem = problem_of(mechanism, samples, threads, period);
  estimator::ArrowheadFactorization factor(problem.shape(), problem.max_block_rows());
  const Eigen::VectorXd nodes = Eigen::VectorXd::Zero(
      static_cast<Eigen::Index>(problem.shape().node_count) * problem.shape().node_size);
  const Eigen::VectorXd arrow = Eigen::VectorXd::Zero(problem.shape().parameter_count);
  for (auto _ : bench) {
    benchmark::DoNotOptimize(problem.evaluate_trial_step(nodes, arrow));
    problem.accept_trial_step();
    benchmark::DoNotOptimize(factor.factorize(problem, 1e-8));
  }
  bench.counters["us_per_sample"] =
      benchmark::Counter(samples * 1e-6 * static_cast<double>(bench.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void furuta_iteration(benchmark::State& bench) {
  run(bench, furuta(), kSamples, static_cast<int>(bench.range(0)));
}

void furuta_load_friction(benchmark::State& bench) {
  Mechanism mechanism = furuta();
  for (const int joint : {0, 1}) {
    mechanism.joint_parameter(joint, JointParameter::kLoadFriction).value = 1e-3;
  }
  run(bench, mechanism, kSamples);
}

// Six-axis inertial sensors with unknown place, mounting and biases.
void furuta_inertial(benchmark::State& bench) {
  using estimator::SensorParameter;
  Mechanism mechanism = furuta();
  for (int i = 0; i < bench.range(0); ++i) {
    add_inertial_sensor(mechanism, "imu" + std::to_string(i), (i + 1) % 2, {});
    for (const SensorParameter first :
         {SensorParameter::kPointX, SensorParameter::kMountX, SensorParameter::kRateBiasX,
          SensorParameter::kForceBiasX}) {
      for (int k = 0; k < 3; ++k) {
        const auto quantity = static_cast<SensorParameter>(static_cast<int>(first) + k);
        mechanism.sensor_parameter(i, quantity).free = true;
      }
    }
  }
  run(bench, mechanism, kSamples / 4);
}

void furuta_samples(benchmark::State& bench) {
  run(bench, furuta(), static_cast<int>(bench.range(0)));
}

void chain_joints(benchmark::State& bench) {
  Mechanism mechanism = estimator::make_chain({.links = static_cast<int>(bench.range(0))});
  for (int joint = 0; joint < mechanism.joint_count(); ++joint) {
    mechanism.joint_parameter(joint, JointParameter::kViscous).free = true;
  }
  run(bench, mechanism, 6'001);
}

// One second at 100 Hz of an arm whose axes have all directions. Inertial parameters, viscous and
// Coulomb friction and motor gains are free: 13 parameters per link. The second counter is constant
// if the time grows with the square of the number of links.
void arm_links(benchmark::State& bench) {
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), y = Eigen::Vector3d::UnitY(),
                        z = Eigen::Vector3d::UnitZ();
  Mechanism arm = make_arm(static_cast<int>(bench.range(0)));
  for (int j = 0; j < arm.joint_count(); ++j) {
    if (j > 0 && j % 2 == 0) {
      arm.joints[j].frame_a = arm.joints[j].frame_b = estimator::make_joint_frame(y, x);
    } else if (j % 4 == 3) {
      arm.joints[j].frame_a = arm.joints[j].frame_b = estimator::make_joint_frame(x, z);
    }
    for (int i = 0; i < Mechanism::kBodyParameters; ++i) {
      arm.parameter(j, static_cast<estimator::BodyParameter>(i)).free = true;
    }
    const int centre = arm.find_parameter(arm.bodies[j].name + ".c_x");
    for (int axis = 0; axis < 3; ++axis) arm.at(centre + axis).free = true;
    for (const JointParameter quantity :
         {JointParameter::kViscous, JointParameter::kCoulombTorque, JointParameter::kMotorGain}) {
      arm.joint_parameter(j, quantity).free = true;
    }
  }
  run(bench, arm, 101, 1, 0.01);
  const auto links = static_cast<double>(bench.range(0));
  bench.counters["us_per_sample_and_links^2"] =
      benchmark::Counter(101.0 * links * links * 1e-6 * static_cast<double>(bench.iterations()),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

BENCHMARK(limit)->Unit(benchmark::kMillisecond);
BENCHMARK(furuta_iteration)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(furuta_load_friction)->Unit(benchmark::kMillisecond);
BENCHMARK(furuta_inertial)->DenseRange(0, 4, 1)->Unit(benchmark::kMillisecond);
BENCHMARK(furuta_samples)
    ->RangeMultiplier(10)
    ->Range(1'000, 1'000'000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(chain_joints)->RangeMultiplier(2)->Range(1, 16)->Unit(benchmark::kMillisecond);
BENCHMARK(arm_links)->Arg(2)->Arg(4)->Arg(6)->Arg(8)->Arg(12)->Arg(16)->Unit(
    benchmark::kMillisecond);

}  // namespace

int main(int argc, char** argv) {
  proto::enable_memory_reuse();  // as rigcal does
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
