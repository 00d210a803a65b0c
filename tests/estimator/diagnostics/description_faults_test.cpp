#include "estimator/diagnostics/description/description_errors.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "service/messages/message_table.hpp"
#include "service/messages/message_text.hpp"
#include "tests/estimator/body_encoder.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"
#include "tests/support/mechanisms/reference_rigs.hpp"
#include "tests/support/mechanisms/rollout.hpp"

namespace estimator {
namespace {

using namespace test_support;
using service::describe_finding;

constexpr double kNoise = 1e-3;        // [rad]
constexpr double kFaultPeriod = 4e-3;  // [s]

struct Described {
  Mechanism mechanism;
  std::vector<Recording> recordings;
};

/// A driven Furuta pendulum with a correct description except for the start values. Free gains
/// start at half of the truth, inertias at 1.7 times.
Described driven() {
  const Eigen::VectorXd u = sampled(1000, kFaultPeriod, [](double t) {
    return 2.0 * std::sin(3.0 * t) + 1.5 * std::sin(8.1 * t + 1.0);
  });
  Described rig{mechanism_of(viscous_furuta()),
                {record(viscous_furuta(), {0.2, 0.5, 0.0, 0.0}, u, kFaultPeriod, kNoise, 7)}};
  free_parameters(rig.mechanism, {"A.J_zz", "B.J_yy", "B.J_zz", "1.b", "2.b", "1.K"}, 1.7);
  return rig;
}

/// The same rig released with its motor off.
Described released() {
  Described rig{mechanism_of(viscous_furuta()),
                {record(viscous_furuta(), {0.2, 2.0, 0.0, 0.0}, Eigen::VectorXd::Zero(1000),
                        kFaultPeriod, kNoise, 8)}};
  free_parameters(rig.mechanism, {"A.J_zz", "B.J_yy", "B.J_zz", "1.b", "2.b"}, 1.7);
  return rig;
}

/// Readings from a simulation, with noise.
std::vector<Recording> noisy(const Eigen::MatrixXd& angles, unsigned seed) {
  return {{"noisy", {undriven(with_noise(angles, kNoise, seed), kFaultPeriod)}}};
}

/// A double pendulum without friction, described by relative angles.
Described two_links() {
  Eigen::MatrixXd angles =
      test_support::simulate(ReferenceChain(), Eigen::Vector4d(1.2, 0.4, 0.0, 0.0), kFaultPeriod,
                             999)
          .leftCols(2);
  angles.col(1) -= angles.col(0).eval();
  return {freed(make_chain({.links = 2}), {"L1.J_zz", "L2.J_zz"}, 0.4), noisy(angles, 9)};
}

/// Returns the hypothesis of an error in a channel. Its correction of a correct rig injects the
/// error.
DescriptionHypothesis hypothesis_of(const Mechanism& mechanism, MessageCode error,
                                    const std::string& channel) {
  for (DescriptionHypothesis& each : list_common_description_errors(mechanism, {})) {
    if (each.message.code == error && each.channel == channel) return std::move(each);
  }
  ADD_FAILURE() << "no hypothesis " << service::find_message_row(error).id << " of " << channel;
  return {};
}

std::vector<Finding> findings_with(const Described& rig, const DescriptionHypothesis& planted) {
  return examine_description(corrected_mechanism(rig.mechanism, planted),
                             corrected_recordings(rig.recordings, planted))
      .findings;
}

struct Case {
  MessageCode error;
  std::string channel;
};

// Each identifiable error must be reported as a fault. The error must be among the causes, since
// some errors are equivalent: a zero that is half a turn off, and a centre of mass on the other
// side.
void expect_found(const Described& rig, const Case& planted) {
  const DescriptionHypothesis hypothesis =
      hypothesis_of(rig.mechanism, planted.error, planted.channel);
  SCOPED_TRACE(service::format_message(hypothesis.message));
  const std::vector<Finding> findings = findings_with(rig, hypothesis);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].severity, Severity::kFault);
  ASSERT_EQ(findings[0].message.code, MessageCode::kDescriptionError);
  const auto& causes =
      std::get<std::vector<estimator::Message>>(*findings[0].message.find("causes"));
  const auto text = [](const estimator::Message& message) {
    return service::format_message(message);
  };
  EXPECT_EQ(std::ranges::count(causes, text(hypothesis.message), text), 1)
      << describe_finding(findings[0]).what;
  EXPECT_EQ(describe_finding(findings[0]).kind, service::find_message_row(causes.front().code).id);
  for (const Message& cause : causes) {
    const std::string advice =
        service::fill_template(service::find_message_row(cause.code).advice, cause);
    EXPECT_NE(describe_finding(findings[0]).advice.find(advice), std::string::npos) << advice;
  }
}

