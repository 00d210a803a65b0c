#include "service/report/state_csv.hpp"

#include <algorithm>
#include <iterator>

#include "service/text/csv_row.hpp"

namespace service {
namespace {

using estimator::StateEstimate;

/// Name of a joint state in requests, and endings of its CSV columns for each joint type.
struct Quantity {
  const char* name;
  const char* turn;
  const char* slide;
};

// In the order of StateQuantity and JointLoad.
constexpr Quantity kQuantities[] = {{"angle", "rad", "m"},
                                    {"rate", "rad_per_s", "m_per_s"},
                                    {"acceleration", "rad_per_s2", "m_per_s2"},
                                    {"effort", "effort_Nm", "effort_N"},
                                    {"motor", "motor_Nm", "motor_N"},
                                    {"friction", "friction_Nm", "friction_N"},
                                    {"moment", "moment_x_Nm", "moment_x_Nm"},
                                    {"moment", "moment_y_Nm", "moment_y_Nm"},
                                    {"moment", "moment_z_Nm", "moment_z_Nm"},
                                    {"force", "force_x_N", "force_x_N"},
                                    {"force", "force_y_N", "force_y_N"},
                                    {"force", "force_z_N", "force_z_N"}};
static_assert(std::size(kQuantities) == estimator::kStateQuantities);

struct Column {
  Eigen::Index index;
  std::string name;
  bool is_control = false;  ///< a control, without a standard deviation
};

std::vector<Column> columns_of(const estimator::Mechanism& mechanism,
                               const std::vector<int>& wanted) {
  std::vector<Column> columns;
  Eigen::Index motor = 0;
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    const estimator::Joint& joint = mechanism.joints[static_cast<std::size_t>(j)];
    for (const int quantity : wanted) {
      if (!estimator::is_observable(mechanism, j, quantity)) continue;
      const Quantity& facts = kQuantities[quantity];
      columns.push_back({StateEstimate::column(j, quantity),
                         joint.name + "_" + (joint.traits().turns ? facts.turn : facts.slide)});
    }
    if (!joint.motorised) continue;
    if (includes_angles(wanted)) columns.push_back({motor, joint.name + "_control", true});
    ++motor;
  }
  return columns;
}

}  // namespace

bool includes_angles(const std::vector<int>& wanted) {
  return std::ranges::count(wanted, static_cast<int>(estimator::StateQuantity::kAngle)) > 0;
}

std::vector<std::string> state_names() {
  std::vector<std::string> names;
  for (const Quantity& each : kQuantities) names.emplace_back(each.name);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

std::vector<int> state_quantities(const std::string& name) {
  std::vector<int> quantities;
  for (int i = 0; i < estimator::kStateQuantities; ++i) {
    if (name == kQuantities[i].name) quantities.push_back(i);
  }
  return quantities;
}

std::string state_csv(const estimator::Mechanism& mechanism,
                      const std::vector<StateEstimate>& estimates, const std::vector<int>& wanted) {
  const std::vector<Column> columns = columns_of(mechanism, wanted);
  std::vector<std::string> cells = {"recording", "t_s"};
  for (const Column& column : columns) {
    cells.push_back(column.name);
    if (!column.is_control) cells.push_back(column.name + "_sd");
  }
  std::string text = csv_row(cells);
  for (const StateEstimate& estimate : estimates) {
    for (std::size_t k = 0; k < estimate.times.size(); ++k) {
      const auto row = static_cast<Eigen::Index>(k);
      cells = {estimate.recording, csv_number(estimate.start + estimate.times[k])};
      for (const Column& column : columns) {
        if (column.is_control) {
          cells.push_back(csv_number(estimate.controls(row, column.index)));
          continue;
        }
        cells.push_back(csv_number(estimate.values(row, column.index)));
        cells.push_back(csv_number(estimate.deviations(row, column.index)));
      }
      text += csv_row(cells);
    }
  }
  return text;
}

}  // namespace service
