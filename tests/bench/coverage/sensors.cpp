// Coverage of 95 % intervals of sensor constants: a Furuta pendulum with random constants, an
// inertial sensor on the pendulum, a torque sensor, a camera and a wire encoder, with and without
// the pendulum's encoder.
#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <string>

#include "estimator/calibrate/calibrate.hpp"
#include "service/messages/message_text.hpp"
#include "service/recordings/csv_recording.hpp"
#include "service/simulation/scenario.hpp"
#include "service/simulation/simulation.hpp"

namespace {

constexpr double kCrossDeviation = 0.01;  // prior of the description and of the drawn truths

const char* const kRig = R"(
body { name: "A" mass { value: 0.24 }
  inertia { xx { value: 1e-4 } yy { value: 5e-3 } zz { value: 5e-3 } } }
body { name: "B" mass { value: 0.43 }
  inertia { xx { value: 1e-4 } yy { value: 2e-3 } zz { value: 2e-3 } } }
joint { name: "1"
  parent { body: "ground" axis { y: 1 } zero_direction { x: 1 } }
  child { body: "A" point { x { value: -0.13 } } axis { z: 1 } zero_direction { x: 1 } }
  friction { viscous { value: 2e-3 } }
  motor { control_unit: "V" gain { value: 0.06 } }
  encoder { } }
joint { name: "2"
  parent { body: "A" point { x { value: 0.25 } } axis { x: 1 } zero_direction { z: -1 } }
  child { body: "B" point { x { value: -0.09 } } axis { y: 1 } zero_direction { x: 1 } }
  friction { viscous { value: 2e-4 } }
  encoder { } }
gravity { magnitude { value: 9.81 } }
inertial_sensor { name: "imu" body: "B" gyroscope { } accelerometer { } }
torque_sensor { name: "strain" joint: "1" }
position_sensor { name: "camera" body: "B" point { x { value: 0.1 } } }
distance_sensor { name: "wire" body: "A" point { x { value: 0.1 } }
  anchor { x { value: 0.5 } z { value: 0.4 } } }
recording { time { column: "t" }
  angle { joint: "1" column: "a1" unit: RADIAN }
  angle { joint: "2" column: "a2" unit: RADIAN }
  control { joint: "1" column: "u" }
  inertial { sensor: "imu" axis: GYRO_X column: "gx" unit: RADIAN_PER_SECOND }
  inertial { sensor: "imu" axis: GYRO_Y column: "gy" unit: RADIAN_PER_SECOND }
  inertial { sensor: "imu" axis: GYRO_Z column: "gz" unit: RADIAN_PER_SECOND }
  inertial { sensor: "imu" axis: ACCEL_X column: "ax" unit: METER_PER_SECOND_SQUARED }
  inertial { sensor: "imu" axis: ACCEL_Y column: "ay" unit: METER_PER_SECOND_SQUARED }
  inertial { sensor: "imu" axis: ACCEL_Z column: "az" unit: METER_PER_SECOND_SQUARED }
  force_torque { sensor: "strain" axis: TORQUE column: "tau" unit: NEWTON_METER }
  position_sensor { sensor: "camera" axis: X column: "px" unit: METER }
  position_sensor { sensor: "camera" axis: Y column: "py" unit: METER }
  position_sensor { sensor: "camera" axis: Z column: "pz" unit: METER }
  position_sensor { sensor: "wire" axis: DISTANCE column: "d" unit: METER } }
)";

/// Standard deviation of a constant from the start value of a description.
struct Spread {
  const char* name;
  double deviation;
};
constexpr Spread kSpreads[] = {{"1.b", 5e-4},
                               {"2.b", 5e-5},
                               {"B.J_yy", 2e-4},
                               {"B.J_zz", 2e-4},
                               {"1.K", 5e-3},
                               {"imu.p_x", 0.03},
                               {"imu.p_y", 0.03},
                               {"imu.p_z", 0.03},
                               {"imu.mount_x", 0.15},
                               {"imu.mount_y", 0.15},
                               {"imu.mount_z", 0.15},
                               {"imu.gyro_bias_x", 0.02},
                               {"imu.gyro_bias_y", 0.02},
                               {"imu.gyro_bias_z", 0.02},
                               {"imu.gyro_scale_x", 0.02},
                               {"imu.gyro_scale_y", 0.02},
                               {"imu.gyro_scale_z", 0.02},
                               {"imu.accel_bias_x", 0.1},
                               {"imu.accel_bias_y", 0.1},
                               {"imu.accel_bias_z", 0.1},
                               {"strain.bias", 0.02},
                               {"strain.scale", 0.05},
                               {"camera.bias_x", 0.1},
                               {"camera.bias_y", 0.1},
                               {"camera.bias_z", 0.1},
                               {"camera.mount_x", 0.1},
                               {"camera.mount_y", 0.1},
                               {"camera.mount_z", 0.1},
                               {"wire.anchor_x", 0.03},
                               {"wire.anchor_z", 0.03},
                               {"wire.bias", 0.01}};
constexpr Spread kDelays[] = {{"imu.delay", 4e-3}, {"camera.delay", 30e-3}};  // up to twice that

