#include "estimator/doctor/misfit_judgement.hpp"

#include <cmath>
#include <utility>

namespace estimator {
namespace {

/// A cause is reported if it reduces the cost to this share.
constexpr double kHelps = 0.6;

}  // namespace

bool helps(const MisfitCase& on, const PieceFit& fit) {
  return fit.cost_per_reading() < kHelps * on.cost_per_reading;
}

PieceFit hopeful_fit(const MisfitCase& on, const Mechanism& mechanism,
                     const std::vector<Recording>& pieces) {
  return on.fit(mechanism, pieces, kHelps * on.cost_per_reading);
}

std::optional<Cause> judged(const MisfitCase& on, const PieceFit& fit, Finding finding,
                            const std::vector<Recording>& pieces) {
  if (!helps(on, fit)) return std::nullopt;
  return Cause{std::move(finding), fit.cost_per_reading(), errors_of(fit, on.noise.size()),
               fit.mechanism(), pieces};
}

FreedOne free_one(const MisfitCase& on, int index, double start, double lower, double upper,
                  double least) {
  Mechanism mechanism = on.estimate;
  Parameter& parameter = mechanism.parameters[static_cast<std::size_t>(index)];
  const double before = parameter.value;
  parameter.free = true;
  parameter.value = start;
  parameter.lower = lower;
  parameter.upper = upper;
  const PieceFit fit = hopeful_fit(on, mechanism, on.pieces);
  FreedOne freed;
  if (!helps(on, fit)) return freed;
  freed.size = fit.mechanism().parameters[static_cast<std::size_t>(index)].value - before;
  freed.deviation = fit.deviation(index);
  if (!is_sure(freed.size, freed.deviation) || std::abs(freed.size) < least) return freed;
  freed.cause = judged(on, fit, {}, on.pieces);
  return freed;
}

void add(std::vector<Cause>& causes, std::optional<Cause> cause) {
  if (cause) causes.push_back(std::move(*cause));
}

}  // namespace estimator