TEST(DescriptionErrors, AreFoundForADrivenRig) {
  const Described rig = driven();
  for (const Case& planted :
       {Case{MessageCode::kInvertedEncoder, "1"}, Case{MessageCode::kInvertedEncoder, "2"},
        Case{MessageCode::kInvertedMotor, "1"}, Case{MessageCode::kZeroOffByHalfTurn, "2"},
        Case{MessageCode::kSwappedEncoders, "1,2"}, Case{MessageCode::kWrongPointSign, "2"},
        Case{MessageCode::kReversedGravity, "gravity.g"}}) {
    expect_found(rig, planted);
  }
}

TEST(DescriptionErrors, AreFoundForAReleasedRig) {
  const Described rig = released();
  for (const Case& planted :
       {Case{MessageCode::kInvertedEncoder, "1"}, Case{MessageCode::kInvertedEncoder, "2"},
        Case{MessageCode::kZeroOffByHalfTurn, "2"}, Case{MessageCode::kWrongPointSign, "1"}}) {
    expect_found(rig, planted);
  }
}

TEST(DescriptionErrors, AreFoundForAPendulumChain) {
  const Described rig = two_links();
  for (const Case& planted :
       {Case{MessageCode::kInvertedEncoder, "1"}, Case{MessageCode::kInvertedEncoder, "2"},
        Case{MessageCode::kZeroOffByHalfTurn, "1"}, Case{MessageCode::kZeroOffByHalfTurn, "2"},
        Case{MessageCode::kSwappedEncoders, "1,2"}, Case{MessageCode::kWrongPointSign, "1"}}) {
    expect_found(rig, planted);
  }
}

// Degrees and radians, absolute and relative angles: the correction of one error injects the other.
TEST(DescriptionErrors, IncludeUnitsAndReferencesInBothDirections) {
  const Described rig = two_links();
  const auto expect = [&](const DescriptionHypothesis& planted, const std::string& reported) {
    const std::vector<Finding> findings = findings_with(rig, planted);
    ASSERT_EQ(findings.size(), 1U) << reported;
    EXPECT_NE(describe_finding(findings[0]).what.find(reported), std::string::npos)
        << describe_finding(findings[0]).what;
  };
  expect(hypothesis_of(rig.mechanism, MessageCode::kAbsoluteAngle, "2"),
         "does not include the angle of joint \"1\"");
  expect(hypothesis_of(rig.mechanism, MessageCode::kAngleWithoutParent, "2"), "is absolute");
  const auto scaled = [](double factor) {
    return DescriptionHypothesis{
        .message = {}, .channel = "", .correct_segment = [=](Segment& s) { s.angles *= factor; }};
  };
  expect(scaled(M_PI / 180.0), "every angle is in radians, not in degrees");
  expect(scaled(180.0 / M_PI), "every angle is in degrees, not in radians");
}

/// Links that swing without friction, read by absolute angles.
Described described_absolute(int links) {
  const ReferenceChain truth{.links = links};
  Eigen::VectorXd start = Eigen::VectorXd::Zero(2 * links);
  start.head(links) = Eigen::VectorXd::LinSpaced(links, 1.2, -0.3);
  Described rig{make_chain({.links = links}),
                noisy(test_support::simulate(truth, start, kFaultPeriod, 999).leftCols(links), 10)};
  for (int i = 1; i < links; ++i) {
    rig.mechanism.joints[static_cast<std::size_t>(i)].measured = false;
    const std::string name = "inclination" + std::to_string(i + 1);
    add_body_encoder(rig.mechanism, name, Joint::kGround, i, 0.0);
    parameter_of(rig.mechanism, name + ".offset").free = false;
  }
  rig.mechanism.parameter(0, BodyParameter::kJzz).free = true;
  return rig;
}

