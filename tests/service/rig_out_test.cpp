#include "service/result/calibrated_rig_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <sstream>
#include <utility>
#include <vector>

#include "proto/text/files.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/service/run_rigcal.hpp"
#include "tests/support/parameters.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;
using estimator::Mechanism;
using estimator::Parameter;
using estimator::ParameterEstimate;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

ParameterEstimate estimate(const std::string& name, double value, double deviation) {
  return {.name = name, .value = value, .standard_deviation = deviation};
}

CalibratedParameters calibrated(std::vector<ParameterEstimate> estimates,
                                std::vector<ParameterEstimate> tied = {}) {
  return {
      .estimates = std::move(estimates), .dependent = std::move(tied), .kept = {}, .headline = "h"};
}

/// Estimates of all free and dependent parameters, with digits that only an exact text keeps.
CalibratedParameters artificial(Mechanism& mechanism, double factor) {
  CalibratedParameters rig{
      .estimates = {}, .dependent = {}, .kept = {}, .headline = "Calibrated by rigcal 1"};
  for (Parameter& parameter : mechanism.parameters) {
    if (!parameter.free) continue;
    const double value = parameter.value * factor + (parameter.value == 0.0 ? 1e-5 / 3.0 : 0.0);
    parameter.value = std::min(std::max(value, parameter.lower), parameter.upper);
    rig.estimates.push_back(estimate(parameter.name, parameter.value, 1e-3 / 7.0));
  }
  estimator::apply_dependencies(mechanism);
  for (const estimator::ParameterDependency& tie : mechanism.dependencies) {
    const Parameter& tied = mechanism.parameters[static_cast<std::size_t>(tie.parameter)];
    rig.dependent.push_back(estimate(tied.name, tied.value, 0.0));
  }
  return rig;
}

void expect_same(const Mechanism& written, const Mechanism& meant) {
  ASSERT_EQ(written.parameters.size(), meant.parameters.size());
  for (std::size_t i = 0; i < meant.parameters.size(); ++i) {
    const Parameter& is = written.parameters[i];
    const Parameter& should = meant.parameters[i];
    EXPECT_EQ(is.value, should.value) << should.name;
    EXPECT_EQ(is.free, should.free) << should.name;
    EXPECT_EQ(is.lower, should.lower) << should.name;
    EXPECT_EQ(is.upper, should.upper) << should.name;
    EXPECT_EQ(is.prior_standard_deviation, should.prior_standard_deviation) << should.name;
    if (std::isfinite(should.prior_standard_deviation)) {
      EXPECT_EQ(is.prior_mean, should.prior_mean) << should.name;
    }
  }
}

/// Every comment of a file, except those inside a chain.
std::vector<std::string> comments_of(const std::string& text) {
  std::vector<std::string> comments;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (const auto at = line.find('#'); at != std::string::npos)
      comments.push_back(line.substr(at + 1));
  }
  return comments;
}

// Every rig in configs: values equal to the last bit, freedom, bounds, priors and comments kept.
// Written twice, the standard deviations must not accumulate.
TEST(RigOut, RoundTripsEveryRig) {
  int rigs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(config(""))) {
    const std::string path = entry.path().string();
    if (!entry.path().filename().string().starts_with("rig-")) continue;
    SCOPED_TRACE(path);
    ++rigs;
    const std::string text = proto::read_file(path);
    Mechanism meant = load_rig(path).mechanism;
    const CalibratedParameters first = artificial(meant, 1.0 + 1e-3 / 3.0);
    const CalibratedRigText written =
        write_calibrated_rig(path, text, first, PriorChange::kUnchanged);
    expect_same(parse_rig(path, written.text).mechanism, meant);
    for (const std::string& comment : comments_of(text)) {
      EXPECT_NE(written.text.find(comment), std::string::npos) << comment;
    }
    EXPECT_EQ(count_of(written.text, "± "), first.estimates.size());
    const CalibratedParameters second = artificial(meant, 1.0 - 1e-3 / 7.0);
    const CalibratedRigText again =
        write_calibrated_rig(path, written.text, second, PriorChange::kUnchanged);
    expect_same(parse_rig(path, again.text).mechanism, meant);
    EXPECT_EQ(count_of(again.text, "± "), second.estimates.size());
    EXPECT_EQ(count_of(again.text, "Calibrated by"), 1U);
  }
  EXPECT_GE(rigs, 13);
}

