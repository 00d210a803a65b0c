#include "estimator/diagnostics/misfit/cause_acceptance.hpp"

#include <cmath>
#include <utility>

namespace estimator {
namespace {

/// Ratio of the cost with a cause to that without, below which the cause is reported.
constexpr double kHelps = 0.6;

}  // namespace

Finding cause_finding(Message message, std::string channel, double size, std::string unit) {
  Finding finding = make_finding(std::move(message), "", std::move(channel));
  finding.size = size;
  finding.unit = std::move(unit);
  return finding;
}

bool improves_enough(const MisfitProblem& on, const ExcerptFit& fit) {
  return fit.cost_per_reading() < kHelps * on.cost_per_reading;
}

ExcerptFit fit_if_promising(const MisfitProblem& on, const Mechanism& mechanism,
                            const std::vector<Recording>& pieces) {
  return on.fit(mechanism, pieces, kHelps * on.cost_per_reading);
}

std::optional<Cause> accepted_cause(const MisfitProblem& on, const ExcerptFit& fit, Finding finding,
                                    const std::vector<Recording>& pieces) {
  if (!improves_enough(on, fit)) return std::nullopt;
  return Cause{std::move(finding), fit.cost_per_reading(), errors_of(fit, on.noise.size()),
               fit.mechanism(), pieces};
}

FreedParameterFit fit_with_one_freed(const MisfitProblem& on, int index, double start, double lower,
                                     double upper, double least) {
  Mechanism mechanism = on.estimate;
  Parameter& parameter = mechanism.parameters[static_cast<std::size_t>(index)];
  const double before = parameter.value;
  parameter.free = true;
  parameter.value = start;
  parameter.lower = lower;
  parameter.upper = upper;
  const ExcerptFit fit = fit_if_promising(on, mechanism, on.pieces);
  FreedParameterFit freed;
  if (!improves_enough(on, fit)) return freed;
  freed.size = fit.mechanism().parameters[static_cast<std::size_t>(index)].value - before;
  freed.deviation = fit.deviation(index);
  if (!is_significant(freed.size, freed.deviation) || std::abs(freed.size) < least) return freed;
  freed.cause = accepted_cause(on, fit, {}, on.pieces);
  return freed;
}

void add(std::vector<Cause>& causes, std::optional<Cause> cause) {
  if (cause) causes.push_back(std::move(*cause));
}

}  // namespace estimator
