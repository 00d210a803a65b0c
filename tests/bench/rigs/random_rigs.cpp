#include "tests/bench/rigs/random_rigs.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include "estimator/signal/prescribed_acceleration.hpp"
#include "firmware_iface/sim/plants.hpp"
#include "tests/bench/rigs/planar_models.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace random_rigs {
namespace {

using estimator::BodyParameter;
using estimator::JointParameter;
using estimator::Mechanism;
using firmware_iface::sim::JointFriction;

constexpr double kGravity = 9.82;
constexpr double kFaultStep = 1e-3;  // in which a fault that depends on time is constant [s]

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  double between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  /// Uniform in the logarithm.
  double scale(double low, double high) { return std::exp(between(std::log(low), std::log(high))); }
  bool chance(double probability) { return between(0.0, 1.0) < probability; }
  double normal() { return std::normal_distribution<double>()(random_); }
  template <typename T>
  T any(const std::vector<T>& of) {
    return of[static_cast<std::size_t>(between(0.0, 1.0) * 0.999999 *
                                       static_cast<double>(of.size()))];
  }

 private:
  std::mt19937_64 random_;
};

struct Plan {
  double period, duration;
  Eigen::VectorXd u;
};

/// Nothing, a sum of sines, a chirp or a row of pulses, with amplitude one.
Plan draw_plan(Draw& draw, const RandomRig& rig, double slowest) {
  const bool driven = rig.driven;
  Plan plan{.period = 1.0 / draw.any<double>({100, 200, 250, 500, 1000}),
            .duration = draw.between(rig.choice.shortest, 20.0),
            .u = {}};
  const auto rows = static_cast<Eigen::Index>(plan.duration / plan.period);
  plan.u.setZero(rows);
  if (!driven) return plan;
  const int shape = draw.any<int>({0, 1, 2});
  std::vector<std::pair<double, double>> sines;
  for (int i = 0; i < 5; ++i) {
    sines.emplace_back(slowest * draw.scale(0.3, 3.0), draw.between(0.0, 2.0 * M_PI));
  }
  double level = 0.0, until = 0.0;
  for (Eigen::Index k = 0; k < rows; ++k) {
    const double t = static_cast<double>(k) * plan.period;
    if (shape == 0) {
      for (const auto& [frequency, phase] : sines) {
        plan.u[k] += 0.4 * std::sin(2.0 * M_PI * frequency * t + phase);
      }
    } else if (shape == 1) {
      const double share = t / plan.duration;
      plan.u[k] = std::sin(2.0 * M_PI * slowest * t * (0.3 + 1.2 * share));
    } else {
      if (t >= until) {
        level = draw.any<double>({-1.0, 0.0, 1.0, 0.5, -0.5});
        until = t + draw.between(0.1, 0.8) / slowest;
      }
      plan.u[k] = level;
    }
  }
  return plan;
}

bool is_dry(Law law) { return law != Law::kViscous; }

/// Without the terms that a law lacks.
JointFriction replace_friction_law(JointFriction friction, std::optional<Law> law) {
  if (!law) return friction;
  if (!is_dry(*law)) friction.coulomb = 0.0;
  if (*law != Law::kStribeck) friction.stribeck_excess = friction.stribeck_rate = 0.0;
  if (*law != Law::kDrag) friction.quadratic_drag = 0.0;
  return friction;
}

/// Friction that damps the motion within a few to many swings.
/// @param weight  torque of gravity [N·m], inertia [kg·m²]
JointFriction draw_friction(Draw& draw, double weight, double inertia, const RandomRig& rig) {
  JointFriction friction;
  friction.viscous = draw.scale(0.005, 0.1) * std::sqrt(weight * inertia);
  friction.coulomb = draw.scale(0.003, 0.05) * weight;
  if (rig.other_law || rig.choice.law) {
    friction.stribeck_excess = draw.between(0.2, 0.8) * friction.coulomb;
    friction.stribeck_rate = draw.scale(0.5, 20.0);
    friction.quadratic_drag = draw.scale(0.003, 0.03) * inertia;
  }
  return replace_friction_law(friction, rig.choice.law);
}

