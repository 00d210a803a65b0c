#include "tests/studies/redundant/redundant_line.hpp"

#include "estimator/dynamics/tree_inverse_dynamics.hpp"
#include "service/report/charts/chart_figure.hpp"

namespace service {
namespace {

template <typename Values>
std::string list_of(const Values& values) {
  std::string text;
  for (const double value : values) text += (text.empty() ? "[" : ",") + format_json_number(value);
  return text + "]";
}

std::string field(const char* name, const std::string& value) {
  return "\"" + std::string(name) + "\":" + value;
}

/// Formats a sensor axis as JSON for other programs.
std::string axis_line(const estimator::InstantAxis& axis, double deviation) {
  const int link =
      axis.quantity == estimator::InstantQuantity::kInertial ? axis.index / 2 : axis.index;
  std::string what;
  if (axis.quantity == estimator::InstantQuantity::kInertial) {
    what = axis.component == 2 ? "rate_z" : axis.component == 3 ? "specific_x" : "specific_y";
  } else {
    what = axis.component == static_cast<int>(estimator::JointLoad::kTorque)   ? "moment_z"
           : axis.component == static_cast<int>(estimator::JointLoad::kForceX) ? "force_x"
                                                                               : "force_y";
  }
  return "{" + field("link", std::to_string(link)) + "," + field("reads", "\"" + what + "\"") +
         "," + field("sensor", std::to_string(axis.index % 2)) + "," +
         field("deviation", format_json_number(deviation)) + "}";
}

}  // namespace

std::string draw_line(const std::vector<LinkLine>& links, estimator::MotionObserver& estimator,
                      const Eigen::VectorXd& truth, const Eigen::VectorXd& prior_mean,
                      const Eigen::VectorXd& readings, const Eigen::VectorXd& motion,
                      const ChainResult& draw) {
  std::string text = "{\"links\":[";
  for (const LinkLine& link : links) {
    if (&link != &links.front()) text += ',';
    text += "{" + field("mass", format_json_number(link.mass)) + "," +
            field("length", format_json_number(link.length)) + "," +
            field("center", format_json_number(link.center)) + "," +
            field("inertia", format_json_number(link.inertia)) + "," +
            field("sensors", list_of(link.sensors)) + "}";
  }
  text += "],\"axes\":[";
  const std::vector<estimator::InstantAxis>& axes = estimator.program().axes();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (i > 0) text += ',';
    text += axis_line(axes[i], estimator.noise().axes[static_cast<Eigen::Index>(i)]);
  }
  return text + "]," + field("truth", list_of(truth)) + "," + field("prior", list_of(prior_mean)) +
         "," + field("readings", list_of(readings)) + "," + field("estimate", list_of(motion)) +
         "," + field("right", draw.near_truth ? "true" : "false") + "," +
         field("seconds", format_json_number(draw.seconds)) + "," +
         field("again_seconds", format_json_number(draw.repeat_seconds)) + "," +
         field("dynamics_error", format_json_number(draw.after.dynamics)) + "}\n";
}

}  // namespace service
