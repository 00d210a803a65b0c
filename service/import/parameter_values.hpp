#pragma once

#include <Eigen/Core>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "estimator/fit/fit_options.hpp"
#include "estimator/fit/physical/segment_steps.hpp"
#include "estimator/model/mechanism.hpp"
#include "service/import/file_mark.hpp"

namespace service {

/// Values of parameters from a result that `rigcal calibrate --json` wrote.
struct ParameterValues {
  struct Entry {
    std::string field;  ///< where it stands in the file: "parameters[3]"
    std::string name;
    std::string unit;
    double value = 0.0;
    double deviation = std::numeric_limits<double>::infinity();  ///< where it is told
  };
  std::string file;  ///< empty: there are none
  FileMark mark = {};
  std::vector<Entry> entries;  ///< estimated ones, then those that follow from them
  /// Of the first entries, those estimated; of nothing where their deviation is infinite.
  Eigen::MatrixXd covariance;
  /// What they are parameters of, where the file says so; of a simulator its step and weight too.
  std::optional<estimator::EstimateKind> kind;
  double step = 0.0;                ///< [s]; 0: not told
  double state_error_weight = 0.0;  ///< κ; 0: not told
};

/// Reads them; nothing for an empty path.
/// @throws proto::InputError naming the file and the field
ParameterValues read_parameter_values(const std::string& path);

/// How well those values are known, of the parameters of a rig that have them still.
/// @param unknown  result: names of parameters that the data did not see, which are left out
estimator::KeptParameters spread_of(const ParameterValues& values,
                                    const estimator::Mechanism& mechanism,
                                    std::vector<std::string>& unknown);

/// Gives the parameters of a rig those values; what they leave out, and what is free, stays as it
/// is.
/// @throws proto::InputError naming file and field, for a name the rig does not have, another unit,
///         or a value that bounds or ties of the rig do not allow
void apply_values(const ParameterValues& values, estimator::Mechanism& mechanism);

/// The same as "NAME=VALUE", for what is not tied (ParameterEdits::start).
std::vector<std::string> start_texts(const ParameterValues& values,
                                     const estimator::Mechanism& mechanism);

}  // namespace service
