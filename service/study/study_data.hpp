#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "service/study/study.hpp"
#include "service/study/study_task.hpp"

namespace service {

/// Where the recordings of StudyFolder::kRecordings and kEvaluationData lie.
struct StudyFolders {
  std::string recordings;
  std::string evaluation_data;
};

/// A set with its recordings in memory.
struct LoadedSet {
  const StudySet* set = nullptr;
  std::vector<std::shared_ptr<const StudyData>> data;  ///< in the order of set->recordings
};

/// Reads or simulates the recordings of every set. Sets of the evaluation data whose files are not
/// there are left out.
/// @param study  outlives what is returned
/// @param notes  what was left out and what the import noticed, for people
/// @throws InputError for a recording that is missing elsewhere, or cannot be used
std::vector<LoadedSet> load_sets(const Study& study, const StudyFolders& folders,
                                 std::vector<std::string>& notes);

/// The set's mechanism with a model's edits, then a recording's.
estimator::Mechanism mechanism_of(const StudySet& set, const StudyModel& model,
                                  const StudyData& data);

/// The mechanism with the set's true values in place; what is free stays so.
estimator::Mechanism at_truth(const StudySet& set, estimator::Mechanism mechanism);

}  // namespace service
