#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "tests/studies/runs/study_task.hpp"
#include "tests/studies/study.hpp"

namespace service {

/// Folders of the recordings of StudyFolder::kRecordings and kEvaluationData.
struct StudyFolders {
  std::string recordings;
  std::string evaluation_data;
};

/// A set with its recordings in memory.
struct LoadedSet {
  const StudySet* set = nullptr;
  std::vector<std::shared_ptr<const StudyData>> data;  ///< in the order of set->recordings
};

/// Reads or simulates the recordings of every set. Omits sets of the evaluation data whose files do
/// not exist.
/// @param study  must outlive the result
/// @param notes  receives omitted sets and notes of the import, for people
/// @throws InputError for another missing recording, or an unusable one
std::vector<LoadedSet> load_sets(const Study& study, const StudyFolders& folders,
                                 std::vector<std::string>& notes);

/// Returns the set's mechanism with the edits of a model, then of a recording.
estimator::Mechanism mechanism_of(const StudySet& set, const StudyModel& model,
                                  const StudyData& data);

/// Returns the mechanism with the set's true values; free parameters stay free.
estimator::Mechanism with_true_values(const StudySet& set, estimator::Mechanism mechanism);

}  // namespace service
