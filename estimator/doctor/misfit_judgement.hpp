#pragma once

#include <optional>
#include <vector>

#include "estimator/doctor/misfit_trials.hpp"

namespace estimator {

/// Returns the cause with its errors if the fit improves enough to report it.
std::optional<Cause> judged(const MisfitCase& on, const PieceFit& fit, Finding finding,
                            const std::vector<Recording>& pieces);

/// Returns whether a fit lowers the cost enough to report its cause.
bool helps(const MisfitCase& on, const PieceFit& fit);

/// Fits a cause; returns no fit if it certainly does not help.
PieceFit hopeful_fit(const MisfitCase& on, const Mechanism& mechanism,
                     const std::vector<Recording>& pieces);

/// Smallest relative change of a parameter that is reported.
inline constexpr double kLeastShare = 1e-3;

/// Frees one parameter and fits. The size is its change; a cause has a size of at least `least`,
/// since in chaotic motions a smaller change may improve the fit by chance.
struct FreedOne {
  double size = 0.0, deviation = 0.0;
  std::optional<Cause> cause;
};
FreedOne free_one(const MisfitCase& on, int index, double start, double lower, double upper,
                  double least);

void add(std::vector<Cause>& causes, std::optional<Cause> cause);

}  // namespace estimator
