#pragma once

#include <map>
#include <string>

namespace test_support {

/// Returns the true parameters of the rig fourbar_base in the evaluation data (its __truth.json),
/// in SI units, by name.
inline std::map<std::string, double> fourbar_truth() {
  return {{"crank.J_zz", 1.25e-4},
          {"coupler.J_zz", 1.633333333e-3},
          {"rocker.J_zz", 6.666666667e-4},
          {"O.b", 2e-3},
          {"O.tau_c", 8e-3},
          {"O.K", 0.06},
          {"P.b", 3e-4},
          {"P.tau_c", 1e-3},
          {"Q.b", 3e-4},
          {"Q.tau_c", 1e-3},
          {"R.b", 5e-4},
          {"R.tau_c", 3e-3}};
}

}  // namespace test_support
