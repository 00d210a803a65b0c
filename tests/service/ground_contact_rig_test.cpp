// Contacts with the ground in rig files: errors, columns, and the robot of the page
// docs/how-to/identify-a-legged-robot.md from simulation to calibration.
#include <gtest/gtest.h>

#include <string>

#include "proto/text/files.hpp"
#include "service/rig/rig_file.hpp"
#include "tests/service/simulated_recording.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/texts.hpp"

namespace service {
namespace {

using namespace test_support;

/// Returns a block of the page on legged robots, by the word after its language.
std::string block_of_page(const std::string& name) {
  const std::string page =
      proto::read_file(source_folder() + "/docs/how-to/identify-a-legged-robot.md");
  const std::string mark = "```textproto " + name + "\n";
  const std::size_t begin = page.find(mark) + mark.size();
  return page.substr(begin, page.find("```", begin) - begin);
}

std::string biped_refusal(const std::string& from, const std::string& to) {
  return refusal([&] { parse_rig("biped", replaced(block_of_page("rig"), from, to)); });
}

TEST(GroundContactRig, RefusesWrongFilesWithPlaceAndRemedy) {
  expect_parts(
      biped_refusal("name: \"left_foot\" body: \"left\"", "name: \"left_foot\" body: \"shin\""),
      {"biped:19:29:", "\"shin\""});
  expect_parts(biped_refusal("start_s: 0.5", "start_s: 0.2"),
               {"biped:21:", "within the phase before it", "do not overlap"});
  expect_parts(biped_refusal("end_s: 0.3", "start_s: 0.4 end_s: 0.3"),
               {"biped:21:", "before it starts", "Correct end_s"});
  expect_parts(biped_refusal("contact: \"right_foot\" column", "contact: \"paw\" column"),
               {"biped:", "no contact is called \"paw\""});
  expect_parts(biped_refusal("viscous { value: 0.1 }", "coulomb_torque { value: 0.1 }"),
               {"dry friction", "transition_speed"});
}

TEST(GroundContactRig, SimulatesStepsAndWritesTheirColumn) {
  const Rig rig = parse_rig("biped", block_of_page("rig"));
  const estimator::Recording recording = simulated_recording(rig, block_of_page("scenario"), 2e-3);
  const estimator::Segment& steps = recording.segments.at(0);
  ASSERT_EQ(steps.contacts.cols(), 2);
  EXPECT_EQ(steps.contacts.col(0).minCoeff(), 1.0);
  for (Eigen::Index k = 0; k < steps.sample_count(); ++k) {
    const double t = steps.time(k);
    EXPECT_EQ(steps.contacts(k, 1), t < 0.3 - 1e-6 || t > 0.5 - 1e-6 ? 1.0 : 0.0) << t;
  }
}

TEST(GroundContactRig, CalibratesTheRobotOfThePage) {
  Rig rig = parse_rig("biped", block_of_page("rig"));
  const estimator::Recording recording = simulated_recording(rig, block_of_page("scenario"), 2e-3);
  const std::map<std::string, double> truth = {
      {"trunk.m", 4.0}, {"trunk.J_zz", 0.05}, {"left.J_zz", 0.006}, {"hip_left.b", 0.1}};
  set_free(rig,
           {{"trunk.m", 5.0}, {"trunk.J_zz", 0.06}, {"left.J_zz", 0.005}, {"hip_left.b", 0.05}});
  const estimator::Calibration result = calibrate_whole(rig, recording);
  EXPECT_TRUE(result.converged());
  for (const estimator::ParameterEstimate& estimate : result.parameters) {
    const double error = estimate.value - truth.at(estimate.name);
    EXPECT_LT(std::abs(error), 4.0 * estimate.standard_deviation)
        << estimate.name << " " << estimate.value << " ± " << estimate.standard_deviation;
    EXPECT_LT(estimate.standard_deviation, 0.2 * truth.at(estimate.name)) << estimate.name;
  }
}

}  // namespace
}  // namespace service
