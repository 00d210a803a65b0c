#pragma once

#include <optional>
#include <vector>

#include "estimator/doctor/misfit_trials.hpp"

namespace estimator {

/// Whether a fit helps enough to be told; then with its errors.
std::optional<Cause> judged(const MisfitCase& on, const PieceFit& fit, Finding finding,
                            const std::vector<Recording>& pieces);

/// Whether a fit takes the cost far enough down to be told.
bool helps(const MisfitCase& on, const PieceFit& fit);

/// A fit that may help; none where it surely does not.
PieceFit hopeful_fit(const MisfitCase& on, const Mechanism& mechanism,
                     const std::vector<Recording>& pieces);

/// Share of a quantity by which it is off at least where that is told.
inline constexpr double kLeastShare = 1e-3;

/// Frees one parameter and fits. What it becomes, less what it was, is the size; a cause is one
/// that is at least `least` large: where motions magnify errors, a fit may get there by chance
/// alone.
struct FreedOne {
  double size = 0.0, deviation = 0.0;
  std::optional<Cause> cause;
};
FreedOne free_one(const MisfitCase& on, int index, double start, double lower, double upper,
                  double least);

void add(std::vector<Cause>& causes, std::optional<Cause> cause);

}  // namespace estimator
