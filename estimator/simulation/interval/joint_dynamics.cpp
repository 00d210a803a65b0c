#include "estimator/simulation/interval/joint_dynamics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "estimator/model/joint_stop.hpp"
#include "estimator/simulation/interval/inertial_sensing.hpp"
#include "estimator/simulation/interval/interval_lane.hpp"
#include "estimator/simulation/interval/interval_motion.hpp"
#include "proto/notation/number_format.hpp"

namespace estimator {
namespace {

constexpr int kPointLanes = 4;     // narrowest integrator; all its lanes have the same state
constexpr double kInstant = 1e-6;  // length of the interval at whose start contacts follow [s]
constexpr double kLoopTolerance = 1e-6;  // opening of loops and change of rates [m, rad, rad/s]
constexpr double kStepLongest = 1e-3;    // [s]
/// Length of a Runge–Kutta step in units of the fastest time constant, whose error is then 1e-8.
constexpr double kStepShare = 0.05;
constexpr double kStepCountMax = 1e6;

/// Returns the mechanism with the constant torques of driven joints as its only free parameters.
/// The derivative by a control is the motor gain times the derivative by the constant torque.
Mechanism free_motor_torques(Mechanism mechanism) {
  for (Parameter& parameter : mechanism.parameters) parameter.free = false;
  mechanism.dependencies.clear();
  for (const int joint : joints_with_motor(mechanism)) {
    mechanism.joint_parameter(joint, JointParameter::kConstantTorque).free = true;
  }
  return mechanism;
}

Eigen::VectorXd unknown_where_zero(const Eigen::VectorXd& rates) {
  return rates.unaryExpr(
      [](double rate) { return rate != 0.0 ? rate : std::numeric_limits<double>::quiet_NaN(); });
}

bool is_at_rest(double rate) { return std::abs(rate) < kRestRate; }

void require_finite(const Eigen::MatrixXd& values) {
  if (values.allFinite()) return;
  throw std::invalid_argument(
      "the accelerations are not finite: a joint moves no mass, or the loops are singular. "
      "Give the bodies masses and inertias, or change the configuration");
}

}  // namespace

/// Equations of motion for one choice of independent joints.
struct JointDynamics::Equations {
  Equations(const Mechanism& mechanism, const CoordinateChoice& choice)
      : program(mechanism, choice),
        lanes(SimdMotionIntegrator::make(kPointLanes, program, mechanism, /*slopes=*/true)) {}

