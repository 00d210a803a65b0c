// Bodies with air drag, from the rig file to the reported results.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/diagnostics/misfit/misfit_causes.hpp"
#include "service/messages/message_text.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/support/parameters.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;

// One statement per line, so that messages can be located.
const std::string kArmsInAir = R"(name: "arms"
body { name: "A" mass { value: 0.1 }
  inertia { xx { value: 1e-3 } yy { value: 1e-3 } zz { value: 5e-4 free: true } } }
body {
  name: "B"
  mass { value: 0.12 }
  inertia { xx { value: 1e-3 } yy { value: 1e-3 } zz { value: 9e-4 free: true } }
  air_drag { coefficient { value: 2e-3 free: true } point { x { value: 0.05 } } }
}
joint {
  name: "1"
  parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "A" point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
  friction { viscous { value: 1e-4 free: true } }
  encoder { }
}
joint {
  name: "2"
  parent { body: "A" point { x { value: 0.07 } } axis { z: 1 } zero_direction { x: 1 } }
  child { body: "B" point { x { value: -0.12 } } axis { z: 1 } zero_direction { x: 1 } }
  friction { viscous { value: 1e-4 free: true } }
  encoder { }
}
gravity { magnitude { value: 9.81 } }
)";

std::string with(const std::string& from, const std::string& to) {
  return replaced(kArmsInAir, from, to);
}

const std::string kDrag = "coefficient { value: 2e-3 free: true } ";

/// The rig's truth, by independent equations: two arms in a plane, absolute angles from hanging.
struct ArmsInAir {
  double m1 = 0.1, J1 = 6e-4, m2 = 0.12, J2 = 1.1e-3, b1 = 2e-4, b2 = 5e-5;
  double c = 0.006, g = 9.81;
  double l1 = 0.1, L1 = 0.17, l2 = 0.12, r = 0.17;  // of the drag's point from the second joint

  Eigen::Vector4d slope(const Eigen::Vector4d& x) const {
    const double p1 = x[0], p2 = x[1], w1 = x[2], w2 = x[3];
    const Eigen::Vector2d e1(std::cos(p1), std::sin(p1)), e2(std::cos(p2), std::sin(p2));
    const Eigen::Vector2d v = L1 * w1 * e1 + r * w2 * e2, force = c * v.norm() * v;
    const double s = m2 * L1 * l2 * std::sin(p1 - p2), M12 = m2 * L1 * l2 * std::cos(p1 - p2);
    const double M11 = J1 + m1 * l1 * l1 + m2 * L1 * L1, M22 = J2 + m2 * l2 * l2;
    const double joint = b2 * (w2 - w1);
    const double Q1 = -s * w2 * w2 - (m1 * l1 + m2 * L1) * g * std::sin(p1) - b1 * w1 + joint -
                      L1 * e1.dot(force);
    const double Q2 = s * w1 * w1 - m2 * l2 * g * std::sin(p2) - joint - r * e2.dot(force);
    const double det = M11 * M22 - M12 * M12;
    return {w1, w2, (M22 * Q1 - M12 * Q2) / det, (M11 * Q2 - M12 * Q1) / det};
  }
};

/// Readings of both joints, the second relative to the first, with noise.
estimator::Recording swing_in_air(const ArmsInAir& arms, double noise) {
  constexpr double kPeriod = 2e-3;
  constexpr int kRows = 2000, kSteps = 4;
  std::mt19937 random(4);
  std::normal_distribution<double> error(0.0, noise);
  estimator::Segment segment;
  segment.period = kPeriod;
  segment.angles.resize(kRows, 2);
  segment.controls.resize(kRows, 0);
  Eigen::Vector4d x(1.6, 2.3, 0.0, 0.0);
  for (int k = 0; k < kRows; ++k) {
    segment.angles.row(k) << x[0] + error(random), x[1] - x[0] + error(random);
    for (int i = 0; i < kSteps; ++i) {
      const double h = kPeriod / kSteps;
      const Eigen::Vector4d a = arms.slope(x), b = arms.slope(x + 0.5 * h * a),
                            c = arms.slope(x + 0.5 * h * b), d = arms.slope(x + h * c);
      x += h / 6.0 * (a + 2.0 * b + 2.0 * c + d);
    }
  }
  return {"swing", {segment}};
}

