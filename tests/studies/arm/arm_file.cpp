#include "tests/studies/arm/arm_file.hpp"

#include "tests/studies/given.hpp"

namespace service {
namespace {

StudyArm read_arm(const rigcal::v1::StudyArm& source, const proto::TextLocator& place) {
  StudyArm arm;
  arm.links = given(source.links(), place, "links");
  arm.draws = given(source.repetitions(), place, "repetitions");
  arm.tied = source.tied_repetitions();
  arm.seed = source.seed();
  arm.duration = given(source.duration_s(), place, "duration_s");
  arm.period = 1.0 / given(source.rate_hz(), place, "rate_Hz");
  arm.amplitude = given(source.amplitude_rad(), place, "amplitude_rad");
  arm.slowest = given(source.frequency_min_hz(), place, "frequency_min_Hz");
  arm.fastest = given(source.frequency_max_hz(), place, "frequency_max_Hz");
  if (arm.slowest > arm.fastest) {
    place.at("frequency_min_Hz").fail("frequency_min_Hz must not exceed frequency_max_Hz");
  }
  arm.dither = source.dither();
  arm.initial_error = source.start_error();
  arm.noise.assign(source.noise().begin(), source.noise().end());
  if (arm.noise.empty()) place.fail("has no noise; write noise: [0, 0.1]");
  arm.energy_starts = source.energy_starts();
  if (arm.energy_starts == 0) return arm;
  arm.energy_duration = given(source.energy_duration_s(), place, "energy_duration_s");
  arm.energy_noise = given(source.energy_noise(), place, "energy_noise");
  return arm;
}

}  // namespace

std::vector<StudyArm> read_arms(const rigcal::v1::StudyArms& source,
                                const proto::TextLocator& root) {
  if (source.arm_size() == 0) root.fail("has no arm; write arms { arm { links: 2 ... } }");
  std::vector<StudyArm> arms;
  for (int i = 0; i < source.arm_size(); ++i) {
    arms.push_back(read_arm(source.arm(i), root.at("arms").at("arm", i)));
  }
  return arms;
}

}  // namespace service