// Relative angles described as absolute ones: of one body, and of all of three links.
TEST(DescriptionErrors, IncludeRelativeAnglesDescribedAsAbsolute) {
  for (const int links : {2, 3}) {
    Described rig = described_absolute(links);
    EXPECT_TRUE(examine_description(rig.mechanism, rig.recordings).findings.empty());
    Eigen::MatrixXd& angles = rig.recordings[0].segments[0].angles;
    for (Eigen::Index i = links - 1; i > 0; --i) angles.col(i) -= angles.col(i - 1);
    const std::vector<Finding> findings =
        examine_description(rig.mechanism, rig.recordings).findings;
    ASSERT_EQ(findings.size(), 1U) << links;
    EXPECT_EQ(findings[0].severity, Severity::kFault);
    const std::string reported = links == 2
                                     ? "the angle of encoder \"inclination2\" is relative to the "
                                       "angle of joint \"1\", but described as absolute"
                                     : "every angle is relative to the preceding body";
    EXPECT_NE(describe_finding(findings[0]).what.find(reported), std::string::npos)
        << describe_finding(findings[0]).what;
  }
}

// The reverse, for three links: no single change explains it.
TEST(DescriptionErrors, IncludeAbsoluteAnglesOfAllLinks) {
  Described rig = described_absolute(3);
  rig.mechanism = make_chain({.links = 3});
  rig.mechanism.parameter(0, BodyParameter::kJzz).free = true;
  const std::vector<Finding> findings = examine_description(rig.mechanism, rig.recordings).findings;
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_NE(describe_finding(findings[0]).what.find("every angle is absolute"), std::string::npos)
      << describe_finding(findings[0]).what;
}

// A free zero that is far off is found by a fit, reported, and used as the start of the estimate.
// One close by needs no report.
TEST(DescriptionErrors, ProvideInitialValuesForFreeEncoderZeros) {
  for (const int joint : {0, 1}) {
    for (const double shift : {M_PI, -1.2, 0.3}) {
      SCOPED_TRACE(std::to_string(joint) + " by " + std::to_string(shift));
      Described rig = two_links();
      Parameter& offset = rig.mechanism.joint_parameter(joint, JointParameter::kEncoderOffset);
      offset.free = true;
      rig.recordings[0].segments[0].angles.col(joint).array() -= shift;
      const DescriptionExamination found = examine_description(rig.mechanism, rig.recordings);
      if (shift == 0.3) {
        EXPECT_TRUE(found.findings.empty());
        EXPECT_TRUE(found.starts.empty());
        continue;
      }
      ASSERT_EQ(found.findings.size(), 1U);
      EXPECT_NE(
          describe_finding(found.findings[0]).what.find(shift == M_PI ? "half a turn" : "1.2"),
          std::string::npos)
          << describe_finding(found.findings[0]).what;
      if (found.findings[0].severity == Severity::kFault) continue;
      ASSERT_EQ(found.starts.size(), 1U);
      EXPECT_EQ(found.starts[0].parameter,
                rig.mechanism.joint_parameter_index(joint, JointParameter::kEncoderOffset));
      EXPECT_NEAR(std::remainder(found.starts[0].value - shift, 2.0 * M_PI), 0.0, 0.06);
      EXPECT_LT(std::abs(found.starts[0].value), 3.3);
    }
  }
}

// A shifted zero is found at any angle, and its value is reported.
TEST(DescriptionErrors, IncludeAShiftedEncoderZero) {
  for (const double shift : {0.7, -1.9}) {
    Described rig = two_links();
    rig.recordings[0].segments[0].angles.col(1).array() -= shift;
    const std::vector<Finding> findings =
        examine_description(rig.mechanism, rig.recordings).findings;
    ASSERT_EQ(findings.size(), 1U);
    EXPECT_EQ(describe_finding(findings[0]).kind, "shifted-zero");
    EXPECT_EQ(findings[0].channel, "2");
    // 0.01 turns is close enough for a start; the calibration does the rest.
    EXPECT_NEAR(findings[0].size, shift, 0.06);
  }
}

// Two errors: the second is found after the first is corrected.
TEST(DescriptionErrors, AreFoundInPairs) {
  const Described rig = driven();
  Described faulty = rig;
  for (const auto& [error, channel] :
       {std::pair{MessageCode::kInvertedMotor, "1"}, {MessageCode::kZeroOffByHalfTurn, "2"}}) {
    const DescriptionHypothesis planted = hypothesis_of(rig.mechanism, error, channel);
    faulty.mechanism = corrected_mechanism(faulty.mechanism, planted);
    faulty.recordings = corrected_recordings(faulty.recordings, planted);
  }
  const std::vector<Finding> findings =
      examine_description(faulty.mechanism, faulty.recordings).findings;
  EXPECT_FALSE(findings.empty());
}

