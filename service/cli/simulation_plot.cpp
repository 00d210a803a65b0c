#include "service/cli/simulation_plot.hpp"

#include <string_view>
#include <utility>

#include "estimator/model/encoder.hpp"
#include "service/report/charts/chart_figure.hpp"

namespace service {
namespace {

std::vector<double> column_of(const Eigen::MatrixXd& matrix, Eigen::Index column) {
  const auto values = matrix.col(column);
  return {values.begin(), values.end()};
}

/// Replaces the style sheet's variables by their first values, which are the light ones. Browsers
/// support such variables, but most image viewers do not.
std::string without_variables(std::string svg) {
  constexpr std::string_view kUse = "var(";
  for (std::size_t at = svg.find(kUse); at != std::string::npos; at = svg.find(kUse, at)) {
    const std::size_t end = svg.find(')', at);
    if (end == std::string::npos) break;
    const std::string name = svg.substr(at + kUse.size(), end - at - kUse.size()) + ":";
    const std::size_t defined = svg.find(name);
    if (defined == std::string::npos) {
      at = end;
      continue;
    }
    const std::size_t begin = svg.find_first_not_of(' ', defined + name.size());
    svg.replace(at, end + 1 - at, svg.substr(begin, svg.find(';', begin) - begin));
  }
  return svg;
}

}  // namespace

std::string simulation_plot(const Rig& rig, const SimulatedRun& run, const std::string& title) {
  std::vector<double> time;
  for (Eigen::Index k = 0; k < run.angles.rows(); ++k) {
    time.push_back(static_cast<double>(k) * run.period);
  }
  std::vector<Chart> charts;
  Eigen::Index column = 0;
  for (const estimator::Encoder& sensor : estimator::used_encoders(rig.mechanism)) {
    const std::string quantity = sensor.units().quantity;
    charts.push_back(
        time_chart(quantity + " " + sensor.name, quantity + " [" + sensor.units().coordinate + "]",
                   {chart_line("", "simulated", time, column_of(run.angles, column++))}));
  }
  column = 0;
  for (std::size_t j = 0; j < rig.joint_facts.size(); ++j) {
    if (!rig.mechanism.joints[j].motorised) continue;
    charts.push_back(
        time_chart("command of " + rig.mechanism.joints[j].name,
                   "command [" + rig.joint_facts[j].control_unit + "]",
                   {chart_line("", "control", time, column_of(run.controls, column++))}));
  }
  return without_variables(chart_file(title, std::move(charts)));
}

}  // namespace service
