#include "service/rig/drawing/label_layout.hpp"

#include <algorithm>
#include <cmath>

#include "service/text/number_format.hpp"

namespace service {
namespace {

using Eigen::Vector2d;

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
  for (const ProjectedScene::Line& line : picture.lines) {
    const double weight = line.ink == LineRole::kBody ? kBodyWeight : 1.0;
    for (std::size_t k = 1; k < line.points.size(); ++k) {
      const Vector2d along = line.points[k] - line.points[k - 1];
      const int count = std::max(1, static_cast<int>(along.norm() / spacing));
      for (int i = 0; i <= count; ++i) {
        points.push_back({line.points[k - 1] + along * i / count, weight});
      }
    }
  }
  for (const ProjectedScene::Sign& sign : picture.signs) {
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

}  // namespace

std::vector<PlacedLabel> place_labels(const ProjectedScene& picture, const Vector2d& letter,
                                      double away, const Vector2d& area) {
  const std::vector<Obstacle> obstacles = obstacles_of(picture, kSampling * letter.y());
  std::vector<PlacedLabel> placed;
  for (const ProjectedScene::Label& label : picture.labels) {
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
