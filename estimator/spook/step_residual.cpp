#include "estimator/spook/step_residual.hpp"

#include <cassert>

#include "estimator/spook/step_derivatives.hpp"

namespace estimator {

std::vector<Eigen::Vector2d> constrained_inertias(const Mechanism& mechanism,
                                                  const ModelParameterValues& values) {
  std::vector<Eigen::Vector2d> weights;
  for (const Joint& joint : mechanism.joints) {
    Eigen::Vector2d mobility = Eigen::Vector2d::Zero();  // 1/m [1/kg], 1/J [1/(kg·m²)]
    for (const int body : {joint.body_a, joint.body_b}) {
      if (body == Joint::kGround) continue;
      const BodyValues& terms = values.bodies[body];
      mobility += Eigen::Vector2d(1.0 / terms.mass, 3.0 / terms.inertia.trace());
    }
    weights.push_back(mobility.cwiseInverse());
  }
  return weights;
}

std::unique_ptr<StepResidual> make_step_residual(const Mechanism& mechanism,
                                                 const StepSettings& settings,
                                                 const std::vector<int>& free_parameters) {
  assert(settings.step > 0.0);
  const int bodies = mechanism.body_count(), joints = mechanism.joint_count();
  if (bodies == 1 && joints == 1) {
    return std::make_unique<StepResidualKernel<1, 1>>(mechanism, settings, free_parameters);
  }
  if (bodies == 2 && joints == 2) {
    return std::make_unique<StepResidualKernel<2, 2>>(mechanism, settings, free_parameters);
  }
  return std::make_unique<StepResidualKernel<Eigen::Dynamic, Eigen::Dynamic>>(mechanism, settings,
                                                                              free_parameters);
}

}  // namespace estimator
