#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "estimator/simulation/tree_program.hpp"

namespace estimator {

/// Programs of a mechanism whose bodies are absent in some recordings
/// (Body::present_in_recordings). There is one program for every set of absent bodies. All have the
/// same unknowns, but the inertia of an absent body has no effect.
class ProgramVariants {
 public:
  /// @param absent  absent bodies of each group of intervals
  ProgramVariants(const Mechanism& mechanism, const CoordinateChoice& coordinates,
                  const std::vector<std::vector<int>>& absent);

  /// Returns one of the programs, for the properties that all share.
  const TreeProgram& common() const { return *variants_.front().program; }

  /// Consecutive intervals that share a program, in order.
  struct Run {
    const TreeProgram& program;
    Mechanism values;  ///< parameter values for this program
    std::size_t first, count;
    const std::vector<int>&
        without_effect;  ///< parameters without effect, as indices among the motion parameters
  };
  /// Returns the runs of consecutive intervals that share a program.
  /// @param groups  group of each interval
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