// The point of air drag is given in the body's frame and stays there, whatever the estimated centre
// of mass. A free point is written.
TEST(RigOut, KeepsThePointOfAirDrag) {
  const std::string head =
      "body { name: \"B\" mass { value: 1 } inertia { xx { value: 1 } yy { value: 1 } "
      "zz { value: 1 free: true } }\n";
  const std::string drag =
      "  air_drag { coefficient { value: 1e-3 free: true } point { x { value: 0.05 ";
  const std::string tail =
      "} } }\n}\njoint { name: \"1\" parent { body: \"ground\" axis { z: 1 } "
      "zero_direction { x: 1 } }\n  child { body: \"B\" point { x { value: -0.2 } } "
      "axis { z: 1 } zero_direction { x: 1 } } encoder { } }\n";
  const std::string centre = "  center_of_mass { x { value: 0.02 free: true } }\n";
  for (const std::string& text :
       {head + centre + drag + tail, head + drag + "free: true " + tail}) {
    Mechanism meant = parse_rig("rig.textproto", text).mechanism;
    const CalibratedParameters found = artificial(meant, 1.5);
    const CalibratedRigText written =
        write_calibrated_rig("rig.textproto", text, found, PriorChange::kUnchanged);
    expect_same(parse_rig("written.textproto", written.text).mechanism, meant);
  }
}

class PendulumOut : public ::testing::Test {
 protected:
  CalibratedRigText write(const CalibratedParameters& rig,
                          PriorChange priors = PriorChange::kUnchanged) {
    return write_calibrated_rig("rig.textproto", text_, rig, priors);
  }
  Mechanism read(const CalibratedRigText& written) {
    return parse_rig("written.textproto", written.text).mechanism;
  }
  void replace(const std::string& from, const std::string& to) {
    text_ = replaced(text_, from, to);
  }

  std::string text_ = R"(# proto-file: proto/rig.proto
body {
  name: "rod"
  mass { value: 0.5 }
  inertia {
    xx { value: 0.01 }  yy { value: 0.01 free: true }
    zz { value: 0.01 free: true }     # about the centre of mass
  }
}
joint {
  name: "p"
  parent { body: "ground" axis { z: 1 } zero_direction { y: -1 } }
  child { body: "rod" point { x { value: -0.1 } } axis { z: 1 } zero_direction { x: 1 } }
	friction { viscous { value: 1e-4; free: true } }
  encoder { }
}
)";
};

TEST_F(PendulumOut, KeepsCommentsInTheirColumnsAndAddsDeviations) {
  const CalibratedRigText written =
      write({.estimates = {estimate("rod.J_zz", 0.0123456789, 1.234e-6),
                           estimate("rod.J_yy", 0.0111, kInfinity), estimate("p.b", 2e-4, 3e-5)},
             .dependent = {},
             .kept = {},
             .headline = "Calibrated by rigcal 9"});
  EXPECT_TRUE(written.notes.empty());
  expect_parts(
      written.text,
      {"# proto-file: proto/rig.proto\n# Calibrated by rigcal 9\nbody {",
       "    zz { value: 12.3456789e-3 free: true }  # ± 0.0012e-3; about the centre of mass\n",
       "yy { value: 0.0111 free: true }  # not identifiable from the data\n",
       "viscous { value: 200e-6; free: true } }  # ± 30e-6\n"});
}

// The estimate of an identifiable moment is written even if it is inconsistent with the fixed ones.
TEST_F(PendulumOut, WritesAMomentInconsistentWithFixedOnes) {
  const CalibratedRigText written = write(calibrated({estimate("rod.J_zz", 0.05, 1e-6)}));
  EXPECT_EQ(parameter_of(read(written), "rod.J_zz").value, 0.05);
}

// Fields that the file omits are added at their place.
TEST_F(PendulumOut, AddsOmittedFields) {
  const CalibratedRigText written = write(calibrated(
      {estimate("p.c", 3e-5, 1e-6), estimate("rod.J_xy", 1e-4, 1e-6), estimate("p.k_s", 0.02, 1e-6),
       estimate("p.offset", 0.01, 1e-3), estimate("gravity.tilt_x", 0.002, 1e-6)}));
  EXPECT_TRUE(written.notes.empty());
  const Mechanism mechanism = read(written);
  EXPECT_EQ(parameter_of(mechanism, "p.c").value, 3e-5);
  EXPECT_EQ(parameter_of(mechanism, "rod.J_xy").value, 1e-4);
  EXPECT_EQ(parameter_of(mechanism, "p.k_s").value, 0.02);
  EXPECT_EQ(parameter_of(mechanism, "p.offset").value, 0.01);
  EXPECT_EQ(parameter_of(mechanism, "gravity.tilt_x").value, 0.002);
}