/// The rig of driven() with an unknown random torque on its pendulum [N·m, root mean square].
Described disturbed(double torque) {
  constexpr int kSteps = 8;  // of the simulation per sample
  Described rig = driven();
  Mechanism actual = mechanism_of(viscous_furuta());
  actual.joints[1].motor.present = true;
  actual.joint_parameter(1, JointParameter::kMotorGain).value = torque;
  Segment& segment = rig.recordings[0].segments[0];
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  Eigen::MatrixXd controls(kSteps * (segment.angles.rows() - 1), 2);
  double walk = 0.0;
  for (Eigen::Index k = 0; k < controls.rows(); ++k) {
    walk = 0.99 * walk + 0.14 * normal(random);
    controls.row(k) << segment.controls(k / kSteps, 0), walk;
  }
  const Eigen::MatrixXd motion = rollout(actual, Eigen::Vector2d(0.2, 0.5), Eigen::Vector2d::Zero(),
                                         controls, segment.period / kSteps);
  for (Eigen::Index k = 0; k < segment.angles.rows(); ++k) {
    segment.angles.row(k) = motion.row(kSteps * k);
  }
  segment.angles = with_noise(segment.angles, kNoise, 7);
  return rig;
}

// The torque on the pendulum remains unexplained in each trial, so that no trial fits. The inverted
// encoder of the arm is nevertheless the only error that explains the arm's accelerations.
TEST(DescriptionErrors, OfOneJointAreFoundBesideErrorsOfAnother) {
  const Described rig = disturbed(0.1);
  expect_found(rig, {MessageCode::kInvertedEncoder, "1"});
  for (const Finding& finding : examine_description(rig.mechanism, rig.recordings).findings) {
    EXPECT_EQ(finding.message.code, MessageCode::kUnexplainedMotion);
  }
}

TEST(DescriptionErrors, AreNotReportedForACorrectDescription) {
  for (const Described& rig : {driven(), released(), two_links()}) {
    EXPECT_TRUE(examine_description(rig.mechanism, rig.recordings).findings.empty());
  }
}

// Friction missing in the description is not mistaken for a wrong sign.
TEST(DescriptionErrors, AreNotReportedForAnotherFrictionLaw) {
  Described rig = driven();
  for (const char* name : {"1.b", "2.b"}) {
    Parameter& parameter = parameter_of(rig.mechanism, name);
    parameter.free = false;
    parameter.value = 0.0;
  }
  EXPECT_TRUE(examine_description(rig.mechanism, rig.recordings).findings.empty());
}

// A trial fit can start from the states of another fit, and then has the same residuals before the
// first iteration.
TEST(TrialFit, StartsFromTheStatesOfAnotherFit) {
  const Described rig = driven();
  TrialFit ended(rig.mechanism, rig.recordings);
  ended.run_coarse_fit(nullptr);
  ended.run_fine_fit(nullptr);
  const std::atomic<bool> stop = true;
  TrialFit beside(ended.mechanism(), rig.recordings, &ended);
  beside.run_fine_fit(&stop);
  EXPECT_NEAR(beside.misfit(), ended.misfit(), 0.05 * ended.misfit());
  TrialFit alone(ended.mechanism(), rig.recordings);
  alone.run_fine_fit(&stop);
  EXPECT_GT(alone.misfit(), 3.0 * ended.misfit());
}

/// A pendulum without friction that rotates at about 50 rad/s, read every `period`.
Described whirling(double period) {
  const ReferencePendulum truth;
  const Eigen::MatrixXd motion =
      test_support::simulate(truth, Eigen::Vector2d(0.0, 50.0), period, 400);
  return {freed(pendulum_of(truth), {"P.J_zz"}), {{"whirling", {undriven(motion.col(0), period)}}}};
}

