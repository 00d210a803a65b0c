#include "estimator/signal/unwrap.hpp"

#include <cmath>

#include "estimator/math/angle_wrapping.hpp"

namespace estimator {

Eigen::VectorXd unwrap(const Eigen::Ref<const Eigen::VectorXd>& angles) {
  Eigen::VectorXd unwrapped = angles;
  bool observed = false;
  double turns = 0.0;  // full turns added to the last observed sample
  double last = 0.0;   // last observed sample as given
  for (double& angle : unwrapped) {
    if (std::isnan(angle)) continue;
    const double raw = angle;
    if (observed) turns -= whole_turns(raw - last);
    angle = raw + turns * kWholeTurn;
    last = raw;
    observed = true;
  }
  return unwrapped;
}

}  // namespace estimator
