#include "tests/studies/leg/leg_file.hpp"

#include <algorithm>
#include <filesystem>

#include "proto/text/input_error.hpp"
#include "service/rig/parameters/parameter_edits.hpp"
#include "tests/studies/given.hpp"

namespace service {
namespace {

using rigcal::v1::StudyLeg;

std::string file_beside(const std::string& folder, const std::string& file) {
  return (std::filesystem::path(folder) / file).string();
}

Rig read_rig(const std::string& file, const proto::TextLocator& place, const char* field,
             const std::string& folder) {
  if (file.empty()) place.at(field).fail(std::string(field) + " has no rig file");
  Rig rig = load_rig(file_beside(folder, file));
  if (!rig.format) {
    place.at(field).fail(file +
                         " has no recording { }, which defines the columns of its recordings");
  }
  return rig;
}

/// Matches the motors of the two rigs in order. Exactly one pair must be on joints of different
/// names; these are the crank and the knee.
void find_linkage(const proto::TextLocator& place, LegStudy& study) {
  const auto motors_of = [](const Rig& rig) {
    std::vector<std::string> names;
    for (const estimator::Joint& joint : rig.mechanism.joints) {
      if (joint.motor.present) names.push_back(joint.name);
    }
    return names;
  };
  const std::vector<std::string> of_loop = motors_of(study.loop), of_ratio = motors_of(study.ratio);
  const auto joint_of = [&](const std::string& name) {
    const auto& joints = study.loop.mechanism.joints;
    const auto found = std::ranges::find(joints, name, &estimator::Joint::name);
    return found == joints.end() ? -1 : static_cast<int>(found - joints.begin());
  };
  int pairs = 0;
  for (std::size_t i = 0; i < of_loop.size() && of_loop.size() == of_ratio.size(); ++i) {
    if (of_loop[i] == of_ratio[i]) continue;
    ++pairs;
    study.crank = joint_of(of_loop[i]);
    study.knee = joint_of(of_ratio[i]);
  }
  if (pairs == 1 && study.knee >= 0) return;
  place.at("ratio_rig")
      .fail(
          "must have the same motors as rig, in the same order and on the same joints, except one: "
          "on the crank in rig, on the knee here");
}

/// Returns the mechanism of a rig with the values "NAME=VALUE" of the study file.
/// @param named  receives the indices of the parameters that have values
estimator::Mechanism with_values(const google::protobuf::RepeatedPtrField<std::string>& values,
                                 const proto::TextLocator& place, const char* field, const Rig& rig,
                                 std::vector<int>& named) {
  estimator::Mechanism mechanism = rig.mechanism;
  for (int i = 0; i < values.size(); ++i) {
    try {
      apply_parameter_edits({{values[i]}, {}, {}}, mechanism);
    } catch (const proto::InputError& error) {
      place.at(field, i).fail(error.what());
    }
    named.push_back(mechanism.find_parameter(values[i].substr(0, values[i].find('='))));
  }
  return mechanism;
}

void read_drives(const StudyLeg::Draw& source, const proto::TextLocator& place,
                 RandomLegs& drawing) {
  const std::vector<estimator::Joint>& joints = drawing.typical.joints;
  int driven = 0;
  for (std::size_t j = 0; j < joints.size(); ++j) {
    if (!joints[j].motor.present) continue;
    const auto& drives = source.drive();
    const auto drive = std::ranges::find(drives, joints[j].name, &StudyLeg::Drive::joint);
    if (drive == drives.end()) {
      place.fail("names no drive { } of the motor at joint \"" + joints[j].name + "\"");
    }
    const proto::TextLocator at =
        place.at("drive", static_cast<int>(std::distance(drives.begin(), drive)));
    drawing.drives.push_back(
        {.joint = static_cast<int>(j),
         .about = drive->about_rad(),
         .amplitude = drive->amplitude_rad(),
         .stiffness = given(drive->stiffness_nm_per_rad(), at, "stiffness_Nm_per_rad"),
         .damping = drive->damping_nms_per_rad()});
    ++driven;
  }
  if (driven != source.drive_size()) {
    place.at("drive").fail("a drive has no motor, or two drives have the same motor");
  }
}

RandomLegs read_drawing(const StudyLeg::Draw& source, const proto::TextLocator& place,
                        const Rig& rig) {
  RandomLegs drawing;
  drawing.legs = given(source.legs(), place, "legs");
  drawing.seed = source.seed();
  drawing.deviation = 0.01 * source.deviation_percent();
  drawing.typical = with_values(source.typical(), place, "typical", rig, drawing.drawn);
  read_drives(source, place, drawing);
  drawing.slowest = given(source.frequency_min_hz(), place, "frequency_min_Hz");
  drawing.fastest = given(source.frequency_max_hz(), place, "frequency_max_Hz");
  if (drawing.slowest > drawing.fastest) {
    place.at("frequency_min_Hz").fail("frequency_min_Hz must not exceed frequency_max_Hz");
  }
  drawing.duration = given(source.duration_s(), place, "duration_s");
  drawing.period = 1.0 / given(source.rate_hz(), place, "rate_Hz");
  drawing.encoder_noise = source.encoder_noise_rad();
  return drawing;
}

}  // namespace

LegStudy read_leg(const StudyLeg& source, const proto::TextLocator& place,
                  const std::string& folder) {
  LegStudy study;
  study.loop = read_rig(source.rig(), place, "rig", folder);
  study.ratio = read_rig(source.ratio_rig(), place, "ratio_rig", folder);
  find_linkage(place, study);
  std::vector<int> named;
  study.nominal = with_values(source.nominal(), place, "nominal", study.ratio, named);
  study.torque_noise = given(source.torque_noise_nm(), place, "torque_noise_Nm");
  study.cutoff = given(source.cutoff_hz(), place, "cutoff_Hz");
  if (source.has_draw() == source.has_recorded()) {
    place.fail("needs either draw { } or recorded { }");
  }
  if (source.has_draw()) {
    study.drawing = read_drawing(source.draw(), place.at("draw"), study.loop);
    if (study.cutoff * 2.0 * study.drawing->period >= 1.0) {
      place.at("cutoff_Hz").fail("cutoff_Hz must be below half of rate_Hz");
    }
    return study;
  }
  const StudyLeg::Recorded& recorded = source.recorded();
  if (recorded.training().empty() || recorded.held_out().empty()) {
    place.at("recorded").fail("give both files, training and held_out");
  }
  study.files = {file_beside(folder, recorded.training()),
                 file_beside(folder, recorded.held_out())};
  return study;
}

}  // namespace service
