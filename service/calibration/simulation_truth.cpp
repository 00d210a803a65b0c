#include "service/calibration/simulation_truth.hpp"

#include "proto/sim.pb.h"
#include "proto/text/files.hpp"
#include "proto/text/text_file.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;

constexpr double kDefaultGravity = 9.82;  // default of proto/sim.proto

void add_friction(const std::string& joint, const v1::SimFriction& friction, TrueParameters& out) {
  out[joint + ".b"] = friction.viscous();
  out[joint + ".c"] = friction.quadratic_drag();
  out[joint + ".tau_c"] = friction.coulomb_torque();
  out[joint + ".tau_delta"] = friction.stribeck_torque();
  out[joint + ".zeta"] = friction.stribeck_rate();
  out[joint + ".r_mu"] = friction.load_arm();
}

void add_motor(const std::string& joint, const v1::SimMotor& motor, TrueParameters& out) {
  out[joint + ".K"] = motor.gain();
  out[joint + ".k_e"] = motor.back_emf();
}

void add_furuta(const v1::SimFuruta& furuta, TrueParameters& out) {
  out["A.m"] = furuta.arm_mass_kg();
  out["A.J_zz"] = furuta.arm_inertia_zz();
  out["B.m"] = furuta.pendulum_mass_kg();
  out["B.J_xx"] = furuta.pendulum_inertia_xx();
  out["B.J_yy"] = furuta.pendulum_inertia_yy();
  out["B.J_zz"] = furuta.pendulum_inertia_zz();
  out["1.b_x"] = -furuta.arm_center_distance_m();
  out["2.a_x"] = furuta.arm_length_m() - furuta.arm_center_distance_m();
  out["2.b_x"] = -furuta.pendulum_center_distance_m();
  out["1.J_shaft"] = furuta.shaft_inertia();
  add_motor("1", furuta.motor(), out);
  add_friction("1", furuta.arm_friction(), out);
  add_friction("2", furuta.pendulum_friction(), out);
}

void add_pendulum(const v1::SimPendulum& pendulum, TrueParameters& out) {
  out["pendulum.m"] = pendulum.mass_kg();
  out["pendulum.J_zz"] = pendulum.inertia();
  out["pivot.b_x"] = -pendulum.center_distance_m();
  add_motor("pivot", pendulum.motor(), out);
  add_friction("pivot", pendulum.friction(), out);
}

}  // namespace

TrueParameters load_true_parameters(const std::string& path) {
  v1::Simulation simulation;
  proto::TextLocator::Tree tree;
  proto::parse_text(path, proto::read_file(path), simulation, tree);
  const proto::TextLocator root(path, v1::Simulation::descriptor(), &tree);
  TrueParameters truth;
  std::vector<std::string> joints;
  switch (simulation.rig_case()) {
    case v1::Simulation::kFuruta:
      add_furuta(simulation.furuta(), truth);
      joints = {"1", "2"};
      break;
    case v1::Simulation::kPendulum:
      add_pendulum(simulation.pendulum(), truth);
      joints = {"pivot"};
      break;
    case v1::Simulation::RIG_NOT_SET:
      root.fail("describes no rig. Write furuta { } or pendulum { }");
  }
  for (std::size_t j = 0; j < joints.size(); ++j) {
    const auto index = static_cast<int>(j);
    truth[joints[j] + ".offset"] = index < simulation.unit().encoder_size()
                                       ? simulation.unit().encoder(index).zero_offset_rad()
                                       : 0.0;
  }
  const v1::SimGravity& gravity = simulation.gravity();
  truth["gravity.g"] = gravity.has_magnitude() ? gravity.magnitude() : kDefaultGravity;
  truth["gravity.tilt_x"] = gravity.tilt_x_rad();
  truth["gravity.tilt_z"] = gravity.tilt_z_rad();
  return truth;
}

}  // namespace service
