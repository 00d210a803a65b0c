#pragma once

#include <Eigen/Core>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/segment_steps.hpp"
#include "estimator/model/mechanism.hpp"
#include "service/import/file_digest.hpp"

namespace service {

/// Parameter values from a result of `rigcal calibrate --json`.
struct ParameterValues {
  struct Entry {
    std::string field;  ///< location in the file: "parameters[3]"
    std::string name;
    std::string unit;
    double value = 0.0;
    double deviation = std::numeric_limits<double>::infinity();  ///< standard deviation, if given
  };
  std::string file;  ///< empty: no values
  FileDigest mark = {};
  std::vector<Entry> entries;  ///< estimated parameters, then dependent ones
  /// Covariance of the estimated entries; meaningless for entries with infinite deviation.
  Eigen::MatrixXd covariance;
  /// Kind of parameters, if given; for shadow parameters also their step and weight.
  std::optional<estimator::EstimateKind> kind;
  double step = 0.0;                ///< [s]; 0: unknown
  double state_error_weight = 0.0;  ///< κ; 0: unknown
};

/// Reads parameter values; none for an empty path.
/// @throws proto::InputError with the file and the field
ParameterValues read_parameter_values(const std::string& path);

/// Returns indices and covariance of the parameters that still have these values in the rig.
/// @param unknown  result: names of parameters that were not identifiable, which are left out
estimator::FixedParameters value_covariance(const ParameterValues& values,
                                            const estimator::Mechanism& mechanism,
                                            std::vector<std::string>& unknown);

/// Sets a rig's parameters to these values. Other parameters and the freedom of all are unchanged.
/// @throws proto::InputError with file and field, for an unknown name, another unit, or a value
///         that violates bounds or dependencies of the rig
void apply_values(const ParameterValues& values, estimator::Mechanism& mechanism);

/// Returns the values as "NAME=VALUE", without dependent parameters (ParameterEdits::start).
std::vector<std::string> initial_value_edits(const ParameterValues& values,
                                             const estimator::Mechanism& mechanism);

}  // namespace service
