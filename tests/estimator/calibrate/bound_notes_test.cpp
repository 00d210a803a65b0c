#include "estimator/assessment/intervals/confidence_intervals.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "service/messages/message_text.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

/// Two correlated friction parameters of a pendulum, with the information matrix S = [1 ρ; ρ 1]/σ².
/// The first is at its lower bound; its unconstrained optimum lies `wish` standard deviations
/// inward.
struct Case {
  Mechanism mechanism = make_pendulum({});
  std::vector<int> estimated;
  ParameterInformation information;

  Case(double rho, double wish) {
    constexpr double kDeviation = 1e-3;
    estimated = {mechanism.find_parameter("1.b"), mechanism.find_parameter("1.tau_c")};
    at(0).value = at(0).lower = 0.0;
    at(1).value = 0.1;
    Eigen::Matrix2d S;
    S << 1.0, rho, rho, 1.0;
    S /= kDeviation * kDeviation;
    information.valid = true;
    information.schur = S;
    information.group_schur = {S};
    information.at_bound.setZero(2);
    information.at_bound[0] = -1;
    information.undetermined = {false, false};
    information.inverse = Eigen::Matrix2d::Zero();
    information.inverse(1, 1) = 1.0 / S(1, 1);
    // The score that changes the first parameter by `wish` standard deviations if the second is
    // free.
    const double left = (1.0 - rho * rho) / (kDeviation * kDeviation);
    information.group_score = {wish * std::sqrt(left) * Eigen::VectorXd::Unit(2, 0)};
  }
  Parameter& at(std::size_t i) {
    return mechanism.parameters[static_cast<std::size_t>(estimated[i])];
  }
  std::string note(const std::vector<int>& profiled = {0}) const {
    const auto notes = describe_parameters_at_bounds(mechanism, estimated, information,
                                                     Eigen::VectorXd::Ones(1), profiled);
    return notes.size() == 1 ? service::format_message(notes.front()) : "";
  }
};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// With ρ = 0.8 the first parameter has a standard deviation of 1e-3/0.6. If its optimum is 0.355
// deviations beyond the bound, the true value may be 1.29 deviations inward at 95 %, 2.15e-3. This
// changes the second parameter by −0.8 times as much, 1.7 standard deviations of 1e-3.
TEST(BoundNotes, ReportChangesOfOtherEstimates) {
  const std::string note = Case(0.8, -0.355).note();
  EXPECT_TRUE(holds(note, "1.b is at its lower bound 0; the recordings also permit")) << note;
  EXPECT_TRUE(holds(note, "values up to 0.0021 N·m·s/rad away from the bound (95 %)") ||
              holds(note, "values up to 0.0022 N·m·s/rad away from the bound (95 %)"))
      << note;
  EXPECT_TRUE(holds(note,
                    "1.tau_c by -0.0017 N·m (1.7 standard deviations); the intervals of these "
                    "parameters include the changes"))
      << note;
}

// Without a profile of the parameter, for example because the fit did not converge, the intervals
// of others do not include their changes.
TEST(BoundNotes, ReportThatOtherIntervalsAssumeTheBoundWithoutAProfile) {
  const std::string note = Case(0.8, -0.355).note({1});
  EXPECT_TRUE(holds(note, "the intervals of these parameters assume the value at the bound"))
      << note;
}

TEST(BoundNotes, OmitNegligibleChangesOfOtherEstimates) {
  const std::string note = Case(0.1, 0.0).note();
  EXPECT_TRUE(holds(note, "changes no other estimate by half a standard deviation")) << note;
  EXPECT_FALSE(holds(note, "tau_c")) << note;
}

// An optimum thirty standard deviations beyond a physical bound indicates a modelling error.
TEST(BoundNotes, ReportOptimaFarBeyondABound) {
  const std::string note = Case(0.5, -30.0).note();
  EXPECT_TRUE(holds(note, "the best fit lies 30 standard deviations beyond this bound")) << note;
  EXPECT_TRUE(holds(note, "all other intervals assume this value")) << note;
}

// At an upper bound inward means downward.
TEST(BoundNotes, HandleUpperBounds) {
  Case mirrored(0.8, 0.355);
  mirrored.information.at_bound[0] = 1;
  mirrored.at(0).upper = 0.0;
  const std::string note = mirrored.note();
  EXPECT_TRUE(holds(note, "1.b is at its upper bound 0")) << note;
  EXPECT_TRUE(holds(note, "1.tau_c by 0.0017 N·m")) << note;
}

/// Half-width of the interval at the bound.
double reach(const Case& of) {
  const Eigen::VectorXd reaches =
      compute_interval_widths_at_bounds(of.information, Eigen::VectorXd::Ones(1));
  EXPECT_EQ(reaches.tail(reaches.size() - 1).norm(), 0.0) << "what is at no bound";
  return reaches[0];
}

// As in the notes: 1.29 standard deviations of 1e-3/0.6, inward of either bound.
TEST(IntervalWidthsAtBounds, AreTheWidthsOfOneSidedIntervals) {
  EXPECT_NEAR(reach(Case(0.8, -0.355)), 1.29e-3 / 0.6, 1e-9);
  Case upper(0.8, 0.355);
  upper.information.at_bound[0] = 1;
  EXPECT_NEAR(reach(upper), 1.29e-3 / 0.6, 1e-9);
  EXPECT_EQ(reach(Case(0.5, -30.0)), 0.0) << "the best fit lies";
  Case inside(0.8, 0.0);
  inside.information.at_bound[0] = 0;
  EXPECT_EQ(reach(inside), 0.0);
}

TEST(IntervalWidthsAtBounds, AreInfiniteWithoutInformation) {
  Case unseen(0.0, 0.0);
  unseen.information.schur(0, 0) = unseen.information.group_schur[0](0, 0) = 0.0;
  EXPECT_EQ(reach(unseen), HUGE_VAL);
}

// The second parameter is split into two of which only the sum is identifiable. The interval of the
// first must not change.
TEST(IntervalWidthsAtBounds, IncludeChangesOfOtherParameters) {
  Case split(0.8, -0.355);
  ParameterInformation& information = split.information;
  const Eigen::Matrix2d two = information.schur;
  Eigen::Matrix3d S;
  S << two(0, 0), two(0, 1), two(0, 1), two(0, 1), two(1, 1), two(1, 1), two(0, 1), two(1, 1),
      two(1, 1);
  information.schur = S;
  information.group_schur = {S};
  information.at_bound.setZero(3);
  information.at_bound[0] = -1;
  information.undetermined = {false, true, true};
  information.inverse = Eigen::Matrix3d::Zero();
  information.inverse.bottomRightCorner(2, 2).setConstant(0.25 / two(1, 1));
  information.group_score = {Eigen::Vector3d(information.group_score[0][0], 0.0, 0.0)};
  EXPECT_NEAR(reach(split), 1.29e-3 / 0.6, 1e-9);
}

TEST(BoundNotes, AreOmittedForParametersWithinTheirBounds) {
  Case inside(0.8, 0.0);
  inside.information.at_bound[0] = 0;
  EXPECT_TRUE(describe_parameters_at_bounds(inside.mechanism, inside.estimated, inside.information,
                                            Eigen::VectorXd::Ones(1), {})
                  .empty());
}

}  // namespace
}  // namespace estimator