// A joint that turns too far between samples is reported as not checked. A joint that turns half as
// far is checked.
TEST(DescriptionErrors, AreNotTestedIfAJointTurnsTooFarBetweenSamples) {
  const Described fast = whirling(0.02);
  const auto findings = examine_description(fast.mechanism, fast.recordings).findings;
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].message.code, MessageCode::kDescriptionNotChecked);
  EXPECT_EQ(findings[0].severity, Severity::kNote);
  const std::string what = describe_finding(findings[0]).what;
  EXPECT_NE(what.find("in 100 % of the examined rows"), std::string::npos) << what;
  EXPECT_NE(what.find("0.7 rad within 20 ms"), std::string::npos) << what;
  const Described slower = whirling(0.01);
  for (const Finding& finding : examine_description(slower.mechanism, slower.recordings).findings) {
    EXPECT_NE(finding.message.code, MessageCode::kDescriptionNotChecked);
  }
}

// A completely mirrored rig is a valid rig, so no recording reveals it.
TEST(DescriptionErrors, AreNotReportedForAMirroredRig) {
  Described rig = driven();
  rig.recordings[0].segments[0].angles *= -1.0;
  rig.recordings[0].segments[0].controls *= -1.0;
  EXPECT_TRUE(examine_description(rig.mechanism, rig.recordings).findings.empty());
}

// A single released pendulum swings the same to the left and to the right.
TEST(DescriptionErrors, AreNotReportedIfIndistinguishable) {
  const ReferencePendulum truth{.b = 2e-4};
  const Eigen::MatrixXd motion = test_support::simulate(truth, {1.5, 0.0}, kFaultPeriod, 999);
  Mechanism mechanism = freed(pendulum_of(truth), {"P.J_zz", "1.b"}, 0.5);
  const Segment segment = undriven(-motion.col(0), kFaultPeriod);
  EXPECT_TRUE(examine_description(mechanism, {{"pendulum", {segment}}}).findings.empty());
}

/// Replaces readings by a random walk, which no description error explains.
void walk_randomly(Eigen::Ref<Eigen::VectorXd> readings) {
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  double walk = 0.0, rate = 0.0;
  for (double& angle : readings) {
    rate = 0.98 * rate + 0.3 * normal(random);
    walk += kFaultPeriod * rate;
    angle = walk;
  }
}

// A misfit that no description error explains is reported as unexplained.
TEST(DescriptionErrors, ReportAnUnexplainedMisfit) {
  Described rig = two_links();
  walk_randomly(rig.recordings[0].segments[0].angles.col(1));
  const std::vector<Finding> findings = examine_description(rig.mechanism, rig.recordings).findings;
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].message.code, MessageCode::kUnexplainedMotion);
  EXPECT_EQ(findings[0].severity, Severity::kWarning);
}

// Commands in another unit than the gain's, such as currents, are no common description error. With
// a fixed gain, the advice is to estimate it.
TEST(DescriptionErrors, AdviseToEstimateFixedGains) {
  for (const bool is_fixed : {true, false}) {
    Described rig = driven();
    for (auto column : rig.recordings[0].segments[0].angles.colwise()) walk_randomly(column);
    rig.mechanism.at(rig.mechanism.find_parameter("1.K")).free = !is_fixed;
    const std::vector<Finding> findings =
        examine_description(rig.mechanism, rig.recordings).findings;
    ASSERT_EQ(findings.size(), 1U);
    ASSERT_EQ(findings[0].message.code, MessageCode::kUnexplainedMotion);
    EXPECT_EQ(describe_finding(findings[0]).advice.find("--free '*.K'") != std::string::npos,
              is_fixed);
  }
}

// Recordings that cannot be calibrated are left to the calibration to refuse.
TEST(DescriptionErrors, IgnoreUnusableRecordings) {
  const Described rig = two_links();
  EXPECT_TRUE(examine_description(rig.mechanism, {}).findings.empty());
  std::vector<Recording> still = rig.recordings;
  still[0].segments[0].angles.setZero();
  EXPECT_TRUE(examine_description(rig.mechanism, still).findings.empty());
}

TEST(DescriptionErrors, StopOnRequest) {
  const Described rig = two_links();
  const DescriptionHypothesis planted =
      hypothesis_of(rig.mechanism, MessageCode::kInvertedEncoder, "2");
  const std::atomic<bool> stop = true;
  CalibrationMonitor monitor;
  monitor.stop = &stop;
  EXPECT_TRUE(examine_description(corrected_mechanism(rig.mechanism, planted),
                                  corrected_recordings(rig.recordings, planted), monitor)
                  .findings.empty());
}

}  // namespace
}  // namespace estimator
