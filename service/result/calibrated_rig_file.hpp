#pragma once

#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Calibrated parameter values, to be written to a rig file.
struct CalibratedParameters {
  std::vector<estimator::ParameterEstimate> estimates;
  std::vector<estimator::ParameterEstimate> dependent;  ///< dependent parameters
  std::vector<estimator::Parameter> kept;  ///< fixed at values that differ from the rig file
  std::string headline;                    ///< first line of the rig file; empty: none
};

/// Returns the first line of a calibrated rig file, with version, date, recordings and parameter
/// kind.
/// @param kind    "physical" or "shadow"
/// @param step_s  step of a SPOOK simulator [s]
std::string make_rig_file_headline(const std::string& version, const std::string& date,
                                   const std::string& recordings, const std::string& kind,
                                   double step_s);

/// Returns the parameter values of a calibration, to be written to a rig file.
CalibratedParameters collect_calibrated_parameters(const estimator::Calibration& calibration,
                                                   const CalibrationMetadata& context);

/// Returns the comment lines of a robot description: the headline, and each estimate with its
/// standard deviation.
/// @param covariance  file or command that provides the covariance, named in a line; empty: none
std::vector<std::string> describe_estimates(const CalibratedParameters& calibrated,
                                            const std::string& covariance);

/// Treatment of priors in a calibrated rig file: unchanged, or replaced by the estimates.
enum class PriorChange { kUnchanged, kFromEstimates };

/// Text of a calibrated rig file, with notes for the user.
struct CalibratedRigText {
  std::string text;
  /// About values that could not be written, or were written to another field.
  std::vector<std::string> notes;
};

/// Returns the text of a rig file with calibrated parameter values. Values are written bit-exact,
/// with standard deviations as comments such as "# ± 1.1e-06". Other comments, the layout, the
/// bounds and the choice of free parameters stay unchanged.
/// @param name  name of the file for messages
/// @throws proto::InputError for text that is not a rig file, or that has fields in lists
CalibratedRigText write_calibrated_rig(const std::string& name, const std::string& text,
                                       const CalibratedParameters& rig, PriorChange priors);

}  // namespace service
