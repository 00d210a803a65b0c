#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "estimator/tree/tree_program.hpp"

namespace estimator {

/// Programs of a mechanism of which some bodies are missing at times (Body::only_in): one for every
/// set of bodies that is missing, all with the same unknowns. What a missing body weighs has no
/// effect.
class ProgramVariants {
 public:
  /// @param absent  bodies that are missing, of each group of intervals
  ProgramVariants(const Mechanism& mechanism, const CoordinateChoice& coordinates,
                  const std::vector<std::vector<int>>& absent);

  /// Any of them, for what they have in common.
  const TreeProgram& common() const { return *variants_.front().program; }

  /// Runs of consecutive intervals that share a program, in order.
  struct Run {
    const TreeProgram& program;
    Mechanism values;  ///< as this program has them
    std::size_t first, count;
    const std::vector<int>& without_effect;  ///< places among the moving parameters
  };
  /// @param groups  of each interval
  std::vector<Run> runs(const Mechanism& values, std::span<const int> groups) const;

 private:
  struct Variant {
    std::vector<int> absent;
    std::shared_ptr<const TreeProgram> program;
    std::vector<int> without_effect;
  };
  const Variant& of(int group) const {
    return variants_[static_cast<std::size_t>(variant_of_[static_cast<std::size_t>(group)])];
  }

  std::vector<Variant> variants_;
  std::vector<int> variant_of_;  // of each group
};

}  // namespace estimator
