#include "service/rig/drawing/projected_scene.hpp"

#include <algorithm>

namespace service {
namespace {

using Eigen::Vector2d;

constexpr double kShort = 0.25;  // projected length below which a unit vector points at the viewer

/// Transformation from world coordinates to the dots of a picture.
class Fit {
 public:
  Fit(const Scene& scene, const View& view, const Vector2d& low, const Vector2d& high)
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
  const View& view_;
  double scale_;
  Vector2d from_, to_;
};

}  // namespace

ProjectedScene project_scene(const Scene& scene, const View& view, const Vector2d& low,
                             const Vector2d& high) {
  const Fit fit(scene, view, low, high);
  ProjectedScene picture;
  for (const SceneLine& line : scene.lines) {
    ProjectedScene::Line flat{line.ink, {}, line.arrow};
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

}  // namespace service