/// Simulated delays are whole steps of the simulation.
constexpr double kStep = 5e-4;  // [s]

estimator::Parameter& parameter(service::Rig& rig, const std::string& name) {
  const int index = rig.mechanism.find_parameter(name);
  return rig.mechanism.parameters.at(static_cast<std::size_t>(index));
}

struct Tally {
  int count = 0, covered = 0;
  double squares = 0.0;  ///< of errors over reported standard deviations
};

class Bench {
 public:
  void run(unsigned seed, bool withheld) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    service::Rig truth = service::parse_rig("bench.textproto", kRig), described = truth;
    for (const Spread& spread : kSpreads) {
      parameter(truth, spread.name).value += spread.deviation * normal(random);
      parameter(described, spread.name).free = true;
    }
    for (const Spread& spread : kDelays) {
      const double late = 2.0 * spread.deviation * uniform(random);
      parameter(truth, spread.name).value = kStep * std::round(late / kStep);
      parameter(described, spread.name).free = true;
    }
    for (const char* const instrument : {"gyro", "accel"}) {
      for (const char* const share : {"xy", "xz", "yx", "yz", "zx", "zy"}) {
        const std::string name = std::string("imu.") + instrument + "_cross_" + share;
        parameter(truth, name).value = kCrossDeviation * normal(random);
        parameter(described, name).free = true;
        parameter(described, name).prior_standard_deviation = kCrossDeviation;
      }
    }
    if (withheld) described.mechanism.held_out = {"2"};
    const estimator::Recording recording = simulated(truth, seed, random);
    const estimator::Calibration found = estimator::calibrate(described.mechanism, {recording});
    ++runs_;
    converged_ += found.converged() ? 1 : 0;
    if (found.verdict.kind != estimator::VerdictKind::kAccepted) {
      std::fprintf(stderr, "\n%u: %s\n", seed, service::format_verdict(found.verdict).c_str());
    }
    holds_ += found.verdict.kind == estimator::VerdictKind::kAccepted ? 1 : 0;
    if (!found.converged()) return;
    for (const estimator::ParameterEstimate& each : found.parameters) {
      if (!(each.standard_deviation > 0.0) || !std::isfinite(each.standard_deviation)) continue;
      const double error = each.value - parameter(truth, each.name).value;
      for (const std::string& name : {std::string("all"), each.name}) {
        Tally& tally = tallies_[name];
        ++tally.count;
        tally.covered += std::abs(error) <= each.half_interval ? 1 : 0;
        tally.squares += std::pow(error / each.standard_deviation, 2);
      }
    }
  }

  void print() const {
    std::printf("%d draws, %d converged, the model holds in %d\n\n", runs_, converged_, holds_);
    std::printf("%-22s %9s %9s %9s\n", "of", "estimates", "covered", "scatter");
    for (const auto& [name, tally] : tallies_) {
      std::printf("%-22s %9d %7.1f %% %9.3f\n", name.c_str(), tally.count,
                  100.0 * tally.covered / tally.count, std::sqrt(tally.squares / tally.count));
    }
  }

 private:
  static estimator::Recording simulated(const service::Rig& rig, unsigned seed,
                                        std::mt19937& random) {
    std::uniform_real_distribution<double> uniform;
    std::string text = "duration_s: 5 rate_hz: 500 multisine { motor: \"1\" ramp_s: 0.5";
    for (int line = 0; line < 5; ++line) {
      text += " sine { frequency_hz: " + std::to_string(0.4 + 3.6 * uniform(random)) +
              " amplitude: 1.3 phase_rad: " + std::to_string(6.0 * uniform(random)) + " }";
    }
    text += " } initial { joint: \"2\" angle_rad: " + std::to_string(uniform(random)) +
            " } noise { angle_standard_deviation_rad: 3e-4 "
            "gyroscope_standard_deviation_rad_per_s: 5e-3 "
            "accelerometer_standard_deviation_m_per_s2: 0.03 torque_standard_deviation_Nm: 1e-3 "
            "position_standard_deviation_m: 5e-4 seed: " +
            std::to_string(seed) + " }";
    const service::Scenario scenario = service::parse_scenario("bench.textproto", text, rig);
    const service::SimulatedRun run =
        service::simulate(rig, scenario, kStep, nullptr, service::Integrator::kPhysical);
    return service::import_csv_text("run.csv", service::simulation_csv(rig, run), *rig.format)
        .recording;
  }

  int runs_ = 0, converged_ = 0, holds_ = 0;
  std::map<std::string, Tally> tallies_;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Coverage of reported intervals of sensors' constants");
  int runs = 100;
  unsigned seed = 1;
  app.add_option("--runs", runs, "Draws, every second without the pendulum's encoder")
      ->capture_default_str();
  app.add_option("--seed", seed, "Of the first draw")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  Bench bench;
  for (int k = 0; k < runs; ++k) {
    bench.run(seed + static_cast<unsigned>(k), k % 2 == 1);
    std::fprintf(stderr, "\r%d", k + 1);
  }
  std::fprintf(stderr, "\n");
  bench.print();
  return 0;
}