// Drag, inertias and friction must match the truth of the independent equations.
TEST(AirDragOfRigs, IsEstimated) {
  const ArmsInAir truth;
  const Rig rig = parse_rig("r", kArmsInAir);
  const estimator::Calibration result =
      estimator::calibrate(rig.mechanism, {swing_in_air(truth, 2e-4)});
  ASSERT_TRUE(result.converged());
  EXPECT_TRUE(result.null_directions.empty());
  for (const auto& [name, value] : {std::pair{"A.J_zz", truth.J1},
                                    {"B.J_zz", truth.J2},
                                    {"1.b", truth.b1},
                                    {"2.b", truth.b2},
                                    {"B.c_air", truth.c}}) {
    const auto estimate =
        std::ranges::find(result.parameters, name, &estimator::ParameterEstimate::name);
    ASSERT_NE(estimate, result.parameters.end()) << name;
    EXPECT_NEAR(estimate->value, value, 3.5 * estimate->standard_deviation) << name;
    EXPECT_LT(estimate->standard_deviation, 0.05 * value) << name;
  }
}

// Drag missing in the description is reported with its coefficient. For a single arm air drag is
// not reported: it equals drag of its joint.
TEST(AirDragOfRigs, IsReportedIfMissingInTheDescription) {
  const ArmsInAir truth{.r = 0.12};  // at the centre of mass, which the diagnostics try
  const std::string drag = "  air_drag { " + kDrag + "point { x { value: 0.05 } } }\n";
  const Rig rig = parse_rig("r", with(drag, ""));
  const auto reported = [&](const ArmsInAir& arms) {
    const estimator::Recording own = swing_in_air(arms, 2e-4);
    return estimator::find_misfit_causes(estimator::calibrate(rig.mechanism, {own}), rig.mechanism,
                                         {own});
  };
  const std::vector<estimator::Finding> findings = reported(truth);
  ASSERT_FALSE(findings.empty());
  const FindingText text = describe_finding(findings[0]);
  EXPECT_EQ(text.kind, "air-drag") << text.what;
  const std::size_t at = text.what.find("B.c_air ");
  ASSERT_NE(at, std::string::npos) << text.what;
  EXPECT_NEAR(std::stod(text.what.substr(at + 8)), truth.c, 0.05 * truth.c);
  EXPECT_EQ(text.what.find("A.c_air"), std::string::npos) << text.what;
  EXPECT_TRUE(reported({.c = 0.0}).empty());
}

TEST(AirDragOfRigs, IsReadWithItsPoint) {
  const Rig rig = parse_rig("r", kArmsInAir);
  const estimator::Parameter& drag = parameter_of(rig.mechanism, "B.c_air");
  EXPECT_EQ(drag.value, 2e-3);
  EXPECT_TRUE(drag.free);
  EXPECT_EQ(drag.lower, 0.0);
  EXPECT_EQ(drag.unit, "N·s²/m²");
  EXPECT_EQ(parameter_of(rig.mechanism, "B.air_x").value, 0.05);
  EXPECT_TRUE(estimator::has_air_drag(rig.mechanism, 1));
  EXPECT_FALSE(estimator::has_air_drag(rig.mechanism, 0));
}

// Points are given in the body's frame, independent of its centre of mass.
TEST(AirDragOfRigs, ActsAtAPointOfTheBodysFrame) {
  const std::string centre = "  center_of_mass { x { value: 0.02 free: true } }\n  air_drag";
  for (const std::string& drag : {kDrag, std::string()}) {
    std::string text = replaced(with("  air_drag", centre), kDrag, drag);
    if (drag.empty()) {
      text += "dependency { parameter: \"B.c_air\" term { parameter: \"1.b\" factor: 10 } }\n";
    }
    const Rig rig = parse_rig("r", text);
    EXPECT_NEAR(parameter_of(rig.mechanism, "B.air_x").value, 0.03, 1e-15);
  }
  const std::string free_point = with("x { value: 0.05 }", "x { value: 0.05 free: true }");
  std::string both = replaced(free_point, "  air_drag", centre);
  expect_parts(refusal([&] { (void)parse_rig("r", both); }),
               {"r:8", "\"B.air_x\"", "Fix the point"});
  EXPECT_TRUE(parameter_of(parse_rig("r", free_point).mechanism, "B.air_x").free);
}

TEST(AirDragOfRigs, IsRefusedWithPlaceCauseAndRemedy) {
  const std::pair<std::string, std::vector<std::string>> bad[] = {
      {with(kDrag, ""),
       {"r:8", "body \"B\"", "no coefficient", "Write coefficient { value: ... }"}},
      {with("coefficient { value: 2e-3", "coefficient { value: -2e-3"), {"r:8", "-0.002"}},
      {with("coefficient { value: 2e-3", "coefficient { value: nan"), {"r:8"}},
  };
  for (const auto& [text, parts] : bad) {
    const std::string message = refusal([&] { (void)parse_rig("r", text); });
    expect_parts(message, parts);
    EXPECT_EQ(std::ranges::count(message, '\n'), 0) << message;
  }
}

}  // namespace
}  // namespace service