/// Adds white noise, then quantizes with a random phase of the encoder disc.
void read_encoder(Draw& draw, double quantum, double noise, Eigen::Ref<Eigen::VectorXd> column) {
  const double phase = draw.between(0.0, 1.0);
  for (double& value : column) {
    value = (std::floor((value + noise * draw.normal()) / quantum + phase) + 0.5 - phase) * quantum;
  }
}

/// @param weightless  the model without gravity
void record(Draw& draw, std::unique_ptr<firmware_iface::sim::RigModel> model,
            std::unique_ptr<firmware_iface::sim::RigModel> weightless, double motor_gain,
            const firmware_iface::sim::JointState& start, const Plan& plan, double command,
            bool slides, RandomRig& rig) {
  FaultyModel* faulty = nullptr;
  int parts = 1;
  if (rig.driven && rig.choice.fault.is_present()) {
    auto owned =
        std::make_unique<FaultyModel>(std::move(model), std::move(weightless), rig.choice.fault,
                                      motor_gain * command, command, plan.duration);
    faulty = owned.get();
    model = std::move(owned);
    parts = static_cast<int>(std::ceil(plan.period / kFaultStep));
  }
  firmware_iface::sim::Plant plant(std::move(model), start);
  const auto joints = static_cast<std::size_t>(plant.joint_count());
  estimator::Segment segment;
  segment.period = plan.period;
  segment.angles.resize(plan.u.size(), plant.joint_count());
  segment.controls.resize(plan.u.size(), rig.driven ? 1 : 0);
  const double most = rig.choice.clip * plan.u.cwiseAbs().maxCoeff();
  for (Eigen::Index k = 0; k < plan.u.size(); ++k) {
    for (std::size_t j = 0; j < joints; ++j) {
      segment.angles(k, static_cast<Eigen::Index>(j)) = plant.state().angle_rad[j];
    }
    if (rig.driven) segment.controls(k, 0) = command * plan.u[k];
    for (int part = 0; part < parts; ++part) {
      const double step = plan.period / parts;
      // The time in the middle of the step is exact to second order.
      if (faulty != nullptr) {
        faulty->set_time(static_cast<double>(k) * plan.period + (part + 0.5) * step);
      }
      plant.advance(step, command * std::clamp(plan.u[k], -most, most));
    }
  }
  const double quantum = 2.0 * M_PI / std::round(draw.scale(1000, 20000));
  for (Eigen::Index j = 0; j < segment.angles.cols(); ++j) {
    const double unit = slides && j == 0 ? 0.03 : 1.0;  // m per radian of the pinion
    const bool coarse = rig.choice.coarse && j == 0;
    const double coarse_quantum = slides ? 1e-3 : 2.0 * M_PI / 200.0;
    read_encoder(draw, coarse ? coarse_quantum : unit * quantum, unit * rig.noise,
                 segment.angles.col(j));
  }
  rig.recording = {"run", {std::move(segment)}};
}

void make_free(RandomRig& rig, int index, double truth, Draw& draw) {
  estimator::Parameter& parameter = rig.mechanism.parameters[static_cast<std::size_t>(index)];
  parameter.free = true;
  parameter.value = truth * draw.between(0.3, 1.7);
  rig.truths[parameter.name] = truth;
}

void free_friction(RandomRig& rig, int joint, const JointFriction& truth, Draw& draw) {
  const Law law = rig.choice.described.value_or(rig.choice.law.value_or(Law::kDry));
  const auto free = [&](JointParameter quantity, double value) {
    make_free(rig, rig.mechanism.joint_parameter_index(joint, quantity), value, draw);
  };
  free(JointParameter::kViscous, truth.viscous);
  if (is_dry(law)) free(JointParameter::kCoulombTorque, truth.coulomb);
  if (law == Law::kDrag) free(JointParameter::kQuadraticDrag, truth.quadratic_drag);
  if (law != Law::kStribeck) return;
  free(JointParameter::kStribeckTorque, truth.stribeck_excess);
  free(JointParameter::kStribeckRate, truth.stribeck_rate);
}

