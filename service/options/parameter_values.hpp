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

/// Parameter values from a result file of `rigcal calibrate --json`.
struct ParameterValues {
  struct ParameterValue {
    std::string field;  ///< location in the file, e.g. "parameters[3]"
    std::string name;
    std::string unit;
    double value = 0.0;
    double deviation = std::numeric_limits<double>::infinity();  ///< standard deviation
  };
  std::string file;  ///< path of the result file; empty if there are no values
  FileDigest mark = {};
  std::vector<ParameterValue> entries;  ///< estimated parameters, then dependent ones
  /// Covariance of the estimated parameters. Entries of a parameter with infinite standard
  /// deviation are meaningless.
  Eigen::MatrixXd covariance;
  /// Kind of the parameters, physical or shadow; nullopt if the file does not contain the kind.
  /// Shadow parameters are valid only for one `step` and `state_error_weight` of a SPOOK simulator.
  std::optional<estimator::EstimateKind> kind;
  double step = 0.0;                ///< simulation step [s]; 0 if unknown
  double state_error_weight = 0.0;  ///< weight κ; 0 if unknown
};

/// Rejects a file that is not a result of `rigcal calibrate --json`.
/// @param why  details of the parser; only their first line is used
/// @throws proto::InputError always
[[noreturn]] void reject_result_file(const std::string& path, const std::string& what,
                                     const std::string& why);

/// Reads the parameter values in a result file of `rigcal calibrate --json`. Returns no values for
/// an empty path.
ParameterValues read_parameter_values(const std::string& path);

/// Returns the mechanism's parameters that are in `values`, with their covariance. Parameters that
/// the calibration could not identify are omitted.
/// @param unknown  output: names of the parameters that were not identifiable
estimator::UncertainParameters parameter_value_covariance(const ParameterValues& values,
                                                          const estimator::Mechanism& mechanism,
                                                          std::vector<std::string>& unknown);

/// Sets parameters of a mechanism to values from a result file. Other parameters keep their values.
/// Free parameters stay free, and fixed parameters stay fixed.
/// @throws proto::InputError with file and field, for an unknown name, another unit, or a value
///         that violates bounds or dependencies of the rig
void apply_parameter_values(const ParameterValues& values, estimator::Mechanism& mechanism);

/// Returns parameter values as texts "NAME=VALUE", which set initial values
/// (ParameterEdits::start). Dependent parameters are left out.
std::vector<std::string> make_initial_value_edits(const ParameterValues& values,
                                                  const estimator::Mechanism& mechanism);

}  // namespace service
