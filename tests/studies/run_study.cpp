#include <algorithm>

#include "tests/studies/study_kinds.hpp"

namespace service {
namespace {

using StudyFunction = std::optional<StudyReport> (*)(const Study&, const std::vector<LoadedSet>&,
                                                     const TaskRunner&);

struct Kind {
  const char* name;
  StudyFunction run;
};

const Kind& kind_of(StudyKind kind) {
  static constexpr Kind kKinds[] = {// in the order of StudyKind
                                    {"pendulum", study_pendulum},
                                    {"furuta", study_furuta},
                                    {"synthetic", study_synthetic},
                                    {"robustness", study_robustness},
                                    {"redundant", study_redundant},
                                    {"leg", study_leg},
                                    {"arm", study_arm}};
  return kKinds[static_cast<std::size_t>(kind)];
}

/// Reports how many runs converged, unless the study has already reported its result.
void conclude(StudyReport& report) {
  if (!report.outcome.empty()) return;
  const auto converged = std::count_if(report.runs.begin(), report.runs.end(),
                                       [](const StudyRun& run) { return run.converged; });
  report.outcome = std::to_string(converged) + " of " + std::to_string(report.runs.size()) +
                   " runs converged; the others are listed in the tables.";
}

}  // namespace

std::optional<StudyReport> run_study(const Study& study, const std::vector<LoadedSet>& sets,
                                     const TaskRunner& run) {
  std::optional<StudyReport> report = kind_of(study.kind).run(study, sets, run);
  if (!report) return report;
  report->title =
      study.title.empty() ? std::string("Study: ") + kind_of(study.kind).name : study.title;
  conclude(*report);
  return report;
}

}  // namespace service
