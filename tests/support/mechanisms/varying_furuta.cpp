#include "tests/support/mechanisms/varying_furuta.hpp"

#include <cmath>

#include "tests/support/mechanisms/reference_rigs.hpp"

namespace test_support {

estimator::Recording record(const VaryingFuruta& truth, const Eigen::Vector4d& start,
                            const Eigen::VectorXd& control, double period, double noise,
                            unsigned seed) {
  constexpr int kParts = 8;
  const double step = period / kParts;
  Eigen::MatrixXd angles(control.size(), 2);
  Eigen::Vector4d state = start;
  for (Eigen::Index k = 0; k < control.size(); ++k) {
    angles.row(k) = state.head<2>().transpose();
    for (int part = 0; part < kParts; ++part) {
      const double time = static_cast<double>(k) * period + (part + 0.5) * step;
      ReferenceFuruta rig = truth.rig;
      const double friction = 1.0 + truth.friction_drift * time;
      for (double* each : {&rig.b_1, &rig.tau_c1}) *each *= friction;
      rig.g += truth.vibration_sine * std::sin(2.0 * M_PI * truth.frequency * time);
      const double u = control[k];
      const double factor =
          1.0 + truth.gain_drift * time - truth.gain_sag * std::abs(u);
      const double phase = truth.cogging_order * (state[0] + 0.5 * step * state[2]);
      const double cogging =
          truth.cogging_sine * std::sin(phase) + truth.cogging_cosine * std::cos(phase);
      const double acting = factor * u + cogging / rig.K;
      state = simulate(rig, state, Eigen::VectorXd::Constant(1, acting), step).row(1).transpose();
    }
  }
  estimator::Segment segment = undriven(with_noise(angles, noise, seed), period);
  segment.controls = control;
  return {"reference", {segment}};
}

}  // namespace test_support
