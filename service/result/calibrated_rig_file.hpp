#pragma once

#include <string>
#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Parameter values from a calibration, to be written to a rig file.
struct CalibratedRig {
  std::vector<estimator::ParameterEstimate> estimates;
  std::vector<estimator::ParameterEstimate> tied;  ///< dependent parameters
  std::vector<estimator::Parameter> kept;  ///< fixed at values that differ from the rig file
  std::string headline;                    ///< first line of the rig file
};

/// Returns the first line of a calibrated rig file. It gives version, date, recordings and kind.
/// @param kind    "physical" or "shadow"
/// @param step_s  step of a SPOOK simulator [s]
std::string make_headline(const std::string& version, const std::string& date,
                          const std::string& recordings, const std::string& kind, double step_s);

/// Returns the parameter values of a calibration for `write_rig`.
CalibratedRig calibrated_rig(const estimator::Calibration& calibration,
                             const CalibrationContext& context);

/// Choice whether a calibrated rig file gets the estimates as priors for the next calibration.
enum class Priors { kUnchanged, kFromEstimates };

/// Text of a calibrated rig file, with notes.
struct WrittenRig {
  std::string text;
  std::vector<std::string> notes;  ///< values that could not be written or were written elsewhere
};

/// Returns the text of a rig file with its parameter values replaced by calibrated values. Values
/// are written bit-exact, with their standard deviations as comments such as "# ± 1.1e-06". Other
/// comments, layout, bounds, and which parameters are free stay unchanged. Priors change only with
/// Priors::kFromEstimates.
/// @param name  name of the file for messages
/// @throws proto::InputError for text that is not a rig file, or that has fields in lists
WrittenRig write_rig(const std::string& name, const std::string& text, const CalibratedRig& rig,
                     Priors priors);

}  // namespace service