// Fields that would make a joint driven are not added, nor are parameters of a recording.
TEST_F(PendulumOut, ReportsParametersThatCannotBeWritten) {
  const CalibratedRigText written =
      write({.estimates = {estimate("p slip at 3.2 s", 0.1, 1e-3)},
             .dependent = {},
             .kept = {{.name = "p.J_shaft", .unit = "kg·m²", .value = 1e-5}},
             .headline = "h"});
  ASSERT_EQ(written.notes.size(), 2U);
  expect_parts(written.notes[0], {"p.J_shaft", "motor { }"});
  expect_parts(written.notes[1], {"p slip at 3.2 s", "belongs to the recording"});
}

// A prior without a mean is centred at the earlier value.
TEST_F(PendulumOut, KeepsPriorsOrMakesThem) {
  replace("zz { value: 0.01 free: true }",
          "zz { value: 0.01 free: true prior_standard_deviation: 1e-3 }");
  const CalibratedParameters rig{.estimates = {estimate("rod.J_zz", 0.012, 1e-6)},
                                 .dependent = {},
                                 .kept = {},
                                 .headline = "h"};
  const Parameter kept = parameter_of(read(write(rig)), "rod.J_zz");
  EXPECT_EQ(kept.value, 0.012);
  EXPECT_EQ(kept.prior_mean, 0.01);
  EXPECT_EQ(kept.prior_standard_deviation, 1e-3);
  const Parameter made = parameter_of(read(write(rig, PriorChange::kFromEstimates)), "rod.J_zz");
  EXPECT_EQ(made.prior_mean, 0.012);
  EXPECT_EQ(made.prior_standard_deviation, 1e-6);
}

// A negative value permits a negative excess; a positive estimate must not forbid it.
TEST_F(PendulumOut, KeepsTheBoundThatANegativeValueImplies) {
  replace("friction { viscous",
          "friction { stribeck_torque { value: -1e-3 free: true } "
          "coulomb_torque { value: 0.01 } viscous");
  const Mechanism mechanism = read(write(calibrated({estimate("p.tau_delta", 2e-3, 1e-6)})));
  EXPECT_EQ(parameter_of(mechanism, "p.tau_delta").value, 2e-3);
  EXPECT_LT(parameter_of(mechanism, "p.tau_delta").lower, -1.0);
}

// A dependent value that the file also states must keep satisfying its dependency.
TEST_F(PendulumOut, WritesTiedValuesWhereTheyAreStated) {
  text_ +=
      "quantity { name: \"half\" unit: \"kg·m²\" parameter { value: 0.005 free: true } }\n"
      "dependency { parameter: \"rod.J_xx\" term { parameter: \"half\" factor: 2 } }\n";
  const CalibratedRigText written =
      write(calibrated({estimate("half", 0.006, 1e-6)}, {estimate("rod.J_xx", 0.012, 1e-6)}));
  EXPECT_EQ(parameter_of(read(written), "rod.J_xx").value, 0.012);
  ASSERT_EQ(written.notes.size(), 1U);
  expect_parts(written.notes[0], {"rod.J_xx: depends on other parameters"});
}

// The links of a chain become separate bodies.
TEST(RigOut, WritesAChainsLinks) {
  const std::string path = config("rig-chain3.textproto");
  const CalibratedRigText written = write_calibrated_rig(
      path, proto::read_file(path),
      calibrated({estimate("link1.J_zz", 7.795e-4, 1e-6), estimate("link3.J_zz", 7.805e-4, 1e-6),
                  estimate("joint2.b", 3e-4, 1e-6)}),
      PriorChange::kUnchanged);
  const Mechanism mechanism = parse_rig("written", written.text).mechanism;
  const auto value = [&](const std::string& name) { return parameter_of(mechanism, name).value; };
  EXPECT_EQ(value("link1.J_zz"), 7.795e-4);
  EXPECT_EQ(value("link2.J_zz"), 7.8e-4);
  EXPECT_EQ(value("link3.J_zz"), 7.805e-4);
  EXPECT_EQ(value("joint2.b"), 3e-4);
  ASSERT_EQ(written.notes.size(), 1U);
  expect_parts(written.notes[0], {"chain { }", "bodies and joints"});
  expect_parts(written.text, {"#       zz { value: 7.8e-4 free: true }  # a slender rod"});
}

TEST_F(PendulumOut, WritesIntoAListOfOne) {
  replace("body {\n  name: \"rod\"", "body [ {\n  name: \"rod\"");
  replace("  }\n}\njoint", "  }\n} ]\njoint");
  const Mechanism written =
      read(write(calibrated({estimate("p.b", 1, 1), estimate("rod.J_xy", 1e-4, 1)})));
  EXPECT_EQ(parameter_of(written, "p.b").value, 1.0);
  EXPECT_EQ(parameter_of(written, "rod.J_xy").value, 1e-4);
}

}  // namespace
}  // namespace service
