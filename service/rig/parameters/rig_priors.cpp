#include "service/rig/parameters/rig_priors.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "estimator/fit/inertia_prior.hpp"
#include "estimator/model/joint_stop.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using estimator::Mechanism;

void read_drawing(const v1::Body& source, const proto::TextLocator& place, int body,
                  Mechanism& mechanism) {
  if (source.cad_uncertainty_percent() == 0.0) return;
  estimator::Body& own = mechanism.bodies[static_cast<std::size_t>(body)];
  own.cad_uncertainty = 0.01 * source.cad_uncertainty_percent();
  try {
    estimator::check_cad_prior(mechanism, body);
  } catch (const std::invalid_argument& fault) {
    place.at("cad_uncertainty_percent").fail(fault.what());
  }
}

/// Reads the names of the recordings in which a body is present. Such a body must be attached by
/// one fixed joint and carry nothing, so that the rest of the rig does not depend on it.
void read_presence(const v1::Body& source, const proto::TextLocator& place, int body,
                   Mechanism& mechanism) {
  if (source.present_in_recordings_size() == 0) return;
  estimator::Body& own = mechanism.bodies[static_cast<std::size_t>(body)];
  const proto::TextLocator where = place.at("present_in_recordings");
  own.present_in_recordings.assign(source.present_in_recordings().begin(),
                                   source.present_in_recordings().end());
  if (std::ranges::any_of(own.present_in_recordings, &std::string::empty)) {
    where.fail("body \"" + own.name + "\": write names of recordings; * matches any text");
  }
  const auto touches = [&](const auto& joint) {
    return joint.body_a == body || joint.body_b == body;
  };
  if (own.massless || std::ranges::any_of(mechanism.joints, touches) ||
      std::ranges::any_of(mechanism.body_encoders, touches) ||
      std::ranges::any_of(mechanism.sensors,
                          [&](const auto& sensor) { return sensor.body == body; }) ||
      std::ranges::count_if(mechanism.fixed_joints, touches) != 1) {
    where.fail("body \"" + own.name +
               "\": a body with present_in_recordings must have a mass, be attached by exactly one "
               "FIXED joint "
               "and carry nothing");
  }
}

void read_start(const v1::GaussianPrior& source, const proto::TextLocator& place,
                estimator::GaussianPrior& target) {
  if (!(source.standard_deviation() > 0.0)) {
    place.fail("needs a positive standard_deviation");
  }
  target = {source.mean(), source.standard_deviation()};
}

void refuse_start_beyond_stops(const Mechanism& mechanism, int joint,
                               const proto::TextLocator& place) {
  const estimator::Joint& own = mechanism.joints[static_cast<std::size_t>(joint)];
  for (const estimator::JointStop& stop : estimator::joint_stops(mechanism)) {
    if (stop.joint != joint || stop.distance(own.start_angle.mean) >= 0.0) continue;
    place.fail("joint \"" + own.name + "\" has a start_position of " +
               format_number(own.start_angle.mean, 6) + " " + own.units().coordinate +
               ", beyond its stop at " + format_number(stop.position, 6) + " " +
               own.units().coordinate + ". Correct the mean or the stop");
  }
}

/// Returns the locations of priors and CAD uncertainties in the rig file, by parameter name.
std::map<std::string, std::string> prior_locations(
    const v1::Rig& rig, const proto::TextLocator& root,
    const std::map<std::string, proto::TextLocator>& places, const Mechanism& mechanism) {
  std::map<std::string, std::string> found;
  for (const estimator::Parameter& parameter : mechanism.parameters) {
    const auto place = places.find(parameter.name);
    if (std::isinf(parameter.prior_standard_deviation) || place == places.end()) continue;
    found[parameter.name] = place->second.at("prior_standard_deviation").where();
  }
  for (int i = 0; i < rig.body_size(); ++i) {
    if (std::isinf(mechanism.bodies[static_cast<std::size_t>(i)].cad_uncertainty)) continue;
    const std::string where = root.at("body", i).at("cad_uncertainty_percent").where();
    const estimator::InertiaPrior prior(mechanism, i);
    for (const int index : prior.parameters()) {
      if (index >= 0) {
        found[mechanism.parameters[static_cast<std::size_t>(index)].name] = where;
      }
    }
  }
  return found;
}

}  // namespace

std::map<std::string, std::string> read_priors(
    const v1::Rig& rig, const proto::TextLocator& root,
    const std::map<std::string, proto::TextLocator>& places, Mechanism& mechanism) {
  for (int i = 0; i < rig.body_size(); ++i) {
    const proto::TextLocator place = root.at("body", i);
    read_drawing(rig.body(i), place, i, mechanism);
    read_presence(rig.body(i), place, i, mechanism);
  }
  for (int i = 0; i < rig.joint_size(); ++i) {
    const v1::Joint& source = rig.joint(i);
    if (!source.has_start_position() && !source.has_start_speed()) continue;
    const proto::TextLocator place = root.at("joint", i);
    const auto joint = std::ranges::find(mechanism.joints, source.name(), &estimator::Joint::name);
    if (joint == mechanism.joints.end()) {
      place.fail("joint \"" + source.name() + "\" is fixed; it has neither a position nor a speed");
    }
    if (source.has_start_position()) {
      read_start(source.start_position(), place.at("start_position"), joint->start_angle);
      refuse_start_beyond_stops(mechanism, static_cast<int>(joint - mechanism.joints.begin()),
                                place.at("start_position"));
    }
    if (source.has_start_speed()) {
      read_start(source.start_speed(), place.at("start_speed"), joint->start_rate);
    }
  }
  return prior_locations(rig, root, places, mechanism);
}

}  // namespace service
