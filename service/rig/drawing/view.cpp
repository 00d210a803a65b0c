#include "service/rig/drawing/scene.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "service/text/number_format.hpp"

namespace service {
namespace {

using Eigen::Vector2d;
using Eigen::Vector3d;

constexpr double kParallel = 0.999;  // cosine above which axes count as parallel
constexpr double kEdgeOn = 0.3;      // cosine to the view direction below which a slide is visible
constexpr double kStraight = 0.995;  // cosine above which a direction is named by a side
constexpr std::size_t kPlainViewsMax = 2;

/// Returns the axis with the sign that makes it point to the front, right or top.
Vector3d facing(const Vector3d& axis) {
  Eigen::Index largest = 0;
  axis.cwiseAbs().maxCoeff(&largest);
  return axis[largest] < 0.0 ? Vector3d(-axis) : axis;
}

std::vector<Vector3d> directions_of(const std::vector<Vector3d>& axes) {
  std::vector<Vector3d> distinct;
  for (const Vector3d& axis : axes) {
    const bool known = std::ranges::any_of(
        distinct, [&](const Vector3d& other) { return std::abs(other.dot(axis)) > kParallel; });
    if (!known) distinct.push_back(facing(axis.normalized()));
  }
  return distinct;
}

SceneView look(const Vector3d& toward, const Vector3d& scene_up, const std::string& name) {
  Vector3d up = scene_up - toward * toward.dot(scene_up);
  // In a view along the vertical, the front is at the lower edge.
  if (up.norm() < 0.2) up = -Vector3d::UnitZ() + toward * toward.z();
  if (up.norm() < 0.2) up = Vector3d::UnitX() - toward * toward.x();
  up.normalize();
  return {name, toward, up.cross(toward), up};
}

SceneView oblique(const Scene& scene) {
  return look(Vector3d(0.5, 0.5, 0.85).normalized(), scene.up, "from the front, right and above");
}

bool shows(const Vector3d& toward, const std::vector<Vector3d>& slides) {
  return std::ranges::all_of(
      slides, [&](const Vector3d& slide) { return std::abs(slide.dot(toward)) < kEdgeOn; });
}

constexpr double kShort = 0.25;  // projected length below which a unit vector points at the viewer

/// Transformation from world coordinates to the dots of a picture.
class Fit {
 public:
  Fit(const Scene& scene, const SceneView& view, const Vector2d& low, const Vector2d& high)
      : view_(view) {
    Vector2d least = Vector2d::Constant(1e300), most = -least;
    for (const SceneLine& line : scene.lines) {
      for (const Eigen::Vector3d& point : line.points) {
        least = least.cwiseMin(view.flat(point));
        most = most.cwiseMax(view.flat(point));
      }
    }
    const Vector2d extent = (most - least).cwiseMax(1e-9);
    scale_ = (high - low).cwiseQuotient(extent).minCoeff();
    from_ = 0.5 * (least + most);
    to_ = 0.5 * (low + high);
  }

  Vector2d operator()(const Eigen::Vector3d& point) const {
    const Vector2d moved = scale_ * (view_.flat(point) - from_);
    return to_ + Vector2d(moved.x(), -moved.y());
  }

  Vector2d direction(const Eigen::Vector3d& of_world) const {
    const Vector2d flat = view_.flat(of_world);
    return {flat.x(), -flat.y()};
  }

