#include "service/client/simulation_picture.hpp"

#include "estimator/model/sensor.hpp"
#include "service/study/study_figure.hpp"

namespace service {
namespace {

std::vector<double> column_of(const Eigen::MatrixXd& matrix, Eigen::Index column) {
  const auto values = matrix.col(column);
  return {values.begin(), values.end()};
}

Chart panel(const std::string& title, const std::string& y_label, const char* css_class,
            const std::vector<double>& time, const std::vector<double>& values) {
  Chart chart;
  chart.title = title;
  chart.x_label = "time [s]";
  chart.y_label = y_label;
  chart.series.push_back({.label = "", .css_class = css_class, .x = time, .y = values});
  return chart;
}

}  // namespace

std::string simulation_picture(const Rig& rig, const SimulatedRun& run, const std::string& title) {
  std::vector<double> time;
  for (Eigen::Index k = 0; k < run.angles.rows(); ++k) {
    time.push_back(static_cast<double>(k) * run.period);
  }
  StudyFigure figure;
  figure.title = title;
  figure.columns = 1;
  Eigen::Index column = 0;
  for (const estimator::Sensor& sensor : estimator::sensors_of(rig.mechanism)) {
    const std::string quantity = sensor.units().quantity;
    figure.panels.push_back(panel(quantity + " " + sensor.name,
                                  quantity + " [" + sensor.units().coordinate + "]", "simulated",
                                  time, column_of(run.angles, column++)));
  }
  column = 0;
  for (std::size_t j = 0; j < rig.hinge_facts.size(); ++j) {
    if (!rig.mechanism.hinges[j].motorised) continue;
    figure.panels.push_back(panel("command of " + rig.mechanism.hinges[j].name,
                                  "command [" + rig.hinge_facts[j].control_unit + "]", "control",
                                  time, column_of(run.controls, column++)));
  }
  return figure_file(figure);
}

}  // namespace service
