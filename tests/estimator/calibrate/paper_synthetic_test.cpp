#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "estimator/fit/shadow/trajectory_problem.hpp"
#include "estimator/optimize/levenberg_marquardt.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"

namespace estimator {
namespace {

using namespace test_support;

// One row of the table: time step [s], inertias [kg·m²], viscous friction [N·m·s].
struct Row {
  double h, J_Azz, J_Byy, b_1;
};

// Appendix G.3 of the paper: a released Furuta pendulum with viscous friction and 1 mrad of noise.
// The arm's length is l_A here, as in the prototype that produced the table.
ReferenceFuruta paper_rig() { return {.L_arm = 0.248, .J_shaft = 1e-4, .b_1 = 1e-3, .b_2 = 1e-4}; }

TrajectorySettings paper_settings(double h) {
  TrajectorySettings settings;
  settings.step.step = h;
  settings.step.gyroscopic = GyroscopicForm::kOld;
  settings.step.form = ResidualForm::kExplicit;
  settings.state_form = StateForm::kFull;
  settings.state_error_weight = 100.0;
  return settings;
}

// The paper's own configuration (explicit residual, full states, ε = 1e-4, τ = 0.02, κ = 100) must
// give the estimates of a prototype in another language: METHOD section 6. They differ from the
// physical constants by up to 50 %, in a way that any error in stepper, residual or weights would
// change. The two use independent noise. Standard deviations are about 5e-6 for the inertias and
// 1e-4 for b_1; tolerances are 1.5 % and 2e-4.
TEST(PaperSynthetic, EstimatesMatchThePrototype) {
  const ReferenceFuruta rig = paper_rig();
  const Recording recording = record(rig, Eigen::Vector4d(0.0, M_PI - 0.03, 0.0, 0.0),
                                     Eigen::VectorXd::Zero(10000), 1e-3, 1e-3, 11);
  for (const Row& expected :
       {Row{1e-3, 3.12e-3, 3.91e-3, 9.3e-4}, Row{2e-3, 3.22e-3, 3.90e-3, 9.7e-4},
        Row{5e-3, 3.44e-3, 3.85e-3, 9e-5}, Row{1e-2, 3.77e-3, 3.76e-3, 0.0},
        Row{2e-2, 4.60e-3, 3.60e-3, 0.0}}) {
    SCOPED_TRACE(expected.h);
    Mechanism mechanism = mechanism_of(rig);
    free_parameters(mechanism, {"A.J_zz", "B.J_yy", "1.b", "2.b"}, 1.0);
    for (Joint& joint : mechanism.joints) {
      joint.spook.compliance_linear = joint.spook.compliance_angular = 1e-4;
      joint.spook.damping_time = 0.02;
    }
    TrajectoryProblem problem(mechanism,
                              {make_trajectory_data(mechanism, recording.segments.front(),
                                                    expected.h, 10.0, recording.name)},
                              paper_settings(expected.h));
    const LmSummary summary = solve(problem);
    EXPECT_TRUE(is_converged(summary.termination)) << to_string(summary.termination);
    const Eigen::VectorXd estimate = problem.parameter_values();
    EXPECT_NEAR(estimate[0], expected.J_Azz, 0.015 * expected.J_Azz);
    EXPECT_NEAR(estimate[1], expected.J_Byy, 0.015 * expected.J_Byy);
    EXPECT_NEAR(estimate[2], expected.b_1, 2e-4);
    std::cout << "h = " << expected.h << " s: J_Azz " << estimate[0] << ", J_Byy " << estimate[1]
              << ", b_1 " << estimate[2] << '\n';
  }
}

}  // namespace
}  // namespace estimator
