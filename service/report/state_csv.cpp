#include "service/report/state_csv.hpp"

#include "service/text/csv_row.hpp"

namespace service {
namespace {

/// What a column holds, and what its name ends in.
struct Quantity {
  const Eigen::MatrixXd estimator::StateEstimate::* values;
  const Eigen::MatrixXd estimator::StateEstimate::* deviations;
  const char* turn;
  const char* slide;
};

using estimator::StateEstimate;

constexpr Quantity kQuantities[] = {
    {&StateEstimate::angles, &StateEstimate::angle_deviations, "rad", "m"},
    {&StateEstimate::rates, &StateEstimate::rate_deviations, "rad_per_s", "m_per_s"},
    {&StateEstimate::accelerations, &StateEstimate::acceleration_deviations, "rad_per_s2",
     "m_per_s2"}};

}  // namespace

std::string state_csv(const estimator::Mechanism& mechanism,
                      const std::vector<StateEstimate>& estimates) {
  std::vector<std::string> cells = {"recording", "t_s"};
  for (const estimator::Hinge& hinge : mechanism.hinges) {
    for (const Quantity& quantity : kQuantities) {
      const std::string name =
          hinge.name + "_" +
          (hinge.kind == estimator::JointKind::kPrismatic ? quantity.slide : quantity.turn);
      cells.push_back(name);
      cells.push_back(name + "_sd");
    }
  }
  std::string text = csv_row(cells);
  for (const StateEstimate& estimate : estimates) {
    for (std::size_t k = 0; k < estimate.times.size(); ++k) {
      const auto row = static_cast<Eigen::Index>(k);
      cells = {estimate.recording, csv_number(estimate.start + estimate.times[k])};
      for (int j = 0; j < mechanism.hinge_count(); ++j) {
        for (const Quantity& quantity : kQuantities) {
          cells.push_back(csv_number((estimate.*quantity.values)(row, j)));
          cells.push_back(csv_number((estimate.*quantity.deviations)(row, j)));
        }
      }
      text += csv_row(cells);
    }
  }
  return text;
}

}  // namespace service
