#pragma once

#include <Eigen/Core>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/shooting/segment_steps.hpp"
#include "estimator/model/mechanism.hpp"
#include "service/recordings/file_digest.hpp"

namespace service {

/// Parameter values from a result of `rigcal calibrate --json`.
struct ParameterValues {
  struct Entry {
    std::string field;  ///< location in the file, e.g. "parameters[3]"
    std::string name;
    std::string unit;
    double value = 0.0;
    double deviation = std::numeric_limits<double>::infinity();  ///< standard deviation
  };
  std::string file;  ///< path of the result file; empty if there are no values
  FileDigest mark = {};
  std::vector<Entry> entries;  ///< estimated parameters, then dependent ones
  /// Covariance of the estimated parameters. Rows and columns of parameters with infinite standard
  /// deviation are meaningless.
  Eigen::MatrixXd covariance;
  /// Kind of the parameters, physical or shadow; nullopt if the file does not give it. Shadow
  /// parameters are valid only for the `step` and `state_error_weight` of their simulator.
  std::optional<estimator::EstimateKind> kind;
  double step = 0.0;                ///< simulation step [s]; 0 if unknown
  double state_error_weight = 0.0;  ///< weight κ; 0 if unknown
};

/// Reads parameter values from a result file. Returns no values for an empty path.
/// @throws proto::InputError naming the file and the field
ParameterValues read_parameter_values(const std::string& path);

/// Returns the indices and the covariance of the mechanism's parameters that equal these values.
/// Parameters that were not identifiable are left out.
/// @param unknown  output: names of the parameters that were not identifiable
estimator::FixedParameters value_covariance(const ParameterValues& values,
                                            const estimator::Mechanism& mechanism,
                                            std::vector<std::string>& unknown);

/// Sets parameters of a mechanism to these values. Other parameters stay unchanged; whether a
/// parameter is free or fixed does not change.
/// @throws proto::InputError with file and field, for an unknown name, another unit, or a value
///         that violates bounds or dependencies of the rig
void apply_values(const ParameterValues& values, estimator::Mechanism& mechanism);

/// Returns the values as texts "NAME=VALUE" for ParameterEdits::start, without dependent
/// parameters.
std::vector<std::string> initial_value_edits(const ParameterValues& values,
                                             const estimator::Mechanism& mechanism);

}  // namespace service
