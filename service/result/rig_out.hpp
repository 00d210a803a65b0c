#pragma once

#include <string>
#include <vector>

#include "estimator/assess/calibration.hpp"
#include "service/result/calibration_message.hpp"

namespace service {

/// What a calibration says of a rig's parameters.
struct CalibratedRig {
  std::vector<estimator::ParameterEstimate> estimates;
  std::vector<estimator::ParameterEstimate> tied;  ///< what follows from them
  std::vector<estimator::Parameter> kept;          ///< at another value than the file's
  std::string headline;                            ///< of the file: by whom, when, from what
};

/// First line of a file that a calibration wrote.
/// @param kind    "physical" or "shadow"
/// @param step_s  of a SPOOK simulator [s]
std::string headline_of(const std::string& version, const std::string& date,
                        const std::string& recordings, const std::string& kind, double step_s);

CalibratedRig calibrated_rig(const estimator::Calibration& calibration,
                             const CalibrationContext& context);

/// Whether estimates are what is known beforehand of the next calibration.
enum class Priors { kAsTheyWere, kFromEstimates };

struct WrittenRig {
  std::string text;
  std::vector<std::string> notes;  ///< what could not be written, or went elsewhere
};

/// A rig file's text with the values of a calibration in place of its own, and their standard
/// deviations as comments, "# ± 1.1e-06". Everything else stays: comments, layout, freedom, bounds,
/// priors. Values are those of the calibration to the last bit.
/// @param name  of the file, for messages
/// @throws proto::InputError for text that is no rig, or whose fields stand in lists
WrittenRig write_rig(const std::string& name, const std::string& text, const CalibratedRig& rig,
                     Priors priors);

}  // namespace service
