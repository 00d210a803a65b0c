#pragma once

#include <vector>

#include "estimator/assessment/calibration.hpp"
#include "estimator/diagnostics/description/hypothesis.hpp"
#include "estimator/diagnostics/description/trial_fit.hpp"
#include "estimator/fit/fit_options.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"

namespace estimator {

/// A hypothetical error of the rig description, and a fit with this error corrected.
struct DescriptionErrorTrial {
  DescriptionHypothesis hypothesis;
  TrialFit fit;
  int order = 0;  ///< index of the hypothesis
};

/// Trial fits of a rig description: one fit of the description as given, and one fit for each
/// likely error, with this error corrected.
struct DescriptionErrorTrials {
  TrialFit given;
  /// The most promising trials, best first. Empty if the description as given fits the recordings
  /// well.
  std::vector<DescriptionErrorTrial> trials;
};

/// Fits a rig description as given, and with each likely error corrected.
/// @param excerpts  short excerpts of recordings (select_excerpts)
DescriptionErrorTrials try_description_errors(const Mechanism& mechanism,
                                              const std::vector<Recording>& excerpts,
                                              const CalibrationMonitor& monitor = {});

/// The free zero offset of an encoder, and the initial value that a calibration should use for it.
struct InitialEncoderOffset {
  int parameter = 0;
  double value = 0.0;  ///< [rad]
};

/// The errors found in a rig description, and the repairs that are made without asking the user.
struct DescriptionExamination {
  std::vector<Finding> findings;
  std::vector<InitialEncoderOffset> starts;
};

/// Searches a rig description for errors before any calibration. Runs short fits to a few seconds
/// of the recordings, with the description as given and with each likely error corrected. An error
/// is a fault only if the description fits badly and its correction fits much better. Errors that
/// the recordings cannot distinguish are reported in one finding. A free encoder zero that is far
/// from its given value causes a warning, and gets a better initial value. Reports "unexplained" if
/// no hypothesis fits, and "not-checked" if a joint turns too far between samples.
///
/// The numbers of samples, hypotheses and iterations are limited. Returns no findings for unusable
/// recordings; `calibrate` reports the reason.
DescriptionExamination examine_description(const Mechanism& mechanism,
                                           const std::vector<Recording>& recordings,
                                           const CalibrationMonitor& monitor = {});

}  // namespace estimator
