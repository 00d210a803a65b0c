#include <algorithm>

#include "service/study/study_kinds.hpp"

namespace service {
namespace {

using StudyFunction = std::optional<StudyReport> (*)(const Study&, const std::vector<LoadedSet>&,
                                                     const TaskRunner&);

StudyFunction function_of(StudyKind kind) {
  switch (kind) {
    case StudyKind::kPendulum:
      return study_pendulum;
    case StudyKind::kFuruta:
      return study_furuta;
    case StudyKind::kSynthetic:
      return study_synthetic;
    case StudyKind::kRedundant:
      return study_redundant;
    case StudyKind::kLeg:
      return study_leg;
    case StudyKind::kArm:
      return study_arm;
    case StudyKind::kRobustness:
      break;
  }
  return study_robustness;
}

/// States how many runs converged, unless the study has an outcome.
void conclude(StudyReport& report) {
  if (!report.outcome.empty()) return;
  const auto converged = std::count_if(report.runs.begin(), report.runs.end(),
                                       [](const StudyRun& run) { return run.converged; });
  report.outcome = std::to_string(converged) + " of " + std::to_string(report.runs.size()) +
                   " runs converged; the others are listed in the tables.";
}

}  // namespace

std::string to_string(StudyKind kind) {
  switch (kind) {
    case StudyKind::kPendulum:
      return "pendulum";
    case StudyKind::kFuruta:
      return "furuta";
    case StudyKind::kSynthetic:
      return "synthetic";
    case StudyKind::kRedundant:
      return "redundant";
    case StudyKind::kLeg:
      return "leg";
    case StudyKind::kArm:
      return "arm";
    case StudyKind::kRobustness:
      break;
  }
  return "robustness";
}

std::optional<StudyReport> run_study(const Study& study, const std::vector<LoadedSet>& sets,
                                     const TaskRunner& run) {
  std::optional<StudyReport> report = function_of(study.kind)(study, sets, run);
  if (!report) return report;
  report->title = study.title.empty() ? "Study: " + to_string(study.kind) : study.title;
  conclude(*report);
  return report;
}

}  // namespace service