 private:
  const SceneView& view_;
  double scale_;
  Vector2d from_, to_;
};

constexpr int kDirections = 16;
constexpr int kRings = 2;              // number of equally spaced distances
constexpr int kBodyRings = 5;          // for a body's name, which must clear its outline
constexpr double kFirstRing = 0.5;     // cost of leaving the nearest ring
constexpr double kRing = 1.0;          // cost per ring
constexpr double kBodyWeight = 3.0;    // cost of covering a body, relative to a thin line
constexpr double kLabelWeight = 40.0;  // cost of covering a label
constexpr double kOutside = 1000.0;
constexpr double kSampling = 0.4;  // spacing of points on a line [letter height]

/// Point that a label should not cover, with the cost of covering the point.
struct Obstacle {
  Vector2d at;
  double weight;
};

std::vector<Obstacle> obstacles_of(const ProjectedScene& picture, double spacing) {
  std::vector<Obstacle> points;
  for (const ProjectedScene::ProjectedLine& line : picture.lines) {
    const double weight = line.ink == LineRole::kBody ? kBodyWeight : 1.0;
    for (std::size_t k = 1; k < line.points.size(); ++k) {
      const Vector2d along = line.points[k] - line.points[k - 1];
      const int count = std::max(1, static_cast<int>(along.norm() / spacing));
      for (int i = 0; i <= count; ++i) {
        points.push_back({line.points[k - 1] + along * i / count, weight});
      }
    }
  }
  for (const ProjectedScene::ProjectedSymbol& sign : picture.signs) {
    for (const double x : {-1.0, 0.0, 1.0}) {
      for (const double y : {-1.0, 0.0, 1.0}) {
        points.push_back({sign.at + spacing * Vector2d(x, y), 1.0});
      }
    }
  }
  return points;
}

double overlap(const PlacedLabel& a, const PlacedLabel& b) {
  const Vector2d common = a.high.cwiseMin(b.high) - a.low.cwiseMax(b.low);
  return common.minCoeff() > 0.0 ? common.prod() / (a.high - a.low).prod() : 0.0;
}

/// A side of the scene: as the place of the viewer, and as a direction on the page.
struct PageSide {
  const char *seen, *on_page;
};

/// Returns the side to which a direction points most, and whether it points straight to it.
std::pair<PageSide, bool> side_of(const Vector3d& direction) {
  static constexpr PageSide kSides[3][2] = {
      {{"from the right", "to the right"}, {"from the left", "to the left"}},
      {{"from above", "upward"}, {"from below", "downward"}},
      {{"from the front", "toward the front"}, {"from behind", "toward the back"}}};
  Eigen::Index largest = 0;
  const double size = direction.cwiseAbs().maxCoeff(&largest);
  return {kSides[largest][direction[largest] < 0.0 ? 1 : 0], size > kStraight * direction.norm()};
}

}  // namespace

std::string viewing_side_name(const Vector3d& direction) {
  const auto [side, is_straight] = side_of(direction);
  return is_straight ? side.seen : std::string(side.seen) + ", along the axis";
}

std::string describe_page_direction(const Vector3d& direction) {
  const auto [side, is_straight] = side_of(direction);
  return is_straight ? side.on_page : "along its arrow";
}

std::vector<SceneView> choose_scene_views(const Scene& scene) {
  std::vector<Vector3d> directions = directions_of(scene.turns);
  if (directions.empty()) {
    const std::vector<Vector3d> sides = {Vector3d::UnitZ(), Vector3d::UnitX(), Vector3d::UnitY()};
    for (const Vector3d& toward : sides) {
      if (shows(toward, scene.slides)) return {look(toward, scene.up, viewing_side_name(toward))};
    }
    return {oblique(scene)};
  }
  if (directions.size() == 1 && shows(directions[0], scene.slides)) {
    const Vector3d axis = directions[0];
    std::vector<SceneView> views = {look(axis, scene.up, viewing_side_name(axis))};
    const double lean = std::abs(axis.dot(scene.up));
    // A tilted axis is visible only from the side.
    if (lean > 0.03 && lean < kStraight) {
      const Vector3d side = facing(scene.up.cross(axis).normalized());
      views.push_back(look(side, scene.up, viewing_side_name(side)));
    }
    return views;
  }
  std::vector<SceneView> views = {oblique(scene)};
  for (std::size_t k = 0; k < std::min(directions.size(), kPlainViewsMax); ++k) {
    views.push_back(look(directions[k], scene.up, viewing_side_name(directions[k])));
  }
  return views;
}

ProjectedScene project_scene(const Scene& scene, const SceneView& view, const Vector2d& low,
                             const Vector2d& high) {
  const Fit fit(scene, view, low, high);
  ProjectedScene picture;
  for (const SceneLine& line : scene.lines) {
    ProjectedScene::ProjectedLine flat{line.ink, {}, line.arrow};
    for (const Eigen::Vector3d& point : line.points) flat.points.push_back(fit(point));
    picture.lines.push_back(flat);
  }
  for (const SceneSymbol& symbol : scene.symbols) {
    const Vector2d toward = fit.direction(symbol.toward);
    const bool seen = toward.norm() > kShort;
    picture.signs.push_back({symbol.symbol, fit(symbol.at),
                             seen ? Vector2d(toward.normalized()) : Vector2d(Vector2d::Zero())});
  }
  for (const SceneLabel& label : scene.labels) {
    picture.labels.push_back({label.ink, fit(label.at), label.text});
  }
  picture.gravity = scene.gravity.norm() > 0.0 ? fit.direction(scene.gravity.normalized())
                                               : Vector2d(Vector2d::Zero());
  return picture;
}

std::vector<PlacedLabel> place_labels(const ProjectedScene& picture, const Vector2d& letter,
                                      double away, const Vector2d& area) {
  const std::vector<Obstacle> obstacles = obstacles_of(picture, kSampling * letter.y());
  std::vector<PlacedLabel> placed;
  for (const ProjectedScene::ProjectedLabel& label : picture.labels) {
    const Vector2d half(0.5 * letter.x() * display_width(label.text), 0.5 * letter.y());
    PlacedLabel best;
    double least = 1e300;
    const int rings = label.ink == LineRole::kBody ? kBodyRings : kRings;
    for (int k = 0; k < rings * kDirections; ++k) {
      const double turn = 2.0 * M_PI * k / kDirections;
      const int ring = k / kDirections;
      const double distance = away * (1.0 + ring);
      const Vector2d out(std::cos(turn), -std::sin(turn));
      // The box touches a circle about the point.
      const Vector2d center = label.at + distance * out + out.cwiseProduct(half);
      const PlacedLabel candidate{label.ink, label.text, center - half, center + half};
      double cost = ring > 0 ? kFirstRing + kRing * ring : 0.0;
      for (const Obstacle& point : obstacles) {
        const bool inside = (point.at.array() > candidate.low.array() - 1.0).all() &&
                            (point.at.array() < candidate.high.array() + 1.0).all();
        cost += inside ? point.weight : 0.0;
      }
      for (const PlacedLabel& other : placed) cost += kLabelWeight * overlap(candidate, other);
      const bool outside =
          candidate.low.minCoeff() < 0.0 || (area - candidate.high).minCoeff() < 0.0;
      cost += outside ? kOutside : 0.0;
      if (cost < least - 1e-9) {
        least = cost;
        best = candidate;
      }
    }
    placed.push_back(best);
  }
  return placed;
}

}  // namespace service
