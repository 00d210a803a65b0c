#pragma once

#include <optional>
#include <vector>

#include "estimator/diagnostics/misfit_trials.hpp"

namespace estimator {

/// Returns the cause with its errors if the fit improves enough to report it.
std::optional<Cause> accepted_cause(const MisfitProblem& on, const ExcerptFit& fit, Finding finding,
                                    const std::vector<Recording>& pieces);

/// Returns whether a fit lowers the cost enough to report its cause.
bool improves_enough(const MisfitProblem& on, const ExcerptFit& fit);

/// Fits a cause; returns no fit if it certainly does not help.
ExcerptFit fit_if_promising(const MisfitProblem& on, const Mechanism& mechanism,
                            const std::vector<Recording>& pieces);

/// Smallest relative change of a parameter that is reported.
inline constexpr double kMinRelativeChange = 1e-3;

/// Frees one parameter and fits. The size is its change; a cause has a size of at least `least`,
/// since in chaotic motions a smaller change may improve the fit by chance.
struct FreedParameterFit {
  double size = 0.0, deviation = 0.0;
  std::optional<Cause> cause;
};
FreedParameterFit fit_with_one_freed(const MisfitProblem& on, int index, double start, double lower,
                                     double upper, double least);

void add(std::vector<Cause>& causes, std::optional<Cause> cause);

}  // namespace estimator
