#include <algorithm>

#include "proto/text/input_error.hpp"
#include "tests/studies/spook/sweep.hpp"
#include "tests/studies/study_kinds.hpp"

namespace service {
namespace {

/// Recording with its sweeps; each sweep has an entry per method.
struct Section {
  const LoadedSet* set = nullptr;
  std::string recording;
  std::vector<std::vector<SweepRuns>> sweeps;
};

std::string caption_of(const Section& section, const std::vector<SweepRuns>& sweeps) {
  return section.set->set->name + ", " + section.recording + ": " +
         fixed_settings(section.set->set->settings, sweeps.front().axis) +
         ". Bars: two estimated standard deviations. Dotted: true values.";
}

Figure figure_of(const Section& section, const std::vector<SweepRuns>& sweeps) {
  Figure figure;
  figure.name = "figure-" + axis_word(sweeps.front().axis);
  figure.title = "Estimates against the " + axis_label(sweeps.front().axis);
  figure.caption = caption_of(section, sweeps);
  for (const std::string& name : parameter_names(sweeps)) {
    figure.panels.push_back(parameter_panel(sweeps, name, section.set->set->truth));
  }
  for (Chart& panel : error_panels(sweeps)) figure.panels.push_back(std::move(panel));
  return figure;
}

StudyTable table_of(const Section& section, const std::vector<SweepRuns>& sweeps) {
  StudyTable table = sweep_table(sweeps, parameter_names(sweeps), section.set->set->truth);
  table.name = "table-" + axis_word(sweeps.front().axis);
  table.title = "Estimates against the " + axis_label(sweeps.front().axis);
  table.caption = section.set->set->name + ", " + section.recording + ": " +
                  fixed_settings(section.set->set->settings, sweeps.front().axis) + ".";
  return table;
}

}  // namespace

std::optional<StudyReport> study_synthetic(const Study& study, const std::vector<LoadedSet>& sets,
                                           const TaskRunner& run) {
  if (study.sweeps.empty()) throw proto::InputError(study.path + ": has no sweep { }");
  const LoadedSet& set = sets.front();
  const std::shared_ptr<const StudyData>& data = sweep_data(study, set);
  const std::optional<std::vector<std::vector<SweepRuns>>> sweeps =
      run_sweeps(study, set, set.set->models.front(), data, run);
  if (!sweeps) return std::nullopt;
  const Section section{&set, data->name, *sweeps};
  StudyReport report;
  for (const std::vector<SweepRuns>& methods : section.sweeps) {
    report.tables.push_back(table_of(section, methods));
    report.figures.push_back(figure_of(section, methods));
    for (const SweepRuns& sweep : methods) {
      report.runs.insert(report.runs.end(), sweep.runs.begin(), sweep.runs.end());
    }
  }
  return report;
}

}  // namespace service
