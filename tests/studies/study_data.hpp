#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/studies/runs/study_task.hpp"
#include "tests/studies/study.hpp"

namespace service {

/// Paths of the folders StudyFolder::kRecordings and StudyFolder::kEvaluationData.
struct StudyFolders {
  std::string recordings;
  std::string evaluation_data;
};

/// Set of a study with its recordings in memory.
struct LoadedSet {
  const StudySet* set = nullptr;
  std::vector<std::shared_ptr<const StudyData>> data;  ///< in the order of set->recordings
};

/// Reads or simulates the recordings of every set. Omits sets of the evaluation data whose files do
/// not exist.
/// @param study  must outlive the result
/// @param notes  receives notes on omitted sets and on the import
/// @throws InputError for another missing recording, or an unusable one
std::vector<LoadedSet> load_sets(const Study& study, const StudyFolders& folders,
                                 std::vector<std::string>& notes);

/// Returns the mechanism of a set with the edits of a model, followed by those of a recording.
estimator::Mechanism mechanism_of(const StudySet& set, const StudyModel& model,
                                  const StudyData& data);

/// Returns the mechanism with the true parameter values of a set; free parameters remain free.
estimator::Mechanism with_true_values(const StudySet& set, estimator::Mechanism mechanism);

}  // namespace service