void free_inertia(RandomRig& rig, int body, double truth, Draw& draw) {
  Mechanism& mechanism = rig.mechanism;
  make_free(rig, mechanism.index(body, BodyParameter::kJzz), truth, draw);
  // Room for any J_zz: no other moment affects a planar motion.
  const double others = mechanism.parameter(body, BodyParameter::kJzz).value + truth;
  mechanism.parameter(body, BodyParameter::kJxx).value = others;
  mechanism.parameter(body, BodyParameter::kJyy).value = others;
}

void set_points(Mechanism& mechanism, int joint, double on_parent, double on_child) {
  estimator::set_joint_points(mechanism, joint, on_parent * Eigen::Vector3d::UnitX(),
                              on_child * Eigen::Vector3d::UnitX());
}

double frequency(double weight, double inertia) {
  return std::sqrt(weight / inertia) / (2.0 * M_PI);
}

/// Returns the parameters of a model without gravity.
template <typename Parameters>
Parameters weightless(Parameters parameters) {
  parameters.gravity = 0.0;
  return parameters;
}

void make_pendulum_rig(Draw& draw, RandomRig& rig) {
  firmware_iface::sim::PendulumParameters truth{
      .mass = draw.scale(0.03, 2.0), .center_distance = draw.scale(0.04, 0.4), .gravity = kGravity};
  const double point = truth.mass * truth.center_distance * truth.center_distance;
  truth.inertia = draw.scale(0.05, 1.0) * point;
  const double weight = truth.mass * truth.center_distance * kGravity;
  const double inertia = truth.inertia + point;
  truth.friction = draw_friction(draw, weight, inertia, rig);
  truth.motor_gain = rig.driven ? weight * draw.scale(0.05, 0.5) : 0.0;
  rig.mechanism = estimator::make_pendulum(
      {.mass = truth.mass, .distance = truth.center_distance, .motorised = rig.driven});
  free_inertia(rig, 0, truth.inertia, draw);
  free_friction(rig, 0, truth.friction, draw);
  if (rig.driven) {
    make_free(rig, rig.mechanism.joint_parameter_index(0, JointParameter::kMotorGain),
              truth.motor_gain, draw);
  }
  const Plan plan = draw_plan(draw, rig, frequency(weight, inertia));
  const double command = rig.driven ? draw.between(0.2, 0.8) * weight / truth.motor_gain : 0.0;
  firmware_iface::sim::JointState start;
  start.angle_rad[0] = rig.driven ? draw.between(-0.3, 0.3)
                                  : draw.between(0.5, 2.5) * (draw.chance(0.5) ? 1.0 : -1.0);
  record(draw, std::make_unique<firmware_iface::sim::PendulumModel>(truth),
         std::make_unique<firmware_iface::sim::PendulumModel>(weightless(truth)), truth.motor_gain,
         start, plan, command, false, rig);
}

