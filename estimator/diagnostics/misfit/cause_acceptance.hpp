#pragma once

#include <optional>
#include <string>
#include <vector>

#include "estimator/diagnostics/misfit/misfit_trials.hpp"

namespace estimator {

/// Returns a cause of a misfit with its remaining errors; nullopt if the fit improves too little.
std::optional<Cause> accepted_cause(const MisfitProblem& on, const ExcerptFit& fit, Finding finding,
                                    const std::vector<Recording>& pieces);

/// Returns a finding about a cause of a misfit.
/// @param size  fitted size of the error, in `unit`
Finding cause_finding(Message message, std::string channel, double size, std::string unit);

/// Returns whether a fit lowers the cost enough to report the cause that it includes.
bool improves_enough(const MisfitProblem& on, const ExcerptFit& fit);

/// Fits a cause of a misfit. The cost is infinite if the cause certainly does not help.
ExcerptFit fit_if_promising(const MisfitProblem& on, const Mechanism& mechanism,
                            const std::vector<Recording>& pieces);

/// Smallest relative change of a parameter that is reported.
inline constexpr double kMinRelativeChange = 1e-3;

/// The result of a fit with one parameter freed. The size is the change of this parameter. The fit
/// is a cause only if the size is at least `least`, since in chaotic motions a smaller change may
/// improve the fit by chance.
struct FreedParameterFit {
  double size = 0.0, deviation = 0.0;
  std::optional<Cause> cause;
};
FreedParameterFit fit_with_one_freed(const MisfitProblem& on, int index, double start, double lower,
                                     double upper, double least);

void add(std::vector<Cause>& causes, std::optional<Cause> cause);

}  // namespace estimator
