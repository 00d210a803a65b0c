#include "estimator/fit/physical/excerpt.hpp"

#include <algorithm>
#include <cmath>

#include "estimator/fit/physical/shooting/integration_steps.hpp"

namespace estimator {
namespace {

double total_duration(const std::vector<Segment>& segments) {
  double total = 0.0;
  for (const Segment& segment : segments) total += segment.duration();
  return total;
}

void add_window(const ShootingInput& input, std::size_t s, int first, int count, Excerpt& excerpt) {
  const Segment& segment = input.segments[s];
  excerpt.segments.push_back(rows_of(segment, first, count));
  const double spacing = input.state_spacing[s];
  const Eigen::MatrixXd& states = input.states[s];
  const auto column = [&](int sample) {
    return std::min<Eigen::Index>(std::lround(segment.time(sample) / spacing), states.cols() - 1);
  };
  const Eigen::Index begin = column(first);
  excerpt.states.push_back(states.middleCols(begin, column(first + count - 1) - begin + 1));
  excerpt.state_spacing.push_back(spacing);
  const std::vector<std::vector<double>>& steps = input.grid.local_steps;
  if (!steps.empty()) excerpt.local_steps.push_back(steps_from(steps[s], segment.time(first)));
}

}  // namespace

Excerpt whole_of(const ShootingInput& input) {
  return {input.segments, input.states, input.state_spacing, input.grid.local_steps};
}

Excerpt take_excerpt(const ShootingInput& input, double duration, double window) {
  const double total = total_duration(input.segments);
  if (total <= 2.0 * duration) return whole_of(input);
  Excerpt excerpt{.is_whole = false};
  for (std::size_t s = 0; s < input.segments.size(); ++s) {
    const Segment& segment = input.segments[s];
    const double own = segment.duration();
    const int windows = std::max(static_cast<int>(std::lround(duration / total * own / window)), 1);
    if (windows * window >= own) {
      add_window(input, s, 0, segment.sample_count(), excerpt);
      continue;
    }
    for (int w = 0; w < windows; ++w) {
      const double begin = (own - window) * (w + 0.5) / windows;
      const int first = segment.first_sample_from(begin);
      const int last =
          std::min(segment.first_sample_from(begin + window), segment.sample_count() - 1);
      add_window(input, s, first, last - first + 1, excerpt);
    }
  }
  // With many short segments, almost everything would be selected.
  return total <= 2.0 * total_duration(excerpt.segments) ? whole_of(input) : excerpt;
}

}  // namespace estimator
