#include "estimator/assessment/identifiability/combinations.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace estimator {
namespace {

constexpr double kGain = 5.0;        // least gain in relative precision over its members
constexpr double kPoor = 0.01;       // least relative deviation of members
constexpr double kTogether = 0.5;    // least correlation of members
constexpr double kSimplicity = 1.5;  // least gain over a ratio of any other combination

struct Candidate {
  Eigen::Index a = 0, b = 0;
  Combination combination;
  double relative = 0.0;  ///< standard deviation
  double rank = 0.0;
};

std::string in_parentheses(const std::string& unit) {
  return unit.find_first_of("/·") == std::string::npos ? unit : "(" + unit + ")";
}

std::string quotient_unit(const std::string& a, const std::string& b) {
  if (a == b) return "";
  if (b.empty()) return a;
  return (a.empty() ? "1" : a) + "/" + in_parentheses(b);
}

std::string product_unit(const std::string& a, const std::string& b) {
  return a.empty() || b.empty() ? a + b : in_parentheses(a) + "·" + in_parentheses(b);
}

class Search {
 public:
  Search(const std::vector<ParameterEstimate>& parameters, const Uncertainty& uncertainty)
      : parameters_(parameters), uncertainty_(uncertainty) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const ParameterEstimate& estimate = parameters[i];
      const double relative = estimate.standard_deviation / std::abs(estimate.value);
      if (!estimate.at_bound && relative > kPoor) members_.push_back(static_cast<Eigen::Index>(i));
    }
  }

  std::vector<Combination> sharpest() {
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      for (std::size_t j = i + 1; j < members_.size(); ++j) {
        add(members_[i], members_[j], candidates);
      }
    }
    std::ranges::sort(candidates, {}, &Candidate::rank);
    std::vector<std::size_t> group(parameters_.size());
    std::iota(group.begin(), group.end(), 0U);
    std::vector<Combination> chosen;
    for (const Candidate& candidate : candidates) {
      const std::size_t from = group[static_cast<std::size_t>(candidate.b)];
      const std::size_t to = group[static_cast<std::size_t>(candidate.a)];
      if (from == to) continue;
      std::ranges::replace(group, from, to);
      chosen.push_back(candidate.combination);
    }
    return chosen;
  }

 private:
  const ParameterEstimate& at(Eigen::Index i) const {
    return parameters_[static_cast<std::size_t>(i)];
  }
  double relative(Eigen::Index i) const { return at(i).standard_deviation / std::abs(at(i).value); }

  /// Adds the best combination of two parameters if it is precise enough.
  void add(Eigen::Index a, Eigen::Index b, std::vector<Candidate>& candidates) const {
    const ParameterEstimate &p = at(a), &q = at(b);
    const Eigen::MatrixXd& noise = uncertainty_.noise_covariance;
    const double apart = std::sqrt(noise(a, a) * noise(b, b));
    const bool are_told = std::isfinite(p.standard_deviation + q.standard_deviation);
    if (are_told && !(std::abs(noise(a, b)) > kTogether * apart)) return;
    std::optional<Candidate> best;
    const auto offer = [&](const char* sign, double value, double by_a, double by_b,
                           const std::string& unit, double handicap) {
      Eigen::VectorXd gradient = Eigen::VectorXd::Zero(std::ssize(parameters_));
      gradient[a] = by_a;
      gradient[b] = by_b;
      if (!is_identifiable(uncertainty_, gradient)) return;
      const double deviation =
          std::sqrt(std::max(variance_of_combination(uncertainty_, gradient), 0.0));
      const double share = deviation / std::abs(value);
      if (!(kGain * share <= std::min(relative(a), relative(b)))) return;
      if (best && best->rank <= handicap * share) return;
      best = {a, b, {p.name + sign + q.name, value, deviation, unit}, share, handicap * share};
    };
    offer(" / ", p.value / q.value, 1.0 / q.value, -p.value / (q.value * q.value),
          quotient_unit(p.unit, q.unit), 1.0);
    offer(" · ", p.value * q.value, q.value, p.value, product_unit(p.unit, q.unit), kSimplicity);
    if (p.unit == q.unit) {
      offer(" + ", p.value + q.value, 1.0, 1.0, p.unit, kSimplicity);
      offer(" − ", p.value - q.value, 1.0, -1.0, p.unit, kSimplicity);
    }
    if (best) candidates.push_back(*best);
  }

  const std::vector<ParameterEstimate>& parameters_;
  const Uncertainty& uncertainty_;
  std::vector<Eigen::Index> members_;
};

}  // namespace

std::vector<Combination> find_combinations(const std::vector<ParameterEstimate>& parameters,
                                           const Uncertainty& uncertainty) {
  return Search(parameters, uncertainty).sharpest();
}

}  // namespace estimator
