#include "tests/studies/study_ranges.hpp"

namespace service {
namespace {

using proto::above_zero;
using proto::between;
using proto::up_to;
using proto::within;

constexpr double kU64 = 18446744073709551616.0;  // any number of 64 bits
constexpr double kQuantity = 1e12;               // of a physical quantity in SI units
constexpr double kTime_s = 1e6;

constexpr proto::NumberRange kStudyRanges[] = {
    between("StudySimulation.step_s", 1e-6, 1),
    up_to("StudySimulation.compliance", 1e6),
    up_to("StudySimulation.damping_time_s", kTime_s),
    within("StudyRecording.from_s", kTime_s),
    within("StudyRecording.to_s", kTime_s),
    above_zero("StudyMethod.weighting_compliance", 1e6),
    between("StudySettings.step_s", 1e-6, 1),
    above_zero("StudySettings.state_error_weight", kQuantity),
    up_to("StudySettings.compliance", 1e6),
    up_to("StudySettings.damping_time_s", kTime_s),
    up_to("StudySettings.max_iterations", 100'000),
    up_to("StudySweep.value", kQuantity),
    {"StudyStarts.factor", 1.0, 1e6, true},
    up_to("StudyStarts.random", 1e6),
    up_to("StudyStarts.seed", kU64),
    above_zero("StudyTrace.state_error_weight", kQuantity),
    above_zero("StudyNoise.gyroscope_rad_s", kQuantity),
    above_zero("StudyNoise.accelerometer_m_s2", kQuantity),
    above_zero("StudyNoise.force_N", kQuantity),
    above_zero("StudyNoise.moment_Nm", kQuantity),
    above_zero("StudyNoise.encoder_rad", kQuantity),
    between("StudyChain.links", 1, 40),
    between("StudyChain.repetitions", 1, 100'000),
    up_to("StudyChain.seed", kU64),
    between("StudyChain.angle_error_rad", 1e-6, 10),
    above_zero("StudyChain.rate_error_rad_s", kQuantity),
    above_zero("StudyChain.dynamics_error", kQuantity),
    up_to("StudyChain.records", 100'000),
    between("StudyChain.duration_s", 1e-3, 1e4),
    between("StudyChain.rate_Hz", 1, 1e5),
    above_zero("StudyChain.jerk", kQuantity),
    within("StudyRobot.Joint.angle_rad", 1e3),
    up_to("StudyRobot.amplitude_rad", 10),
    between("StudyRobot.frequency_min_Hz", 1e-3, 100),
    between("StudyRobot.frequency_max_Hz", 1e-3, 100),
    up_to("StudyRobot.seed", kU64),
    between("StudyRobot.duration_s", 0.01, 1e4),
    between("StudyRobot.rate_Hz", 1, 1e5),
    above_zero("StudyRobot.jerk", kQuantity),
    up_to("StudyRobot.external_force_deviation_N", kQuantity),
    up_to("StudyRobot.external_moment_deviation_Nm", kQuantity),
    above_zero("StudyLeg.torque_noise_Nm", kQuantity),
    between("StudyLeg.cutoff_Hz", 1, 1e4),
    within("StudyLeg.Drive.about_rad", 10),
    up_to("StudyLeg.Drive.amplitude_rad", 10),
    above_zero("StudyLeg.Drive.stiffness_Nm_per_rad", kQuantity),
    up_to("StudyLeg.Drive.damping_Nms_per_rad", kQuantity),
    between("StudyLeg.Draw.legs", 1, 1000),
    up_to("StudyLeg.Draw.seed", kU64),
    up_to("StudyLeg.Draw.deviation_percent", 100),
    between("StudyLeg.Draw.frequency_min_Hz", 1e-3, 100),
    between("StudyLeg.Draw.frequency_max_Hz", 1e-3, 100),
    between("StudyLeg.Draw.duration_s", 1, 1e3),
    between("StudyLeg.Draw.rate_Hz", 10, 1e4),
    up_to("StudyLeg.Draw.encoder_noise_rad", 1),
    between("StudyArm.links", 2, 6),
    between("StudyArm.repetitions", 1, 100'000),
    up_to("StudyArm.tied_repetitions", 100'000),
    up_to("StudyArm.seed", kU64),
    between("StudyArm.duration_s", 1, 1e4),
    between("StudyArm.rate_Hz", 20, 1e4),
    between("StudyArm.amplitude_rad", 0.01, 10),
    between("StudyArm.frequency_min_Hz", 1e-3, 100),
    between("StudyArm.frequency_max_Hz", 1e-3, 100),
    up_to("StudyArm.dither", 10),
    up_to("StudyArm.start_error", 0.95),
    up_to("StudyArm.noise", 10),
    up_to("StudyArm.energy_starts", 100'000),
    between("StudyArm.energy_duration_s", 1, 1e4),
    above_zero("StudyArm.energy_noise", 10),
};

}  // namespace

std::span<const proto::NumberRange> study_ranges() { return kStudyRanges; }

}  // namespace service