void make_double_rig(Draw& draw, RandomRig& rig) {
  DoublePendulumParameters truth;
  truth.gravity = kGravity;
  truth.m_1 = draw.scale(0.05, 1.0);
  truth.m_2 = truth.m_1 * draw.scale(0.3, 1.5);
  truth.L_1 = draw.scale(0.08, 0.4);
  truth.l_1 = truth.L_1 * draw.between(0.3, 0.8);
  truth.l_2 = truth.L_1 * draw.between(0.3, 1.0);
  truth.J_1 = draw.scale(0.1, 0.6) * truth.m_1 * truth.l_1 * truth.l_1;
  truth.J_2 = draw.scale(0.1, 0.6) * truth.m_2 * truth.l_2 * truth.l_2;
  const double weight_2 = truth.m_2 * truth.l_2 * kGravity;
  const double weight_1 = (truth.m_1 * truth.l_1 + truth.m_2 * truth.L_1) * kGravity + weight_2;
  const double inertia_2 = truth.J_2 + truth.m_2 * truth.l_2 * truth.l_2;
  const double inertia_1 =
      truth.J_1 + truth.m_1 * truth.l_1 * truth.l_1 + inertia_2 + truth.m_2 * truth.L_1 * truth.L_1;
  truth.friction_1 = draw_friction(draw, weight_1, inertia_1, rig);
  truth.friction_2 = draw_friction(draw, weight_2, inertia_2, rig);
  truth.motor_gain = rig.driven ? weight_1 * draw.scale(0.05, 0.5) : 0.0;
  rig.mechanism = estimator::make_chain({.links = 2});
  Mechanism& m = rig.mechanism;
  m.joints[0].motor.present = rig.driven;
  m.parameter(0, BodyParameter::kMass).value = truth.m_1;
  m.parameter(1, BodyParameter::kMass).value = truth.m_2;
  set_points(m, 0, 0.0, -truth.l_1);
  set_points(m, 1, truth.L_1 - truth.l_1, -truth.l_2);
  free_inertia(rig, 0, truth.J_1, draw);
  free_inertia(rig, 1, truth.J_2, draw);
  free_friction(rig, 0, truth.friction_1, draw);
  free_friction(rig, 1, truth.friction_2, draw);
  if (rig.driven) {
    make_free(rig, m.joint_parameter_index(0, JointParameter::kMotorGain), truth.motor_gain, draw);
  }
  const Plan plan = draw_plan(draw, rig, frequency(weight_1, inertia_1));
  const double command = rig.driven ? draw.between(0.2, 0.6) * weight_1 / truth.motor_gain : 0.0;
  firmware_iface::sim::JointState start;
  start.angle_rad =
      rig.driven ? firmware_iface::sim::JointArray{draw.between(-0.3, 0.3), 0.0}
                 : firmware_iface::sim::JointArray{draw.between(0.4, 2.0), draw.between(-1.0, 1.0)};
  record(draw, std::make_unique<DoublePendulumModel>(truth),
         std::make_unique<DoublePendulumModel>(weightless(truth)), truth.motor_gain, start, plan,
         command, false, rig);
}

