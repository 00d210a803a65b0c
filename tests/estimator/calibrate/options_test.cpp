#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "estimator/calibrate/calibrate.hpp"
#include "estimator/calibrate/cross_validation.hpp"
#include "estimator/fit/input_checks.hpp"
#include "tests/support/mechanisms/example_mechanisms.hpp"

namespace estimator {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Two seconds at 1 kHz.
std::vector<Recording> recordings() {
  Segment segment;
  segment.period = 1e-3;
  segment.angles = Eigen::VectorXd::LinSpaced(2000, 0.0, 20.0).array().sin();
  segment.controls.resize(2000, 0);
  return {{"swing", {segment}}};
}

Mechanism pendulum() {
  Mechanism mechanism = make_pendulum();
  mechanism.parameter(0, BodyParameter::kJzz).free = true;
  return mechanism;
}

std::string refusal_of(const CalibrationOptions& options) {
  try {
    check_options(options, recordings());
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
  return "";
}

/// Converts to any type, to count the members of an aggregate.
struct AnyValue {
  template <typename Value>
  constexpr operator Value() const {
    return {};
  }
};

template <typename... Members>
constexpr std::size_t member_count() {
  if constexpr (requires { CalibrationOptions{Members{}..., AnyValue{}}; }) {
    return member_count<Members..., AnyValue>();
  }
  return sizeof...(Members);
}

// Detects a member without a row, which the command line and stored results would lack.
static_assert(member_count<>() == std::size(kOptionRows));

// Every numeric option with every kind of invalid number. A mere check for "> 0" would take a NaN
// for "not given", and calibrate with other options than requested.
TEST(CalibrationOptions, ReportTheNameOfAValueOutOfRange) {
  EXPECT_EQ(refusal_of({}), "");
  for (const OptionRow& row : kOptionRows) {
    const auto* member = std::get_if<double CalibrationOptions::*>(&row.member);
    if (member == nullptr) continue;
    const std::string name(row.name);
    const auto with = [&](double value) {
      CalibrationOptions options;
      options.** member = value;
      return refusal_of(options);
    };
    for (const double bad : {kNotANumber, kInfinity, -kInfinity, -2.0}) {
      EXPECT_NE(with(bad).find(name == "step" && bad > 0.0 ? "too long" : name), std::string::npos)
          << name << ' ' << bad << ": " << with(bad);
    }
    EXPECT_EQ(with(0.01), "") << name;
  }
  CalibrationOptions options;
  options.max_iterations = 0;
  EXPECT_EQ(refusal_of(options), "the max-iterations is 0; give a whole number from 1 to 100000");
  options.max_iterations = 1;
  options.filter_cutoff = 0.0;
  EXPECT_EQ(refusal_of(options), "the filter-cutoff is 0; give a number > 0 [Hz]");
}

// A step that gives a segment fewer than ten steps is useless. One that gives more steps than fit
// into memory would fail in an allocation hours later. Values just inside the limits are accepted.
TEST(CalibrationOptions, RejectAStepThatIsTooLongOrTooShort) {
  CalibrationOptions options;
  options.step = 0.2;
  EXPECT_EQ(refusal_of(options), "");
  for (const double step : {0.201, 1e9, 1e300}) {
    options.step = step;
    EXPECT_NE(refusal_of(options).find(
                  "too long: at least 10 steps must fit into the longest segment (2 s)"),
              std::string::npos);
  }
  options.step = 2.1e-7;
  EXPECT_EQ(refusal_of(options), "");
  for (const double step : {1.9e-7, 1e-300}) {
    options.step = step;
    EXPECT_NE(refusal_of(options).find("too short"), std::string::npos);
  }
}

// Every entry point must make that check.
TEST(CalibrationOptions, AreCheckedByEveryEntryPoint) {
  for (const auto kind : {EstimateKind::kPhysical, EstimateKind::kShadow}) {
    CalibrationOptions options;
    options.kind = kind;
    options.step = kNotANumber;
    EXPECT_THROW(calibrate(pendulum(), recordings(), options), std::invalid_argument);
    EXPECT_THROW(evaluate_parameters(pendulum(), recordings(), options), std::invalid_argument);
    EXPECT_THROW(
        cross_validate(pendulum(), {recordings()[0], {"again", recordings()[0].segments}}, options),
        std::invalid_argument);
  }
}

// The same for the mechanism's fields other than parameter values, and for the recordings.
TEST(CalibrationInput, IsRejectedIfItContainsNaN) {
  const auto refuses = [](const auto& spoil) {
    Mechanism mechanism = pendulum();
    spoil(mechanism);
    return !find_mechanism_errors(mechanism).empty();
  };
  EXPECT_FALSE(refuses([](Mechanism&) {}));
  for (const double bad : {kNotANumber, kInfinity}) {
    EXPECT_TRUE(refuses([&](Mechanism& m) { m.joints[0].spook.compliance_linear = bad; }));
    EXPECT_TRUE(refuses([&](Mechanism& m) { m.joints[0].spook.compliance_angular = bad; }));
    EXPECT_TRUE(refuses([&](Mechanism& m) { m.joints[0].spook.damping_time = bad; }));
    EXPECT_TRUE(refuses([&](Mechanism& m) { m.joints[0].spook.stick_speed = bad; }));
    EXPECT_TRUE(refuses([&](Mechanism& m) { m.parameters[0].prior_mean = bad; }));
    EXPECT_TRUE(refuses([&](Mechanism& m) { m.parameters[0].value = bad; }));
    std::vector<Recording> spoilt = recordings();
    spoilt[0].segments[0].period = bad;
    EXPECT_THROW(calibrate(pendulum(), spoilt), std::invalid_argument);
    spoilt = recordings();
    spoilt[0].segments[0].controls.setConstant(2000, 1, bad);
    EXPECT_THROW(calibrate(pendulum(), spoilt), std::invalid_argument);
  }
  EXPECT_TRUE(
      refuses([](Mechanism& m) { m.parameters[0].prior_standard_deviation = kNotANumber; }));
  EXPECT_TRUE(refuses([](Mechanism& m) { m.parameters[0].lower = kNotANumber; }));
}

}  // namespace
}  // namespace estimator
