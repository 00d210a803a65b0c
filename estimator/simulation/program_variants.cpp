#include "estimator/simulation/program_variants.hpp"

#include <algorithm>

namespace estimator {
namespace {

/// Returns the parameter values without the inertia and drag of absent bodies.
Mechanism without(Mechanism mechanism, const std::vector<int>& absent) {
  for (const int body : absent) {
    for (int i = 0; i < Mechanism::kBodyQuantities; ++i) {
      mechanism.parameter(body, static_cast<BodyQuantity>(i)).value = 0.0;
    }
    const int drag = mechanism.index_of_air(body, AirQuantity::kCoefficient);
    mechanism.parameters[static_cast<std::size_t>(drag)].value = 0.0;
  }
  return mechanism;
}

/// Returns the body to which a parameter belongs; −1 if it belongs to none.
int body_of(const Mechanism& mechanism, int parameter) {
  if (parameter < mechanism.index_of_joint(0, {})) return parameter / Mechanism::kBodyQuantities;
  const int of_air = parameter - mechanism.index_of_air(0, {});
  return of_air >= 0 && parameter < mechanism.index_of_air(mechanism.body_count(), {})
             ? of_air / Mechanism::kAirQuantities
             : -1;
}

}  // namespace

ProgramVariants::ProgramVariants(const Mechanism& mechanism, const CoordinateChoice& coordinates,
                                 const std::vector<std::vector<int>>& absent) {
  for (const std::vector<int>& own : absent) {
    const auto known = std::ranges::find(variants_, own, &Variant::absent);
    variant_of_.push_back(static_cast<int>(known - variants_.begin()));
    if (known != variants_.end()) continue;
    Variant variant{
        own, std::make_shared<const TreeProgram>(without(mechanism, own), coordinates), {}};
    const std::vector<int>& motion_parameters = variant.program->motion_parameters();
    for (std::size_t place = 0; place < motion_parameters.size(); ++place) {
      if (std::ranges::find(own, body_of(mechanism, motion_parameters[place])) == own.end())
        continue;
      variant.without_effect.push_back(static_cast<int>(place));
    }
    variants_.push_back(std::move(variant));
  }
}

std::vector<ProgramVariants::Run> ProgramVariants::runs(const Mechanism& values,
                                                        std::span<const int> groups) const {
  std::vector<Run> runs;
  for (std::size_t first = 0, last = 0; first < groups.size(); first = last) {
    const Variant& own = of(groups[first]);
    while (last < groups.size() && &of(groups[last]) == &own) ++last;
    runs.push_back(
        {*own.program, without(values, own.absent), first, last - first, own.without_effect});
  }
  return runs;
}

}  // namespace estimator