void make_furuta_rig(Draw& draw, RandomRig& rig) {
  firmware_iface::sim::FurutaParameters truth;
  truth.gravity = kGravity;
  truth.pendulum_mass = draw.scale(0.02, 0.5);
  truth.arm_mass = truth.pendulum_mass * draw.scale(0.3, 4.0);
  truth.arm_length = draw.scale(0.08, 0.4);
  truth.arm_center_distance = truth.arm_length * draw.between(0.1, 0.6);
  truth.pendulum_center_distance = draw.scale(0.05, 0.25);
  truth.shaft_inertia = 0.0;
  const double pendulum = truth.pendulum_mass * std::pow(truth.pendulum_center_distance, 2);
  const double arm = truth.arm_mass * std::pow(truth.arm_center_distance, 2);
  truth.arm_inertia_zz = draw.scale(0.1, 1.0) * arm;
  truth.pendulum_inertia_yy = truth.pendulum_inertia_zz = draw.scale(0.05, 0.6) * pendulum;
  truth.pendulum_inertia_xx = 0.05 * truth.pendulum_inertia_yy;
  const double weight = truth.pendulum_mass * truth.pendulum_center_distance * kGravity;
  const double inertia_2 = truth.pendulum_inertia_yy + pendulum;
  const double inertia_1 =
      truth.arm_inertia_zz + arm + truth.pendulum_mass * truth.arm_length * truth.arm_length;
  truth.pendulum_friction = draw_friction(draw, weight, inertia_2, rig);
  truth.arm_friction = draw_friction(draw, weight, inertia_1, rig);
  truth.motor_gain = rig.driven ? weight * draw.scale(0.05, 0.5) : 0.0;
  const bool tilted = draw.chance(0.5);
  if (tilted) truth.tilt = {draw.between(-0.02, 0.02), 0.0, draw.between(-0.02, 0.02)};

  rig.mechanism = estimator::make_furuta({.mass_A = truth.arm_mass,
                                          .mass_B = truth.pendulum_mass,
                                          .distance_A = truth.arm_center_distance,
                                          .arm_length = truth.arm_length,
                                          .distance_B = truth.pendulum_center_distance,
                                          .inertia_A = {1.0, 1.0, 1.0},
                                          .inertia_B = {1.0, 1.0, 1.0}});
  Mechanism& m = rig.mechanism;
  m.joints[0].motor.present = rig.driven;
  free_inertia(rig, 0, truth.arm_inertia_zz, draw);
  m.parameter(1, BodyParameter::kJxx).value = truth.pendulum_inertia_xx;
  make_free(rig, m.index(1, BodyParameter::kJyy), truth.pendulum_inertia_yy, draw);
  make_free(rig, m.index(1, BodyParameter::kJzz), truth.pendulum_inertia_zz, draw);
  free_friction(rig, 0, truth.arm_friction, draw);
  free_friction(rig, 1, truth.pendulum_friction, draw);
  if (tilted) {
    m.parameter(estimator::GravityParameter::kTiltX).free = true;
    m.parameter(estimator::GravityParameter::kTiltZ).free = true;
    rig.truths["gravity.tilt_x"] = truth.tilt[0];
    rig.truths["gravity.tilt_z"] = truth.tilt[2];
  }
  if (rig.driven) {
    make_free(rig, m.joint_parameter_index(0, JointParameter::kMotorGain), truth.motor_gain, draw);
  }
  const Plan plan = draw_plan(draw, rig, frequency(weight, inertia_2));
  const double command = rig.driven ? draw.between(0.3, 1.5) * weight / truth.motor_gain : 0.0;
  firmware_iface::sim::JointState start;
  start.angle_rad = {draw.between(-1.0, 1.0),
                     rig.driven ? draw.between(-0.3, 0.3) : draw.between(0.6, 2.5)};
  record(draw, std::make_unique<firmware_iface::sim::FurutaModel>(truth),
         std::make_unique<firmware_iface::sim::FurutaModel>(weightless(truth)), truth.motor_gain,
         start, plan, command, false, rig);
}

/// A cart on a rail along world x that carries a pole, as in rig-cartpole.textproto.
Mechanism cart_pole(const CartPoleParameters& truth, bool driven) {
  const Eigen::Vector3d x = Eigen::Vector3d::UnitX(), y = Eigen::Vector3d::UnitY(),
                        z = Eigen::Vector3d::UnitZ();
  Mechanism m;
  m.name = "cartpole";
  m.bodies = {{.name = "cart"}, {.name = "pole"}};
  estimator::Joint rail, pivot;
  rail.name = "rail";
  rail.kind = estimator::JointKind::kPrismatic;
  rail.body_b = 0;
  rail.frame_a = rail.frame_b = estimator::make_joint_frame(x, y);
  rail.motor.present = driven;
  pivot.name = "pivot";
  pivot.body_a = 0;
  pivot.body_b = 1;
  pivot.frame_a = estimator::make_joint_frame(z, -y);
  pivot.frame_b = estimator::make_joint_frame(z, x);
  m.joints = {rail, pivot};
  estimator::make_parameters(m);
  m.parameter(0, BodyParameter::kMass).value = truth.m_cart;
  m.parameter(1, BodyParameter::kMass).value = truth.m_pole;
  set_points(m, 1, 0.0, -truth.l);
  return m;
}