  TreeProgram program;
  std::unique_ptr<SimdMotionIntegrator> lanes;
};

JointDynamics::JointDynamics(const Mechanism& mechanism)
    : mechanism_(free_motor_torques(mechanism)),
      closure_(mechanism_),
      motors_(joints_with_motor(mechanism_)) {
  if (mechanism.joint_count() > kTreeJointsMax) {
    throw std::invalid_argument("the dynamics support at most " + std::to_string(kTreeJointsMax) +
                                " joints");
  }
}

JointDynamics::~JointDynamics() = default;

JointDynamics::Equations& JointDynamics::equations_at(const Eigen::VectorXd& coordinates) {
  CoordinateChoice choice = closure_.has_loops() ? closure_.choose_coordinates({coordinates})
                                                 : choose_all_coordinates(mechanism_);
  std::vector<int> key = choice.independent;
  key.insert(key.end(), choice.rows.begin(), choice.rows.end());
  std::unique_ptr<Equations>& known = equations_[key];
  if (!known) known = std::make_unique<Equations>(mechanism_, choice);
  if (known->program.has_loops() && known->program.has_load_dependent_friction()) {
    throw std::invalid_argument(
        "friction that grows with the bearing load (r_mu, mu) needs a mechanism without closed "
        "loops and mimic joints; use constant friction");
  }
  return *known;
}

const std::vector<int>& JointDynamics::independent_joints(const Eigen::VectorXd& coordinates) {
  require_closed_loops(coordinates);
  return equations_at(coordinates).program.independent_joints();
}

void JointDynamics::require_closed_loops(const Eigen::VectorXd& coordinates) {
  if (!closure_.has_loops()) return;
  Eigen::VectorXd closed = coordinates;
  const double distance = closure_.close(closed, coordinates)
                              ? (closed - coordinates).cwiseAbs().maxCoeff()
                              : std::numeric_limits<double>::infinity();
  if (distance < kLoopTolerance) return;
  throw std::invalid_argument(
      "q leaves the loops open" +
      (std::isfinite(distance) ? ", by " + notation::format_number(distance) + " rad or m"
                               : std::string()) +
      "; give coordinates with closed loops (in Python, Rig.assemble finds them)");
}

void JointDynamics::check_position(const Eigen::VectorXd& coordinates) {
  require_closed_loops(coordinates);
  for (const JointStop& stop : joint_end_stops(mechanism_)) {
    if (!(stop.distance_from_stop(coordinates[stop.joint]) < 0.0)) continue;
    const Joint& joint = mechanism_.joints[static_cast<std::size_t>(stop.joint)];
    const std::string unit = joint.units().coordinate;
    throw std::invalid_argument("joint \"" + joint.name + "\" is at " +
                                notation::format_number(coordinates[stop.joint], 6) + " " + unit +
                                ", beyond its stop at " +
                                notation::format_number(stop.position, 6) + " " + unit +
                                "; give a position within its stops");
  }
}

Eigen::VectorXd JointDynamics::solve_dependent_rates(const Eigen::VectorXd& coordinates,
                                                     const Eigen::VectorXd& rates) {
  if (!closure_.has_loops() || rates.isZero(0.0)) return rates;
  const Eigen::VectorXd wanted = unknown_where_zero(rates);
  const Eigen::VectorXd consistent = closure_.rates(coordinates, wanted);
  for (Eigen::Index j = 0; j < rates.size(); ++j) {
    const double change = rates[j] != 0.0 ? std::abs(consistent[j] - rates[j]) : 0.0;
    if (change < kLoopTolerance * (1.0 + rates.cwiseAbs().maxCoeff())) continue;
    throw std::invalid_argument(
        "v contradicts the loops at joint \"" +
        mechanism_.joints[static_cast<std::size_t>(j)].name +
        "\"; give the speeds of the independent joints and zero for the others, which follow");
  }
  return consistent;
}

/// Copies an operating point to all lanes. Joints slip in the direction of their rates.
void JointDynamics::load(const OperatingPoint& point, Equations& equations) const {
  SimdMotionIntegrator& lanes = *equations.lanes;
  const int c = lanes.coordinate_count();
  const auto fill = [](double* row, double value) { std::fill_n(row, kPointLanes, value); };
  for (int p = 0; p < c; ++p) {
    const int joint = equations.program.independent_joints(p);
    fill(lanes.state(p), point.coordinates[joint]);
    fill(lanes.state(c + p), point.rates[joint]);
  }
  for (int j = 0; j < joint_count(); ++j) {
    const double rate = point.rates[j];
    fill(lanes.slip(j), is_at_rest(rate) ? 0.0 : std::copysign(1.0, rate));
    fill(lanes.free(j), 1.0);
    if (lanes.has_loops()) fill(lanes.guess(j), point.coordinates[j]);
  }
  for (int m = 0; m < std::ssize(motors_); ++m) {
    fill(lanes.control(m), point.controls[m]);
    fill(lanes.rise(m), 0.0);
  }
  fill(lanes.substep_length(), 0.0);
}

Eigen::VectorXd JointDynamics::accelerations(const OperatingPoint& point) {
  check_position(point.coordinates);
  const TreeProgram& program = equations_at(point.coordinates).program;
  const int n = joint_count();
  Segment segment;
  segment.period = kInstant;
  segment.angles = Eigen::MatrixXd::Zero(2, 1);
  segment.controls = point.controls.transpose().replicate(2, 1);
  const SegmentControls controls(segment, {0.0, kInstant}, undelayed_controls(program));
  const double begin = 0.0;
  MotionInterval interval{.controls = &controls,
                          .last_substep = controls.first(1),
                          .last_sample = 2,
                          .period = kInstant,
                          .sample_instants = &begin,
                          .last_instant = 1,
                          .guess = point.coordinates};
  const std::vector<int>& independent = program.independent_joints();
  const auto c = static_cast<Eigen::Index>(independent.size());
  interval.start.resize(2 * c);
  const Eigen::VectorXd rates = solve_dependent_rates(point.coordinates, point.rates);
  interval.start << point.coordinates(independent), rates(independent);
  Eigen::MatrixXd angles(2, n);
  IntervalIntegrator(program, mechanism_).run({&interval, 1}, {&angles, 1});
  const Eigen::VectorXd motion = motion_at_sample_instants(program, mechanism_, {&interval, 1});
  require_finite(motion);
  return motion.tail(n);
}

Eigen::MatrixXd JointDynamics::mass_matrix(const Eigen::VectorXd& coordinates) {
  require_closed_loops(coordinates);
  Equations& equations = equations_at(coordinates);
  SimdMotionIntegrator& lanes = *equations.lanes;
  const int n = joint_count(), c = lanes.coordinate_count();
  load({coordinates, Eigen::VectorXd::Zero(n),
        Eigen::VectorXd::Zero(static_cast<Eigen::Index>(motors_.size()))},
       equations);
  lanes.compute_start_accelerations();
  Eigen::MatrixXd M(n, n), N = Eigen::MatrixXd::Identity(n, c);  // v = N ẏ
  for (int j = 0; j < n; ++j) {
    for (int k = 0; k < n; ++k) M(j, k) = lanes.mass(j, k)[0];
    for (int p = 0; lanes.has_loops() && p < c; ++p) N(j, p) = lanes.rate_coupling(j, p)[0];
  }
  const Eigen::MatrixXd mass = N.transpose() * M * N;
  require_finite(mass);
  return 0.5 * (mass + mass.transpose());
}

LinearModel JointDynamics::linearize(const OperatingPoint& given, double period) {
  require_closed_loops(given.coordinates);
  OperatingPoint point = given;
  point.rates = solve_dependent_rates(given.coordinates, given.rates);
  Equations& equations = equations_at(point.coordinates);
  const TreeProgram& program = equations.program;
  SimdMotionIntegrator& lanes = *equations.lanes;
  const int c = lanes.coordinate_count(), directions = lanes.derivative_column_count();
  load(point, equations);
  LinearModel model{.joints = program.independent_joints(),
                    .A = {},
                    .B = {},
                    .f = Eigen::VectorXd(2 * c),
                    .frictionless = {}};
  for (int j = 0; j < joint_count(); ++j) {
    if (program.has_holding_friction(j) && is_at_rest(point.rates[j]))
      model.frictionless.push_back(j);
  }

  Eigen::MatrixXd D = Eigen::MatrixXd::Zero(2 * c, directions);  // by state and constant torques
  lanes.compute_start_derivatives();
  std::array<double, kPointLanes> angle, rate, acceleration;
  for (int p = 0; p < c; ++p) {
    const int joint = program.independent_joints(p);
    D(p, c + p) = 1.0;
    for (int d = 0; d < directions; ++d) {
      lanes.joint_sensitivities(joint, d, angle.data(), rate.data(), acceleration.data());
      D(c + p, d) = acceleration[0];
    }
    model.f[p] = lanes.state(c + p)[0];
    model.f[c + p] = lanes.joint_acceleration(joint)[0];
  }
  require_finite(D);
  if (period > 0.0) {
    const auto largest_row = [&](int first) {
      return D.block(c, first, c, c).cwiseAbs().rowwise().sum().maxCoeff();
    };
    const double fastest = largest_row(c) + std::sqrt(largest_row(0));  // bounds eigenvalues [1/s]
    const double count =
        std::ceil(std::max(period / kStepLongest, period * fastest / kStepShare) * (1.0 - 1e-9));
    if (!(count <= kStepCountMax)) {
      throw std::invalid_argument(
          "the sampling period is more than 50 000 times as long as the fastest motion of the rig; "
          "give a shorter period");
    }
    std::fill_n(lanes.substep_length(), kPointLanes, period / count);
    for (int row = 0; row < 2 * c; ++row) {
      for (int d = 0; d < directions; ++d) {
        std::fill_n(lanes.slope(row, d), kPointLanes, row == d ? 1.0 : 0.0);
      }
    }
    for (int step = 0; step < static_cast<int>(count); ++step) {
      lanes.step();
      lanes.continue_from_end_state();
    }
    for (int row = 0; row < 2 * c; ++row) {
      for (int d = 0; d < directions; ++d) D(row, d) = lanes.slope(row, d)[0];
      model.f[row] = lanes.state(row)[0];
    }
    require_finite(D);
  }
  model.A = D.leftCols(2 * c);
  model.B.resize(2 * c, static_cast<Eigen::Index>(motors_.size()));
  for (std::size_t m = 0; m < motors_.size(); ++m) {
    const int torque =
        mechanism_.joint_parameter_index(motors_[m], JointParameter::kConstantTorque);
    const auto& parameters = program.motion_parameters();
    const auto place = std::ranges::find(parameters, torque) - parameters.begin();
    const double gain = mechanism_.joint_parameter(motors_[m], JointParameter::kMotorGain).value;
    model.B.col(static_cast<Eigen::Index>(m)) = gain * D.col(2 * c + place);
  }
  return model;
}

}  // namespace estimator
