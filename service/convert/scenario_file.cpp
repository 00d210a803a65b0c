#include "service/convert/scenario_file.hpp"

#include <cmath>
#include <utility>

#include "daq/scenario/scenario_message.hpp"
#include "proto/text/files.hpp"
#include "proto/text/text_file.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;

/// Reads one scenario message for a rig.
class ScenarioReader {
 public:
  ScenarioReader(const std::string& path, const v1::Scenario& source,
                 const proto::TextLocator& root, const Rig& rig)
      : source_(source), root_(root), rig_(rig), scenario_(make(path)) {}

  Scenario read() {
    if (source_.has_rate_hz()) scenario_.rate = positive(source_.rate_hz(), root_, "rate_hz");
    read_initial_state();
    read_limits();
    scenario_.noise = at_least_zero(source_.noise().angle_standard_deviation_rad(),
                                    root_.at("noise"), "angle_standard_deviation_rad");
    scenario_.quantise = source_.noise().quantise();
    scenario_.seed = source_.noise().seed();
    return scenario_;
  }

 private:
  static double positive(double value, const proto::TextLocator& place, const char* field) {
    if (value > 0.0 && std::isfinite(value)) return value;
    place.at(field).fail(std::string(field) + " must be given and positive");
  }
  static double at_least_zero(double value, const proto::TextLocator& place, const char* field) {
    if (value >= 0.0 && std::isfinite(value)) return value;
    place.at(field).fail(std::string(field) + " must be 0 or larger");
  }
  static double finite(double value, const proto::TextLocator& place, const char* field) {
    if (std::isfinite(value)) return value;
    place.at(field).fail(std::string(field) + " must be a finite number");
  }

  Scenario make(const std::string& path) const {
    daq::ScenarioRig facts{.path = rig_.path, .has_operator = false};
    for (const estimator::Hinge& hinge : rig_.mechanism.hinges) {
      facts.hinges.push_back(hinge.name);
      if (hinge.motorised) facts.motors.push_back(hinge.name);
    }
    daq::RigScenario made = daq::make_scenario(source_, path, root_, facts);
    const int motor = made.motor.empty() ? -1 : find_hinge(made.motor, root_, "motor");
    return {.excitation = std::move(made.scenario), .motor = motor};
  }

  int find_hinge(const std::string& name, const proto::TextLocator& place,
                 const char* field) const {
    std::string known;
    for (int j = 0; j < rig_.mechanism.hinge_count(); ++j) {
      const std::string& hinge = rig_.mechanism.hinges[static_cast<std::size_t>(j)].name;
      if (hinge == name) return j;
      known += (known.empty() ? "" : ", ") + hinge;
    }
    place.at(field).fail("the rig has no hinge '" + name + "'; " + field + " is one of " + known);
  }

  void read_initial_state() {
    scenario_.initial_angles.setZero(rig_.mechanism.hinge_count());
    scenario_.initial_speeds.setZero(rig_.mechanism.hinge_count());
    for (int i = 0; i < source_.initial_size(); ++i) {
      const proto::TextLocator place = root_.at("initial", i);
      const v1::InitialState& initial = source_.initial(i);
      const int hinge = find_hinge(initial.hinge(), place, "hinge");
      scenario_.initial_angles[hinge] = finite(initial.angle_rad(), place, "angle_rad");
      scenario_.initial_speeds[hinge] = finite(initial.speed_rad_per_s(), place, "speed_rad_per_s");
    }
  }

  void read_limits() {
    const proto::TextLocator place = root_.at("limits");
    const v1::Limits& limits = source_.limits();
    scenario_.command_max = at_least_zero(limits.command_max(), place, "command_max");
    scenario_.command_slew_max =
        at_least_zero(limits.command_slew_max(), place, "command_slew_max");
    if (scenario_.motor >= 0) {
      const double rig_max =
          rig_.hinge_facts[static_cast<std::size_t>(scenario_.motor)].control_max;
      if (rig_max > 0.0 && (scenario_.command_max == 0.0 || scenario_.command_max > rig_max)) {
        scenario_.command_max = rig_max;
      }
    }
    for (int i = 0; i < limits.hinge_size(); ++i) {
      const proto::TextLocator where = place.at("hinge", i);
      const v1::HingeLimit& limit = limits.hinge(i);
      scenario_.limits.push_back(
          {find_hinge(limit.hinge(), where, "hinge"),
           at_least_zero(limit.angle_rad_max(), where, "angle_rad_max"),
           at_least_zero(limit.speed_rad_per_s_max(), where, "speed_rad_per_s_max")});
    }
  }

  const v1::Scenario& source_;
  proto::TextLocator root_;
  const Rig& rig_;
  Scenario scenario_;
};

}  // namespace

Scenario parse_scenario(const std::string& path, const std::string& text, const Rig& rig) {
  v1::Scenario message;
  proto::TextLocator::Tree tree;
  proto::parse_text(path, text, message, tree);
  return ScenarioReader(path, message, proto::TextLocator(path, v1::Scenario::descriptor(), &tree),
                        rig)
      .read();
}

Scenario load_scenario(const std::string& path, const Rig& rig) {
  return parse_scenario(path, proto::read_file(path), rig);
}

}  // namespace service
