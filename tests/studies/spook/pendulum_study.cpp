#include "tests/studies/spook/model_fits.hpp"

namespace service {
namespace {

/// Plots measured and simulated readings of each recording for the best model of a set.
Figure trajectories(const ModelFits& fits) {
  Figure figure;
  figure.name = "trajectories-" + file_word(title_of(fits));
  figure.title = "Trajectories: " + title_of(fits);
  figure.caption =
      "Measurements and open-loop simulation from the initial state estimated with the parameters.";
  for (const StudyRun& run : fits.fits) {
    for (const RunJoint& joint : run.joints) {
      Chart chart;
      chart.title = run.place.recording + ", joint " + joint.name;
      chart.x_label = "time [s]";
      const estimator::JointUnits units = joint_units(joint.kind);
      chart.y_label = std::string(units.quantity) + " [" + units.coordinate + "]";
      std::vector<double> times(joint.measured.size());
      for (std::size_t k = 0; k < times.size(); ++k) {
        times[k] = run.start + static_cast<double>(k) * run.spacing;
      }
      chart.series = {{"measured", "measured", times, joint.measured},
                      {"simulated open loop", "simulated", times, joint.simulated}};
      figure.panels.push_back(std::move(chart));
    }
  }
  return figure;
}

/// Plots estimates of a parameter over the recordings of a set, with a line per model.
Figure estimates(const std::vector<const ModelFits*>& models) {
  Figure figure;
  const std::string& set = models.front()->set->set->name;
  figure.name = "estimates-" + file_word(set);
  figure.title = "Estimates: " + set;
  figure.caption =
      "Estimates from each recording, numbered as in the table. Bars: two estimated standard "
      "deviations; parameters that a recording cannot identify are omitted. Dotted: true value, if "
      "known.";
  for (const RunParameter& parameter : models.back()->fits.front().parameters) {
    figure.panels.push_back(estimate_panel(models, parameter));
  }
  return figure;
}

}  // namespace

std::optional<StudyReport> study_pendulum(const Study& study, const std::vector<LoadedSet>& sets,
                                          const TaskRunner& run) {
  const std::optional<std::vector<ModelFits>> all = fit_models(study, sets, run);
  if (!all) return std::nullopt;
  StudyReport report;
  report.runs = runs_of(*all);
  for (const LoadedSet& set : sets) {
    std::vector<const ModelFits*> models;
    for (const ModelFits& fits : *all) {
      if (fits.set == &set) models.push_back(&fits);
    }
    report.tables.push_back(model_table(models));
    for (const ModelFits* fits : models) report.tables.push_back(parameter_table(*fits));
    report.figures.push_back(estimates(models));
    report.figures.push_back(trajectories(*models.back()));
  }
  return report;
}

}  // namespace service
