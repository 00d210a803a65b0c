#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include "firmware_iface/sim/plants.hpp"
#include "tests/support/reference_simulators.hpp"
#include "tests/support/stopped_motion.hpp"

namespace {

using namespace firmware_iface::sim;

Plant pendulum(const PendulumParameters& p, double angle, double speed = 0.0) {
  return {std::make_unique<PendulumModel>(p), {{angle, 0.0}, {speed, 0.0}}};
}

Plant furuta(const FurutaParameters& p, const JointState& start) {
  return {std::make_unique<FurutaModel>(p), start};
}

FurutaParameters paper_furuta() {
  FurutaParameters p;
  p.arm_friction.viscous = 0.001;
  p.arm_friction.coulomb = 0.004;
  p.pendulum_friction.viscous = 0.0001;
  p.pendulum_friction.coulomb = 0.0009;
  p.tilt = {0.006, 0.0, -0.004};
  return p;
}

// Advances the plant by milliseconds; its largest distance from the expected angles [rad].
double farthest(
    Plant& plant, const Eigen::MatrixXd& expected, int count,
    const std::function<double(int)>& command = [](int) { return 0.0; }) {
  double worst = 0.0;
  for (int k = 0; k < count; ++k) {
    plant.advance(1e-3, command(k));
    for (int j = 0; j < plant.joint_count(); ++j) {
      worst = std::max(worst, std::abs(plant.state().angle_rad[static_cast<std::size_t>(j)] -
                                       expected(k + 1, j)));
    }
  }
  return worst;
}

// Five-point difference at 0: truncation O(step⁴), round-off ε/step.
template <typename Function>
double derivative(const Function& f, double step) {
  return (8.0 * (f(step) - f(-step)) - (f(2.0 * step) - f(-2.0 * step))) / (12.0 * step);
}

// Terms of the equations of motion that do no work (Coriolis, tilt) must not change the energy.
// Catches a wrong sign. RK4 at 0.5 ms drifts by 1e-9 of 2 J over 10 s.
TEST(FurutaPlant, ConservesEnergyWithoutFriction) {
  FurutaParameters p;
  p.tilt = {0.05, 0.0, -0.03};
  p.motor_gain = 0.0;
  Plant plant = furuta(p, {{0.3, 2.9}, {2.0, -1.0}});
  const double before = plant.model().energy(plant.state());
  for (int k = 0; k < 10'000; ++k) plant.advance(1e-3, 0.0);
  EXPECT_NEAR(plant.model().energy(plant.state()), before, 1e-8);
}

// Energy conservation cannot detect an error shared by M and the energy. This test uses Lagrange's
// equations with the kinetic energy of two bodies written with rotation vectors, by differences and
// without the code's mass matrix. Velocities have a round-off of 1e-12 and are differenced with
// step 1e-3: errors below 1e-8.
TEST(FurutaPlant, FollowsLagrangesEquations) {
  FurutaParameters p;
  p.tilt = {0.05, 0.0, -0.03};
  const FurutaModel model(p);
  const auto lagrangian = [&](const JointArray& q, const JointArray& w) {
    const Vector3 g = tilted_gravity(p.gravity, p.tilt);
    const auto centers = [&](const JointArray& at) {
      const Vector3 e_r = {std::cos(at[0]), 0.0, -std::sin(at[0])};
      const Vector3 up = {0.0, 1.0, 0.0};
      // The rod hangs along −up and turns about e_r (Rodrigues).
      const Vector3 rod =
          sum(scale_vector(-std::cos(at[1]), up), scale_vector(-std::sin(at[1]), cross(e_r, up)));
      return std::array<Vector3, 3>{
          scale_vector(p.arm_center_distance, e_r),
          sum(scale_vector(p.arm_length, e_r), scale_vector(p.pendulum_center_distance, rod)), rod};
    };
    const auto here = centers(q);
    // Velocities of the centres of mass, from differences of positions along w.
    const auto velocity = [&](std::size_t body) {
      Vector3 v{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        v[axis] = derivative(
            [&](double t) {
              return centers({q[0] + t * w[0], q[1] + t * w[1]})[body][axis];
            },
            2e-4);
      }
      return v;
    };
    const Vector3 v_A = velocity(0);
    const Vector3 v_B = velocity(1);
    // Angular velocity of B: w1 about up, w2 about the arm; in its frame x_B = rod, y_B = e_r.
    const Vector3 e_r = {std::cos(q[0]), 0.0, -std::sin(q[0])};
    const Vector3 w_B = sum(scale_vector(w[0], {0.0, 1.0, 0.0}), scale_vector(w[1], e_r));
    const Vector3 z_B = cross(here[2], e_r);
    const double kinetic = 0.5 * (p.arm_mass * dot(v_A, v_A) + p.pendulum_mass * dot(v_B, v_B) +
                                  (p.arm_inertia_zz + p.shaft_inertia) * w[0] * w[0] +
                                  p.pendulum_inertia_xx * std::pow(dot(w_B, here[2]), 2) +
                                  p.pendulum_inertia_yy * std::pow(dot(w_B, e_r), 2) +
                                  p.pendulum_inertia_zz * std::pow(dot(w_B, z_B), 2));
    return kinetic + p.arm_mass * dot(g, here[0]) + p.pendulum_mass * dot(g, here[1]);
  };
  const auto dL_dw = [&](const JointArray& q, const JointArray& w, std::size_t k) {
    const auto along = [&](double t) {
      JointArray moved = w;
      moved[k] += t;
      return lagrangian(q, moved);
    };
    return derivative(along, 1.0);  // L is quadratic in w: exact at any step
  };
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> draw(-3.0, 3.0);
  for (int n = 0; n < 50; ++n) {
    SCOPED_TRACE(n);
    const JointState state{{draw(random), draw(random)}, {draw(random), draw(random)}};
    const JointArray a = {draw(random), draw(random)};
    const RigModel::EquationTerms terms = model.terms(state, 0.0);
    for (std::size_t k = 0; k < 2; ++k) {
      // d/dt ∂L/∂w along q̇ = w, ẇ = a, minus ∂L/∂q.
      const auto along_motion = [&](double t) {
        return dL_dw({state.angle_rad[0] + t * state.speed_rad_s[0],
                      state.angle_rad[1] + t * state.speed_rad_s[1]},
                     {state.speed_rad_s[0] + t * a[0], state.speed_rad_s[1] + t * a[1]}, k);
      };
      const auto along_angle = [&](double t) {
        JointArray q = state.angle_rad;
        q[k] += t;
        return lagrangian(q, state.speed_rad_s);
      };
      const double expected = derivative(along_motion, 1e-3) - derivative(along_angle, 1e-3);
      const double actual =
          terms.mass_matrix[k][0] * a[0] + terms.mass_matrix[k][1] * a[1] - terms.force[k];
      EXPECT_NEAR(actual, expected, 1e-8);
    }
  }
}

// The bearing carries the weight at rest, and by Newton's law the force that accelerates both
// centres of mass. The horizontal part is differenced from positions along a simulated trajectory.
TEST(FurutaPlant, BearingLoadsFollowNewton) {
  FurutaParameters p;
  p.motor_gain = 0.0;
  const FurutaModel model(p);
  const JointArray at_rest = model.bearing_forces({}, {});
  EXPECT_NEAR(at_rest[0], (p.arm_mass + p.pendulum_mass) * p.gravity, 1e-12);
  EXPECT_NEAR(at_rest[1], p.pendulum_mass * p.gravity, 1e-12);

  const JointState state{{0.4, 1.1}, {3.0, -4.0}};
  const auto center = [&](const JointState& s) -> Vector3 {
    const double s2 = std::sin(s.angle_rad[1]), c2 = std::cos(s.angle_rad[1]);
    const double s1 = std::sin(s.angle_rad[0]), c1 = std::cos(s.angle_rad[0]);
    return {p.arm_length * c1 - p.pendulum_center_distance * s2 * s1,
            -p.pendulum_center_distance * c2,
            -p.arm_length * s1 - p.pendulum_center_distance * s2 * c1};
  };
  const RigModel::EquationTerms terms = model.terms(state, 0.0);
  const auto& M = terms.mass_matrix;
  const double determinant = M[0][0] * M[1][1] - M[0][1] * M[1][0];
  const JointArray a = {(M[1][1] * terms.force[0] - M[0][1] * terms.force[1]) / determinant,
                        (M[0][0] * terms.force[1] - M[1][0] * terms.force[0]) / determinant};
  constexpr double kStep = 1e-4;
  const auto at = [&](double t) {
    JointState s = state;
    for (std::size_t k = 0; k < 2; ++k) {
      s.angle_rad[k] += t * state.speed_rad_s[k] + 0.5 * t * t * a[k];
    }
    return center(s);
  };
  const Vector3 acceleration = scale_vector(
      1.0 / (kStep * kStep), sum(sum(at(kStep), at(-kStep)), scale_vector(-2.0, center(state))));
  const double expected =
      p.pendulum_mass * norm(subtract_vectors(acceleration, {0.0, -p.gravity, 0.0}));
  EXPECT_NEAR(model.bearing_forces(state, a)[1], expected, 1e-4);  // O(step²) · |x⁗|
}

// Compares with another program in other coordinates, the reference of the estimator's tests. It
// smooths dry friction by tanh(w / 1e-4), which changes 3 s of motion without a stop by 1e-6 rad. A
// wrong friction law or motor would give 1e-2.
TEST(FurutaPlant, AgreesWithTheReferenceSimulator) {
  const FurutaParameters p = paper_furuta();
  test_support::ReferenceFuruta reference;
  reference.J_Azz = p.arm_inertia_zz;
  reference.J_Bxx = p.pendulum_inertia_xx;
  reference.J_Byy = p.pendulum_inertia_yy;
  reference.J_Bzz = p.pendulum_inertia_zz;
  reference.J_shaft = p.shaft_inertia;
  reference.b_1 = p.arm_friction.viscous;
  reference.b_2 = p.pendulum_friction.viscous;
  reference.tau_c1 = p.arm_friction.coulomb;
  reference.tau_c2 = p.pendulum_friction.coulomb;
  reference.K = p.motor_gain;
  reference.tilt = {0.006, 0.0, -0.004};
  Eigen::VectorXd u(3000);
  for (Eigen::Index k = 0; k < u.size(); ++k) {
    u[k] = 1.5 * std::sin(2.0 * std::numbers::pi * 0.7 * 1e-3 * static_cast<double>(k));
  }
  const Eigen::MatrixXd expected =
      test_support::simulate(reference, Eigen::Vector4d(0.0, 0.4, 0.0, 0.0), u, 1e-3);
  Plant plant = furuta(p, {{0.0, 0.4}, {}});
  EXPECT_LT(farthest(plant, expected, 3000, [&](int k) { return u[k]; }), 1e-4);
}

// Exact stick-slip with a Stribeck excess, compared with the reference's event-driven solution.
TEST(PendulumPlant, SticksWhereTheReferenceSticks) {
  PendulumParameters p;
  p.friction = {0.0002, 0.0, 0.006, 0.002, 4.0, 0.0};
  test_support::ReferencePendulum reference;
  reference.b = 0.0002;
  reference.tau_c = 0.006;
  reference.tau_s = 0.008;
  reference.zeta = 4.0;
  constexpr int kCount = 30'000;
  const Eigen::MatrixXd expected =
      test_support::simulate(reference, Eigen::Vector2d(3.0915926535897933, 0.0), 1e-3, kCount);
  Plant plant = pendulum(p, 3.0915926535897933);
  EXPECT_LT(farthest(plant, expected, kCount), 1e-6);
  EXPECT_EQ(plant.state().speed_rad_s[0], 0.0) << "at rest, exactly";
}

// A pendulum pressed against either stop comes to rest there after many rebounds. Rebounds shorter
// than 2e-5 s are omitted: their height is below 20 rad/s² (2e-5 s)²/8.
TEST(PendulumPlant, ImpactsMatchTheReference) {
  for (const double side : {1.0, -1.0}) {
    PendulumParameters p;
    p.friction.viscous = 2e-4;
    (side > 0.0 ? p.stops.lower_rad : p.stops.upper_rad) = side * 0.2;
    p.stops.restitution = 0.6;
    test_support::StoppedMotion reference =
        test_support::stopped_pendulum(p.inertia + p.mass * p.center_distance * p.center_distance,
                                       p.mass * p.center_distance, 2e-4);
    reference.stops = {{0, side, side * 0.2, 0.6}};
    reference.q[0] = side * 1.2;
    const Eigen::MatrixXd expected = reference.sample(1e-3, 4000);
    Plant plant = pendulum(p, side * 1.2);
    EXPECT_LT(farthest(plant, expected, 4000), 1e-8);
    EXPECT_EQ(plant.state().angle_rad[0], side * 0.2);
    EXPECT_EQ(plant.state().speed_rad_s[0], 0.0) << "at rest, exactly";
    EXPECT_GE(reference.rests, 1);
  }
}

// The pendulum's impulses also act on the arm.
TEST(FurutaPlant, ImpactsMatchTheReference) {
  FurutaParameters p;
  p.motor_gain = 0.0;
  p.arm_friction.viscous = 1e-3;
  p.pendulum_friction.viscous = 2e-4;
  p.pendulum_stops = {-0.9, 0.5, 0.7};
  test_support::FurutaShape shape;
  shape.arm_inertia = p.arm_inertia_zz + p.shaft_inertia +
                      p.arm_mass * p.arm_center_distance * p.arm_center_distance;
  shape.J_xx = p.pendulum_inertia_xx;
  shape.J_yy = p.pendulum_inertia_yy;
  shape.J_zz = p.pendulum_inertia_zz;
  test_support::StoppedMotion reference = test_support::stopped_furuta(shape);
  reference.stops = {{1, 1.0, -0.9, 0.7}, {1, -1.0, 0.5, 0.7}};
  reference.q = {0.0, -0.8};
  reference.v = {2.0, 1.0};
  const Eigen::MatrixXd expected = reference.sample(1e-3, 1500);
  Plant plant = furuta(p, {{0.0, -0.8}, {2.0, 1.0}});
  EXPECT_LT(farthest(plant, expected, 1500), 1e-7);
  EXPECT_GE(reference.impacts, 3);
}

// A joint at a stop leaves it once the motor's pull exceeds gravity and dry friction.
TEST(PendulumPlant, LeavesItsStopWhenPushAndFrictionAreOvercome) {
  PendulumParameters p;
  p.motor_gain = 0.1;
  p.friction.coulomb = 0.02;
  p.stops.lower_rad = 0.5;
  const double weight = p.mass * p.gravity * p.center_distance * std::sin(0.5);
  Plant plant = pendulum(p, 0.5);
  plant.advance(0.1, (weight + 0.0199) / p.motor_gain);
  EXPECT_EQ(plant.state().angle_rad[0], 0.5);
  plant.advance(0.1, (weight + 0.0201) / p.motor_gain);
  EXPECT_GT(plant.state().angle_rad[0], 0.5);
}

// Small swings have the period 2π sqrt((J + m l²) / (m g l)). The amplitude of 1e-3 rad lengthens
// it by the fraction a²/16 = 6e-8.
TEST(PendulumPlant, SwingsWithTheClosedFormPeriod) {
  const PendulumParameters p;
  const double J = p.inertia + p.mass * p.center_distance * p.center_distance;
  const double omega = std::sqrt(p.mass * p.gravity * p.center_distance / J);
  Plant plant = pendulum(p, 1e-3);
  const double quarter = 0.5 * std::numbers::pi / omega;
  for (int k = 0; k < 100; ++k) plant.advance(quarter / 100, 0.0);
  EXPECT_NEAR(plant.state().angle_rad[0], 0.0, 1e-3 * 1e-6);
  EXPECT_NEAR(plant.state().speed_rad_s[0], -1e-3 * omega, 1e-3 * omega * 1e-6);
}

// The energy loss equals the power of friction integrated along the motion, with all friction laws
// at once. The integral is a trapezoid over 1e-4 s: error about 1e-7 of 0.1 J.
TEST(FurutaPlant, LosesExactlyTheFrictionPower) {
  FurutaParameters p = paper_furuta();
  p.motor_gain = 0.0;
  p.arm_friction.load_arm = 2e-4;
  p.pendulum_friction.load_arm = 1e-4;
  p.pendulum_friction.stribeck_excess = 5e-4;
  p.pendulum_friction.stribeck_rate = 4.0;
  p.pendulum_friction.quadratic_drag = 1e-5;
  Plant plant = furuta(p, {{0.0, 2.5}, {2.0, 0.0}});
  const auto power = [&] {
    // The loads use accelerations from differences of the speed, independent of the stepper's own
    // fixed point.
    Plant ahead = furuta(p, plant.state());
    constexpr double kStep = 1e-6;
    ahead.advance(kStep, 0.0);
    JointArray a{};
    for (std::size_t k = 0; k < 2; ++k) {
      a[k] = (ahead.state().speed_rad_s[k] - plant.state().speed_rad_s[k]) / kStep;
    }
    const JointArray loads = plant.model().bearing_forces(plant.state(), a);
    double sum_power = 0.0;
    for (int k = 0; k < 2; ++k) {
      const double w = plant.state().speed_rad_s[static_cast<std::size_t>(k)];
      const JointFriction& f = plant.model().friction(k);
      sum_power += std::abs(w) * f.dry_torque_limit(w, loads[static_cast<std::size_t>(k)]) -
                   w * f.smooth_torque(w);
    }
    return sum_power;
  };
  const double start = plant.model().energy(plant.state());
  double taken = 0.0;
  double before = power();
  for (int k = 0; k < 10'000; ++k) {
    plant.advance(1e-4, 0.0);
    const double now = power();
    taken += 0.5e-4 * (before + now);
    before = now;
  }
  EXPECT_GT(taken, 0.01);
  EXPECT_NEAR(start - plant.model().energy(plant.state()), taken, 1e-4 * taken);
}

// A motor torque below the static limit moves nothing, one above it does. Load-proportional
// friction alone: r_μ times the weight is 2e-3 · 6.54 N = 13 mN·m.
TEST(FurutaPlant, BreaksAwayAtTheLoadedStaticLimit) {
  FurutaParameters p;
  p.arm_friction.load_arm = 2e-3;
  const double limit = 2e-3 * (p.arm_mass + p.pendulum_mass) * p.gravity;  // [N·m]
  Plant below = furuta(p, {});
  Plant above = furuta(p, {});
  for (int k = 0; k < 100; ++k) {
    below.advance(1e-3, 0.999 * limit / p.motor_gain);
    above.advance(1e-3, 1.001 * limit / p.motor_gain);
  }
  EXPECT_EQ(below.state().angle_rad[0], 0.0);
  EXPECT_GT(above.state().angle_rad[0], 0.0);
}

TEST(Plant, HeldRigStaysAndFallsWhenLetGo) {
  Plant plant = pendulum({}, 3.1);
  plant.set_held_by_hand(true);
  plant.advance(1.0, 0.0);
  EXPECT_EQ(plant.state().angle_rad[0], 3.1);
  plant.set_held_by_hand(false);
  plant.advance(1.0, 0.0);
  EXPECT_LT(plant.state().angle_rad[0], 3.0);
  plant.restore_initial_state();
  EXPECT_EQ(plant.state().angle_rad[0], 3.1);
}

}  // namespace
