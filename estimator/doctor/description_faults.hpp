#pragma once

#include <vector>

#include "estimator/assess/calibration.hpp"
#include "estimator/doctor/hypothesis.hpp"
#include "estimator/doctor/trial_fit.hpp"
#include "estimator/fit/fit_options.hpp"

namespace estimator {

/// A mistake that was tried, and what the description explains without it.
struct Trial {
  Hypothesis hypothesis;
  TrialFit fit;
  int order = 0;  ///< among the hypotheses
};

/// What became of a description as it is given and without each likely mistake.
struct DescriptionTrials {
  TrialFit given;
  /// The most promising ones, best first; none where the description explains the recordings well.
  std::vector<Trial> trials;
};

/// @param excerpts  few rows; see take_excerpts
DescriptionTrials try_mistakes(const Mechanism& mechanism, const std::vector<Recording>& excerpts,
                               const CalibrationMonitor& monitor = {});

/// A free offset of an encoder that estimates are to begin with.
struct OffsetStart {
  int parameter = 0;
  double value = 0.0;  ///< [rad]
};

/// What is wrong with a description, and what can be done without asking.
struct DescriptionExamination {
  std::vector<Finding> findings;
  std::vector<OffsetStart> starts;
};

/// Mistakes in the description of a rig, before any fit: short fits to a few lively seconds of the
/// recordings, of the description as given and of it without each likely mistake. A fault is told
/// only where the description explains the readings badly and, without the mistake, much better;
/// mistakes that the recordings cannot tell apart are told together. A zero that is far from where
/// it is said to be, and free, is a warning and gives a start. Where nothing explains them, that is
/// told ("unexplained"), and where a joint turns too far between rows to judge by ("not-checked").
///
/// The work is bounded by the number of rows, hypotheses and iterations. Recordings that cannot be
/// used give nothing; `calibrate` says why.
DescriptionExamination examine_description(const Mechanism& mechanism,
                                           const std::vector<Recording>& recordings,
                                           const CalibrationMonitor& monitor = {});

}  // namespace estimator
