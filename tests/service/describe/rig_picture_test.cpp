#include "service/rig/drawing/rig_picture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

#include "estimator/simulation/statics/equilibrium.hpp"
#include "service/rig/drawing/scene.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/refusal.hpp"

namespace service {
namespace {

using namespace test_support;

Rig load(const std::string& name) { return load_rig(config(name)); }

std::string split_into_words(const Rig& rig) {
  std::string all;
  for (const auto& line :
       describe_rest_position(rig, estimator::find_stable_equilibrium(rig.mechanism)))
    all += line + "\n";
  return all;
}

// A name that does not fit into its body's outline is placed beside it, not across an edge. One
// that fits stays near.
TEST(LabelLayout, LeavesAnOutlineThatIsTooSmall) {
  const Eigen::Vector2d middle(200.0, 200.0), letter(7.3, 15.0);
  for (const double half : {26.0, 80.0}) {
    ProjectedScene picture;
    picture.lines.push_back(
        {LineRole::kBody,
         {middle + Eigen::Vector2d(-half, -0.6 * half), middle + Eigen::Vector2d(half, -0.6 * half),
          middle + Eigen::Vector2d(half, 0.6 * half), middle + Eigen::Vector2d(-half, 0.6 * half),
          middle + Eigen::Vector2d(-half, -0.6 * half)},
         false});
    picture.signs.push_back({Symbol::kMass, middle, Eigen::Vector2d::Zero()});
    picture.labels.push_back({LineRole::kBody, middle, "cart"});
    const PlacedLabel label =
        place_labels(picture, letter, 9.0, Eigen::Vector2d(400.0, 400.0)).front();
    const Eigen::Vector2d low = label.low - middle, high = label.high - middle;
    const Eigen::Vector2d edge(half, 0.6 * half);
    const bool inside = (low.array() > -edge.array()).all() && (high.array() < edge.array()).all();
    const bool outside = (low.array() > edge.array()).any() || (high.array() < -edge.array()).any();
    EXPECT_TRUE(half < 50.0 ? outside : inside) << low.transpose() << ", " << high.transpose();
  }
}

// Every rig is drawn completely: each joint's name at its arrow, nothing outside the page, no NaN.
TEST(RigPicture, DrawsEveryConfig) {
  int drawn = 0;
  for (const auto& entry : std::filesystem::directory_iterator(config(""))) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with("rig-")) continue;
    SCOPED_TRACE(file);
    const Rig rig = load(file);
    const RigPicture picture(rig, {});
    const std::string svg = picture.svg();
    EXPECT_TRUE(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    EXPECT_EQ(svg.find("nan"), std::string::npos);
    EXPECT_EQ(svg.find("inf"), std::string::npos);
    for (const estimator::Joint& joint : rig.mechanism.joints) {
      EXPECT_NE(svg.find(">+" + joint.name + "<"), std::string::npos) << joint.name;
    }
    for (const estimator::Body& body : rig.mechanism.bodies) {
      EXPECT_NE(svg.find(">" + body.name + "<"), std::string::npos) << body.name;
    }
    ++drawn;
  }
  EXPECT_GE(drawn, 14);
}

// The arrow starts at the zero mark and points in the joint's positive direction: a body turned by
// the arrow's angle lies at its tip.
TEST(Scene, ArrowsPointThePositiveWay) {
  for (const char* file : {"rig-pendulum.textproto", "rig-furuta.textproto"}) {
    const Rig rig = load(file);
    const int n = rig.mechanism.joint_count();
    const Scene zero = make_scene(rig, Eigen::VectorXd::Zero(n));
    std::vector<SceneLine> arrows;
    for (const SceneLine& line : zero.lines) {
      if (line.ink == LineRole::kPositive) arrows.push_back(line);
    }
    ASSERT_EQ(arrows.size(), static_cast<std::size_t>(n));
    for (int j = 0; j < n; ++j) {
      const SceneLine& arrow = arrows[static_cast<std::size_t>(j)];
      const Eigen::Vector3d begin = arrow.points.front(), tip = arrow.points.back();
      const Scene turned = make_scene(rig, Eigen::VectorXd::Unit(n, j) * (M_PI / 3.6));
      // The body that moves with the joint then passes through the arrow's tip.
      double nearest = 1.0;
      for (const SceneLine& line : turned.lines) {
        if (line.ink != LineRole::kBody) continue;
        for (std::size_t k = 1; k < line.points.size(); ++k) {
          const Eigen::Vector3d along = line.points[k] - line.points[k - 1];
          const double share =
              std::clamp((tip - line.points[k - 1]).dot(along) / along.squaredNorm(), 0.0, 1.0);
          nearest = std::min(nearest, (line.points[k - 1] + share * along - tip).norm());
        }
      }
      EXPECT_LT(nearest, 1e-9) << file << " joint " << j;
      EXPECT_GT((tip - begin).norm(), 0.01);
    }
  }
}

// Other sensors are drawn at their place, with their mounted axes, and listed.
TEST(Scene, ShowsEverySensor) {
  const Rig rig = parse_rig("r.textproto", R"(
body { name: "A" mass { value: 0.5 }
  inertia { xx { value: 0.001 } yy { value: 0.004 } zz { value: 0.004 } } }
joint { name: "1"
  parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "A" point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
  encoder { } motor { control_unit: "V" gain { value: 0.1 } } }
inertial_sensor { name: "tip" body: "A" point { x { value: 0.2 } } x_axis { x: 1 } y_axis { y: 1 }
  mounting { z { value: 1.5707963267948966 } } gyroscope { } accelerometer { } }
force_torque_sensor { name: "flange" joint: "1" point { x { value: 0.03 } } moment { } force { } }
torque_sensor { name: "shaft" joint: "1" }
torque_sensor { name: "coil" joint: "1" measured_torque: MOTOR }
position_sensor { name: "camera" body: "A" point { x { value: 0.1 } }
  x_axis { y: -1 } y_axis { x: 1 } }
distance_sensor { name: "wire" body: "A" point { x { value: 0.15 } }
  anchor { x { value: 0.5 } y { value: 0.25 } } }
gravity { magnitude { value: 9.81 } }
)");
  // Hanging: A's x points down, its y to the right.
  const Scene scene = make_scene(rig, Eigen::VectorXd::Zero(1));
  std::vector<Eigen::Vector3d> cases, around, tips, ends;
  for (const SceneSymbol& symbol : scene.symbols) {
    if (symbol.symbol == Symbol::kSensor) cases.push_back(symbol.at);
    if (symbol.symbol == Symbol::kLoadSensor) around.push_back(symbol.at);
  }
  for (const SceneLine& line : scene.lines) {
    if (line.ink != LineRole::kSensor) continue;
    (line.arrow ? tips : ends).push_back((line.points[1] - line.points[0]).normalized());
    if (line.arrow) continue;
    EXPECT_LT((line.points[0] - Eigen::Vector3d(0.5, 0.25, 0.0)).norm(), 1e-12);
  }
  const auto expect_heights = [](const auto& points, const std::vector<double>& heights) {
    ASSERT_EQ(points.size(), heights.size());
    for (std::size_t k = 0; k < heights.size(); ++k) {
      EXPECT_LT((points[k] - heights[k] * Eigen::Vector3d::UnitY()).norm(), 1e-9) << k;
    }
  };
  expect_heights(cases, {-0.3, -0.2, -0.25});
  expect_heights(around, {0.0, 0.0, -0.03});
  EXPECT_EQ(ends.size(), 1U);
  ASSERT_EQ(tips.size(), 9U);
  const Eigen::Vector3d right = Eigen::Vector3d::UnitX(), up = Eigen::Vector3d::UnitY();
  EXPECT_LT((tips[0] - right).norm(), 1e-9) << "a quarter turn about z";
  EXPECT_LT((tips[1] - up).norm(), 1e-9);
  EXPECT_LT((tips[3] + up).norm(), 1e-9);
  EXPECT_LT((tips[6] + up).norm(), 1e-9) << "the camera's are fixed";
  EXPECT_LT((tips[7] - right).norm(), 1e-9);

  std::string words;
  for (const auto& line : describe_joints(rig, Eigen::VectorXd::Zero(1))) words += line + "\n";
  expect_parts(words, {"tip: gyroscope and accelerometer on A; x to the right, y upward",
                       "flange: moment and force that 1 exerts on A; x downward, y to the right",
                       "shaft: torque of 1\n", "coil: torque of the motor of 1\n",
                       "camera: position of a point of A; x downward, y to the right",
                       "wire: distance of a point of A from (0.5, 0.25, 0) m of the ground"});
  const std::string svg = RigPicture(rig, {}).svg();
  expect_parts(svg, {">tip x<", ">flange x<", ">shaft<", ">coil<", ">camera x<", ">wire<"});
}

// A loop is drawn closed: both bodies meet at the joint that closes it.
TEST(Scene, LoopsAreClosed) {
  const Rig rig = load("rig-fourbar.textproto");
  const auto rest = estimator::find_stable_equilibrium(rig.mechanism);
  ASSERT_TRUE(rest.has_value());
  const Scene scene = make_scene(rig, rest->coordinates);
  std::vector<Eigen::Vector3d> coupler, rocker;
  for (const SceneLine& line : scene.lines) {
    if (line.ink != LineRole::kBody || line.points.size() < 2) continue;
    (coupler.empty() && std::abs((line.points[0] - line.points[1]).norm() - 0.28) < 0.002
         ? coupler
         : rocker) = line.points;
  }
  ASSERT_FALSE(coupler.empty());
  double nearest = 1.0;
  for (const auto& a : coupler) {
    for (const auto& b : rocker) nearest = std::min(nearest, (a - b).norm());
  }
  EXPECT_LT(nearest, 1e-8);
}

// A planar rig is viewed along its axes, a Furuta pendulum first obliquely: its motion is spatial.
TEST(View, ShowsTheMotion) {
  const auto views_of = [](const char* file) {
    const Rig rig = load(file);
    return choose_scene_views(make_scene(rig, Eigen::VectorXd::Zero(rig.mechanism.joint_count())));
  };
  const auto plane = views_of("rig-chain3.textproto");
  ASSERT_EQ(plane.size(), 1U);
  EXPECT_EQ(plane[0].name, "from the front");
  EXPECT_NEAR(plane[0].right.x(), 1.0, 1e-12);
  EXPECT_NEAR(plane[0].up.y(), 1.0, 1e-12);
  const auto furuta = views_of("rig-furuta.textproto");
  ASSERT_EQ(furuta.size(), 3U);
  EXPECT_EQ(furuta[1].name, "from above");
  EXPECT_EQ(furuta[2].name, "from the right");
  for (const Eigen::Vector3d& axis : {Eigen::Vector3d(1, 0, 0), Eigen::Vector3d(0, 1, 0)}) {
    EXPECT_LT(std::abs(axis.dot(furuta[0].toward)), 0.8);
  }
}

// ω² = m g l / (J + m l²) with the file's values: 0.428, 0.092, 0.01.
TEST(RestWords, DescribeRestAndSwings) {
  const double rate = std::sqrt(0.428 * 9.82 * 0.092 / (0.01 + 0.428 * 0.092 * 0.092));
  char swing[64];
  std::snprintf(swing, sizeof swing, "hangs at pivot = 0°; swings at %.3g Hz", rate / (2.0 * M_PI));
  expect_parts(split_into_words(load("rig-pendulum.textproto")),
               {swing, "upright (pivot = 180°) is unstable"});
  expect_parts(split_into_words(load("rig-furuta.textproto")),
               {"hangs at 2 = 0°", "1 turns freely"});
  expect_parts(split_into_words(load("rig-cartpole.textproto")),
               {"rail slides freely", "mm of rail"});
  expect_parts(split_into_words(load("rig-fivebar.textproto")), {"rests at O1 = 120.3°", " Hz"});
  // The rocker hangs from R, about a quarter of a turn below world x, where its angle is zero.
  expect_parts(split_into_words(load("rig-fourbar.textproto")), {"O = -82.7°", "R = -97.26°"});
}

// It rests at its stop, which keeps it from zero.
TEST(RigPicture, IsDrawnAtRestWithinTheStops) {
  const Rig rig = load("rig-pendulum-stop.textproto");
  expect_parts(RigPicture(rig, {}).svg(),
               {"shown at 11.46°", "comes to rest at its stop first, at 11.46°"});
  // A requested position is used.
  expect_parts(RigPicture(rig, {{"pivot", 0.5}}).svg(), {"shown at 28.65°"});
}

TEST(RigPicture, AcceptsJointPositions) {
  EXPECT_EQ(parse_joint_coordinate("1=0.5").value, 0.5);
  EXPECT_NEAR(parse_joint_coordinate("1=-90deg").value, -M_PI / 2.0, 1e-15);
  for (const char* wrong : {"1", "=2", "1=", "1=x", "1=nan", "1=2rad", "1=deg"}) {
    EXPECT_NE(refusal([&] { parse_joint_coordinate(wrong); }).find("NAME=VALUE"),
              std::string::npos);
  }
  const Rig furuta = load("rig-furuta.textproto");
  expect_parts(RigPicture(furuta, {{"2", M_PI / 2.0}}).svg(), {"shown at 90°", "shown at 0°"});
  expect_parts(refusal([&] { RigPicture(furuta, {{"3", 0.0}}); }), {"no such joint", "1, 2"});
  expect_parts(refusal([&] { RigPicture(furuta, {{"2", 0.0}, {"2", 1.0}}); }), {"twice"});
  const Rig cart = load("rig-cartpole.textproto");
  expect_parts(refusal([&] { RigPicture(cart, {parse_joint_coordinate("rail=30deg")}); }),
               {"rail", "slides", "in m"});
  expect_parts(RigPicture(cart, {parse_joint_coordinate("pivot=30deg")}).svg(), {"shown at 30°"});
  // The rocker would end 0.5 m from O, but crank and coupler reach only 0.38 m.
  const Rig loop = load("rig-fourbar.textproto");
  expect_parts(refusal([&] { RigPicture(loop, {{"R", 0.0}}); }), {"cannot be closed"});
  expect_parts(RigPicture(loop, {{"O", 1.0}}).svg(), {"shown at 57.3°"});
}

// Plain ASCII where nothing else can be shown, dot patterns elsewhere; no line wider than
// requested.
TEST(RigPicture, FitsATerminal) {
  const Rig rig = load("rig-furuta.textproto");
  const RigPicture picture(rig, {});
  const std::string plain =
      render_scene_text(make_scene(rig, Eigen::Vector2d::Zero()), 60, 20, CharacterSet::kAscii);
  int width = 0;
  for (const char c : plain) {
    EXPECT_LT(static_cast<unsigned char>(c), 0x80);
    width = c == '\n' ? 0 : width + 1;
    EXPECT_LE(width, 60);
  }
  EXPECT_NE(plain.find("+2"), std::string::npos) << plain;
  EXPECT_NE(picture.text(60, 20, CharacterSet::kBraille).find("●"), std::string::npos);
}

// A swing-up's commands depend on the motion: on a rig at rest they are a kick only. The plot shows
// both, also for a rig file without a unit, and every viewer can draw it.
TEST(SimulationPicture, ShowsMotionAndCommand) {
  const TemporaryFolder folder;
  const std::string svg = folder.file("plan.svg");
  const std::string what = "simulate --step 2e-3 --rig " +
                           config("rig-synthetic-furuta.textproto") + " --scenario " +
                           config("scenario-swing-up.textproto");
  run_successfully(what + " --plot " + svg);
  const std::string picture = contents_of(svg);
  expect_parts(picture, {"<svg", "angle 1", "angle 2", "command of 1", "command [V]"});
  EXPECT_EQ(picture.find("var("), std::string::npos);
  run_refused(what, {"--out", "--plot"});
}

TEST(RigPicture, IsWrittenByInfo) {
  const TemporaryFolder folder;
  const std::string svg = folder.file("rig.svg");
  const std::string rig = config("rig-pendulum.textproto");
  run_successfully("info " + rig + " --picture " + svg + " --at pivot=30deg",
                   {"hangs at pivot = 0°", svg});
  expect_parts(contents_of(svg), {"<svg", "shown at 30°"});
  run_refused("info " + rig + " --picture " + rig, {});
  for (const std::string& picture :
       {"info " + rig + " --picture " + folder.file("rig.gif"),
        "simulate --rig " + rig + " --scenario " + config("scenario-pendulum-release.textproto") +
            " --plot " + folder.file("rig.gif")}) {
    run_refused(picture, {"rig.gif: give a name that ends in .svg"});
    EXPECT_FALSE(std::filesystem::exists(folder.file("rig.gif")));
  }
  run_refused("info " + rig + " --at pivot=1", {"--picture"});
  run_successfully("info " + rig + " --picture -", {"+pivot", "seen from the front"});
}

}  // namespace
}  // namespace service
