#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// Parameter values from a calibration.
struct CalibratedRig {
  std::vector<estimator::ParameterEstimate> estimates;
  std::vector<estimator::ParameterEstimate> tied;  ///< dependent parameters
  std::vector<estimator::Parameter> kept;          ///< fixed at values other than the file's
  std::string headline;                            ///< first line: version, date, recordings
};

/// Returns the first line of a rig file that a calibration wrote.
/// @param kind    "physical" or "shadow"
/// @param step_s  step of a SPOOK simulator [s]
std::string make_headline(const std::string& version, const std::string& date,
                          const std::string& recordings, const std::string& kind, double step_s);

CalibratedRig calibrated_rig(const estimator::Calibration& calibration,
                             const CalibrationContext& context);

/// Whether the estimates become the priors of the next calibration.
enum class Priors { kUnchanged, kFromEstimates };

struct WrittenRig {
  std::string text;
  std::vector<std::string> notes;  ///< values that could not be written or were written elsewhere
};

/// Returns a rig file's text with calibrated values, bit-exact, and their standard deviations as
/// comments, "# ± 1.1e-06". Everything else stays: comments, layout, freedom, bounds, priors.
/// @param name  name of the file, for messages
/// @throws proto::InputError for text that is not a rig, or whose fields are in lists
WrittenRig write_rig(const std::string& name, const std::string& text, const CalibratedRig& rig,
                     Priors priors);

}  // namespace service