void make_cart_rig(Draw& draw, RandomRig& rig) {
  CartPoleParameters truth;
  truth.gravity = kGravity;
  truth.m_cart = draw.scale(0.2, 2.0);
  truth.m_pole = truth.m_cart * draw.scale(0.1, 0.8);
  truth.l = draw.scale(0.08, 0.4);
  truth.J = draw.scale(0.05, 0.6) * truth.m_pole * truth.l * truth.l;
  const double weight = truth.m_pole * truth.l * kGravity;
  const double inertia = truth.J + truth.m_pole * truth.l * truth.l;
  truth.pivot = draw_friction(draw, weight, inertia, rig);
  const double mass = truth.m_cart + truth.m_pole;
  truth.rail.viscous = mass * draw.scale(0.1, 2.0);
  truth.rail.coulomb = mass * kGravity * draw.scale(0.002, 0.02);
  if (rig.other_law || rig.choice.law) truth.rail.stribeck_excess = 0.5 * truth.rail.coulomb;
  truth.rail.stribeck_rate = 100.0;
  if (rig.choice.law) truth.rail.quadratic_drag = 0.3 * truth.rail.viscous;
  truth.rail = replace_friction_law(truth.rail, rig.choice.law);
  truth.motor_gain = rig.driven ? mass * draw.scale(0.2, 2.0) : 0.0;
  rig.mechanism = cart_pole(truth, rig.driven);
  Mechanism& m = rig.mechanism;
  free_inertia(rig, 1, truth.J, draw);
  free_friction(rig, 0, truth.rail, draw);
  free_friction(rig, 1, truth.pivot, draw);
  if (rig.driven) {
    make_free(rig, m.joint_parameter_index(0, JointParameter::kMotorGain), truth.motor_gain, draw);
  }
  const Plan plan = draw_plan(draw, rig, frequency(weight, inertia));
  const double command =
      rig.driven ? draw.between(0.15, 0.5) * mass * kGravity / truth.motor_gain : 0.0;
  firmware_iface::sim::JointState start;
  start.angle_rad = {draw.between(-0.1, 0.1),
                     rig.driven ? draw.between(-0.3, 0.3) : draw.between(0.6, 2.0)};
  record(draw, std::make_unique<CartPoleModel>(truth),
         std::make_unique<CartPoleModel>(weightless(truth)), truth.motor_gain, start, plan, command,
         true, rig);
}

/// Makes the motion of the first joint prescribed. Its friction and its body then have no effect.
void prescribe_first_joint(RandomRig& rig) {
  Mechanism& mechanism = rig.mechanism;
  estimator::Segment& segment = rig.recording.segments[0];
  const estimator::PrescribedAcceleration motion =
      estimator::estimate_prescribed_acceleration(segment, 0);
  segment.controls = motion.values;
  segment.control_noise = Eigen::VectorXd::Constant(1, motion.noise);
  for (const std::string& owner : {mechanism.joints[0].name, mechanism.bodies[0].name}) {
    for (estimator::Parameter& parameter : mechanism.parameters) {
      if (!parameter.name.starts_with(owner + ".")) continue;
      if (parameter.free) parameter.value = parameter.unit == "kg·m²" ? parameter.value : 0.0;
      parameter.free = false;
      rig.truths.erase(parameter.name);
    }
  }
  estimator::prescribe_motion(mechanism, 0);
}

}  // namespace

RandomRig draw_rig(const std::string& kind, unsigned seed, const RigChoice& choice) {
  Draw draw(seed);
  RandomRig rig;
  rig.kind = kind;
  rig.choice = choice;
  rig.driven = draw.chance(0.6);
  rig.other_law = draw.chance(0.5);
  rig.noise = draw.chance(0.3) ? draw.scale(1e-4, 5e-3) : 0.0;
  if (choice.law) rig.other_law = *choice.law != choice.described.value_or(*choice.law);
  if (choice.counts_only) rig.noise = 0.0;
  if (kind == "pendulum") {
    make_pendulum_rig(draw, rig);
  } else if (kind == "double") {
    make_double_rig(draw, rig);
  } else if (kind == "furuta") {
    make_furuta_rig(draw, rig);
  } else if (kind == "cartpole") {
    make_cart_rig(draw, rig);
  } else {
    throw std::invalid_argument("no such rig: " + kind);
  }
  if (choice.prescribed) prescribe_first_joint(rig);
  return rig;
}

}  // namespace random_rigs
