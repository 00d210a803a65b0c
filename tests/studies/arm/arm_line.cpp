#include <Eigen/Core>
#include <string>

#include "service/report/charts/chart_figure.hpp"
#include "tests/studies/arm/arm.hpp"
#include "tests/studies/arm/arm_draw.hpp"

namespace service {
namespace {

/// Formats the elements of a matrix row by row.
template <typename Values>
std::string numbers_of(const Values& values) {
  std::string text = "[";
  for (Eigen::Index row = 0; row < values.rows(); ++row) {
    for (Eigen::Index column = 0; column < values.cols(); ++column) {
      if (text.size() > 1) text += ',';
      text += format_json_number(values(row, column));
    }
  }
  return text + "]";
}

std::string member(const char* name, const std::string& value) {
  return "\"" + std::string(name) + "\":" + value;
}

std::string link_of(const ArmLink& link, const ArmBody& body) {
  const Eigen::Matrix3d inertia = body.second.trace() * Eigen::Matrix3d::Identity() - body.second;
  return "{" + member("mount", numbers_of(link.mount)) + "," +
         member("point", numbers_of(link.point)) + "," +
         member("mass", format_json_number(body.mass)) + "," +
         member("centre", numbers_of(body.centre)) + "," + member("inertia", numbers_of(inertia)) +
         "," + member("viscous", format_json_number(link.viscous)) + "," +
         member("coulomb", format_json_number(link.coulomb)) + "," +
         member("gain", format_json_number(link.gain)) + "," +
         member("shaft", format_json_number(link.shaft)) + "}";
}

std::string arm_of(const Arm& arm, const std::vector<ArmBody>& bodies) {
  std::string text;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    text += i > 0 ? ',' : '[';
    text += link_of(arm.links[i], bodies[i]);
  }
  return text + "]";
}

}  // namespace

std::string arm_line(const StudyArm& arm, double noise, std::uint64_t index) {
  const auto [drawn, clean] = draw_run(arm, arm.duration, index);
  const ArmRun read = recorded_draw(arm, clean, noise, index);
  return "{" + member("noise", format_json_number(noise)) + "," +
         member("draw", std::to_string(index)) + "," +
         member("gravity", format_json_number(drawn.arm.gravity)) + "," +
         member("truth", arm_of(drawn.arm, drawn.bodies)) + "," +
         member("start", arm_of(drawn.start, drawn.start_bodies)) + "," +
         member("period", format_json_number(read.period)) + "," +
         member("angles", numbers_of(read.angles)) + "," +
         member("controls", numbers_of(read.controls)) + "," +
         member("true_rates", numbers_of(clean.rates)) + "}\n";
}

}  // namespace service
