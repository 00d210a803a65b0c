#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "daq/scenario/catalog.hpp"
#include "daq/scenario/scenario_message.hpp"
#include "proto/text/input_error.hpp"

// Scenarios in random runs against models of a few lines, and each of their settings in turn.

namespace daq {
namespace {

using std::numbers::pi;

constexpr double kModelStep_s = 1.0 / 64.0;  // sums of times are exact, and reach limits exactly

/// What a release does, from its description: the joint is held for half a second, then let go,
/// then all joints rest for a time. Readings that are missing for less than 50 ms change nothing.
class ReleaseModel {
 public:
  explicit ReleaseModel(const ReleaseSettings& settings)
      : settings_(settings),
        phase_(settings.has_operator ? ScenarioPhase::kWaitingForHold : ScenarioPhase::kRunning) {}

  ScenarioPhase add(double time_s, const std::vector<JointState>& joints) {
    const JointState& held = joints[settings_.joint];
    const bool all_valid = std::ranges::all_of(joints, &JointState::valid);
    if (phase_ == ScenarioPhase::kRunning ? all_valid : held.valid) {
      known_s_ = time_s;
    } else if (time_s < known_s_ + 0.05) {
      return phase_;
    }
    const bool slides = settings_.slides[settings_.joint];
    double distance = held.angle_rad - settings_.held_angle_rad;
    while (!slides && distance > pi) distance -= 2.0 * pi;
    while (!slides && distance < -pi) distance += 2.0 * pi;
    const bool is_there = held.valid && std::abs(distance) <= settings_.held_tolerance_rad;
    bool is_still = is_there && std::abs(held.speed_rad_per_s) < (slides ? 0.05 : 0.5);
    if (phase_ == ScenarioPhase::kRunning) {
      is_still = true;
      for (std::size_t j = 0; j < joints.size(); ++j) {
        const double limit =
            settings_.slides[j] ? settings_.rest_speed_m_per_s : settings_.rest_speed_rad_per_s;
        is_still = is_still && joints[j].valid && std::abs(joints[j].speed_rad_per_s) < limit;
      }
    }
    if (!is_still) still_since_s_ = std::numeric_limits<double>::infinity();
    if (is_still) still_since_s_ = std::min(still_since_s_, time_s);
    const double still_s = time_s - still_since_s_;
    if (phase_ == ScenarioPhase::kWaitingForHold && still_s >= 0.5) {
      phase_ = ScenarioPhase::kWaitingForRelease;
    } else if (phase_ == ScenarioPhase::kWaitingForRelease && held.valid && !is_there) {
      phase_ = ScenarioPhase::kRunning;
      still_since_s_ = std::numeric_limits<double>::infinity();
    } else if (phase_ == ScenarioPhase::kRunning && still_s >= settings_.rest_time_s) {
      phase_ = ScenarioPhase::kFinished;
    }
    return phase_;
  }

 private:
  ReleaseSettings settings_;
  ScenarioPhase phase_;
  double known_s_ = -1.0;
  double still_since_s_ = std::numeric_limits<double>::infinity();
};

TEST(ReleaseScenario, AgreesWithAModelInRandomRuns) {
  std::map<ScenarioPhase, int> ends;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto one_of = [&](std::uint64_t count) { return random() % count; };
    ReleaseSettings settings{.has_operator = one_of(4) != 0,
                             .joint_count = 1 + one_of(3),
                             .held_tolerance_rad = 0.125,
                             .rest_speed_rad_per_s = 0.25,
                             .rest_speed_m_per_s = 0.0625,
                             .rest_time_s = kModelStep_s * static_cast<double>(1 + one_of(24))};
    settings.joint = one_of(settings.joint_count);
    for (std::size_t j = 0; j < settings.joint_count; ++j) {
      settings.slides.push_back(one_of(3) == 0);
    }
    const bool slides = settings.slides[settings.joint];
    settings.held_angle_rad = slides || one_of(2) == 0 ? 0.0 : pi;
    Release release(settings);
    ReleaseModel model(settings);
    std::vector<JointState> joints(settings.joint_count);
    double time_s = kModelStep_s * static_cast<double>(one_of(3));
    ScenarioPhase phase = release.phase();
    for (int part = 0; part < 12; ++part) {
      for (JointState& joint : joints) {
        const std::array speeds = {0.0,    0.0,    0.0,   0.0499, -0.05, 0.0624,
                                   0.0625, -0.249, 0.249, 0.25,   0.499, -0.5};
        joint.speed_rad_per_s = speeds[one_of(one_of(2) == 0 ? 3 : speeds.size())];
        joint.angle_rad = one_of(2) == 0 ? settings.held_angle_rad : 0.0;
      }
      JointState& held = joints[settings.joint];
      const bool stays = one_of(2) == 0;
      const double turns = slides ? 0.0 : 2.0 * pi * static_cast<double>(one_of(3));
      const double exact = settings.held_angle_rad == 0.0 && turns == 0.0 ? 0.125 : 0.1249;
      held.angle_rad = settings.held_angle_rad + turns +
                       (stays ? std::array{0.0, exact, -exact}[one_of(3)]
                              : std::array{0.126, -0.126, pi, 2.0}[one_of(4)]);
      const std::uint64_t steps = 1 + one_of(one_of(2) == 0 ? 4 : 45);
      std::vector<bool> is_missing(joints.size());
      for (std::size_t j = 0; j < joints.size(); ++j) is_missing[j] = one_of(5) == 0;
      const std::uint64_t missing_from = one_of(40), missing_steps = 1 + one_of(6);
      for (std::uint64_t k = 0; k < steps; ++k) {
        for (std::size_t j = 0; j < joints.size(); ++j) {
          joints[j].valid = !is_missing[j] || k < missing_from || k >= missing_from + missing_steps;
        }
        EXPECT_EQ(release.compute_command({time_s, joints}), 0.0);
        phase = model.add(time_s, joints);
        ASSERT_EQ(static_cast<int>(release.phase()), static_cast<int>(phase)) << time_s;
        time_s += kModelStep_s;
      }
    }
    ++ends[phase];
  }
  for (const auto& [phase, count] : ends) EXPECT_GE(count, 5) << static_cast<int>(phase);
  EXPECT_EQ(ends.size(), 4U);
}

// Without a rest speed the release ends by its duration alone.
TEST(ReleaseScenario, DoesNotWaitForRestWithoutARestSpeed) {
  Release release({.has_operator = false});
  for (int k = 0; k < 1000; ++k) {
    release.compute_command({kModelStep_s * k, std::vector<JointState>{{0.0, 0.0, true}}});
  }
  EXPECT_EQ(release.phase(), ScenarioPhase::kRunning);
}

// The command of [AF00] in every state, with either sign of the gain: the energy's error, pumped in
// the direction in which the pendulum accelerates it.
TEST(SwingUpScenario, FollowsItsFormulaInEveryState) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  for (int k = 0; k < 5000; ++k) {
    const SwingUpSettings settings{.pendulum = random() % 2,
                                   .energy_gain = 5.0 * uniform(random),
                                   .command_max = 1.0 + uniform(random),
                                   .natural_frequency_Hz = 0.5 + random() % 3,
                                   .stop_angle_rad = 0.25,
                                   .kick_command = uniform(random),
                                   .kick_time_s = 0.5};
    const SwingUp swing_up(settings);
    std::vector<JointState> joints(2);
    for (JointState& joint : joints) {
      joint = {12.0 * uniform(random), 20.0 * uniform(random), random() % 8 != 0};
      if (random() % 8 == 0) joint.speed_rad_per_s = 0.0;
    }
    const double time_s = std::array{0.0, 0.4999, 0.5, 3.0}[random() % 4];
    const auto& [theta, w, valid] = joints[settings.pendulum];
    const double w_0 = 2.0 * pi * settings.natural_frequency_Hz;
    const double E = w * w / (2.0 * w_0 * w_0) - std::cos(theta);
    const double pumped = settings.energy_gain * (1.0 - E);
    const double direction = w * std::cos(theta);
    double expected = std::clamp(pumped, -settings.command_max, settings.command_max);
    if (direction < 0.0) expected = -expected;
    if (direction == 0.0) expected = 0.0;
    if (std::acos(-std::cos(theta)) < 0.25) expected = 0.0;  // distance from upright
    if (time_s < 0.5) expected = settings.kick_command;
    if (!valid) expected = 0.0;
    ASSERT_NEAR(swing_up.compute_command({time_s, joints}), expected, 1e-12) << k;
    EXPECT_EQ(swing_up.command_peak(),
              std::max(settings.command_max, std::abs(settings.kick_command)));
  }
}

// The command of a row lasts until the next row; before the first and from the last on it is zero.
TEST(ReplayScenario, LooksUpTheRowOfEachTime) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<double> time_s = {static_cast<double>(random() % 5) - 2.0}, values;
    for (std::uint64_t k = random() % 6; k > 0; --k) {
      time_s.push_back(time_s.back() + kModelStep_s * static_cast<double>(1 + random() % 5));
    }
    double peak = 0.0;
    for (std::size_t k = 0; k < time_s.size(); ++k) {
      values.push_back(static_cast<double>(random() % 9) - 4.0);
      peak = std::max(peak, std::abs(values.back()));
    }
    Replay replay(time_s, values);
    EXPECT_EQ(replay.command_peak(), peak);
    EXPECT_EQ(replay.validation_errors().empty(), time_s.size() >= 2);
    for (int step = -2; step < 64; step += 1 + static_cast<int>(random() % 2)) {
      const double t = kModelStep_s * step;
      double expected = 0.0;
      for (std::size_t k = 0; k + 1 < time_s.size(); ++k) {
        const double now = t + time_s[0];
        if (time_s[k] <= now && now < time_s[k + 1]) expected = values[k];
      }
      ASSERT_EQ(replay.compute_command({t, {}}), expected) << seed << ' ' << t;
    }
  }
}

// The peak of overlapping pulses of both signs is that of the commands themselves.
TEST(PulseTrainScenario, DeclaresThePeakOfItsCommands) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    PulseTrain train;
    for (std::uint64_t k = 1 + random() % 5; k > 0; --k) {
      train.pulses.push_back({static_cast<double>(random() % 9) - 4.0,
                              kModelStep_s * static_cast<double>(random() % 20),
                              kModelStep_s * static_cast<double>(1 + random() % 20)});
    }
    double peak = 0.0;
    for (int k = 0; k < 50; ++k) {
      double expected = 0.0;
      for (const Pulse& pulse : train.pulses) {
        const double since_s = kModelStep_s * k - pulse.start_s;
        if (since_s >= 0.0 && since_s < pulse.width_s) expected += pulse.amplitude;
      }
      ASSERT_EQ(train.compute_command({kModelStep_s * k, {}}), expected);
      peak = std::max(peak, std::abs(expected));
    }
    EXPECT_EQ(train.command_peak(), peak);
  }
}

// The declared peak of any sum of sines, with and without a ramp, is at most a few thousandths
// above the largest command, also if the command is largest at its end.
TEST(MultisineScenario, DeclaresThePeakOfItsCommands) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    const double duration_s = seed % 3 == 0 ? 0.1 : 4.0;
    Multisine multisine{.ramp_s = seed % 2 == 0 ? 0.0 : 0.5 + uniform(random) / 4.0,
                        .duration_s = duration_s};
    for (std::uint64_t k = 1 + random() % 4; k > 0; --k) {
      multisine.tones.push_back(
          {1.0 + 0.9 * uniform(random), uniform(random), 3.0 * uniform(random)});
    }
    double peak = 0.0;
    constexpr int kSteps = 40'000;
    for (int k = 0; k <= kSteps; ++k) {
      const double time_s = k == kSteps ? duration_s : duration_s * k / kSteps;
      peak = std::max(peak, std::abs(multisine.compute_command({time_s, {}})));
    }
    EXPECT_GE(multisine.command_peak(), peak);
    EXPECT_LT(multisine.command_peak(), 1.005 * peak + 1e-3);
  }
}

// Chosen phases lower the peak of tones of either sign of amplitude, also beside a given phase.
TEST(MultisineScenario, ChoosesPhasesForALowPeak) {
  double sum = 0.0;
  constexpr int kRuns = 20;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    std::mt19937_64 random(seed);
    Multisine chosen{.duration_s = 10.0};
    double square = 0.0;
    for (int k = 1; k <= 8; ++k) {
      const double amplitude =
          (0.5 + 0.1 * static_cast<double>(random() % 6)) * (random() % 2 == 0 ? 1.0 : -1.0);
      chosen.tones.push_back({.frequency_Hz = 0.1 * k, .amplitude = amplitude});
      square += amplitude * amplitude / 2.0;
    }
    if (seed % 2 == 0) chosen.tones[random() % 8].phase_rad = 1.0;
    choose_multisine_phases(chosen);
    const double crest_factor = chosen.command_peak() / std::sqrt(square);
    EXPECT_LT(crest_factor, 1.75) << seed;
    sum += crest_factor;
  }
  EXPECT_LT(sum / kRuns, 1.63);
}

/// A rig whose joints turn or slide, each with a motor.
ScenarioRig model_rig(const std::vector<bool>& slides) {
  return {.path = "rig.textproto",
          .joints = {"first", "second"},
          .slides = slides,
          .motors = {"first", "second"},
          .has_operator = true};
}

Scenario scenario_of(const rigcal::v1::Scenario& message, const ScenarioRig& rig) {
  const std::string path = "s.textproto";
  return make_scenario(message, path, {path, message.GetDescriptor(), nullptr}, rig);
}

// A test push needs a motion of each kind of joint that the rig has, and no other. The driven
// joint's own kind ends the push.
TEST(TestPushScenario, NeedsAMotionOfEachKindOfJoint) {
  const std::vector<bool> kinds[] = {
      {}, {false, false}, {true, true}, {true, false}, {false, true}};
  for (const std::vector<bool>& slides : kinds) {
    const bool has_slide = std::ranges::count(slides, true) > 0;
    const bool has_turn = slides.empty() || std::ranges::count(slides, false) > 0;
    for (const auto& [motion_rad, motion_m] :
         {std::pair(0.0, 0.0), std::pair(0.5, 0.0), std::pair(0.0, 0.25), std::pair(0.5, 0.25)}) {
      rigcal::v1::Scenario message;
      message.set_duration_s(5.0);
      auto* push = message.add_test_push();
      push->set_motor("second");
      push->set_command(2.0);
      push->set_rise_s(1.0);
      push->set_motion_rad(motion_rad);
      push->set_motion_m(motion_m);
      SCOPED_TRACE(message.ShortDebugString() + std::to_string(slides.size()));
      const bool is_missing_turn = has_turn && motion_rad == 0.0;
      const bool is_missing_slide = has_slide && motion_m == 0.0;
      std::string text;
      try {
        scenario_of(message, model_rig(slides));
      } catch (const proto::InputError& error) {
        text = error.what();
      }
      EXPECT_EQ(text.empty(), !is_missing_turn && !is_missing_slide) << text;
      if (is_missing_turn) EXPECT_NE(text.find("needs motion_rad"), std::string::npos) << text;
      if (is_missing_slide && !is_missing_turn) {
        EXPECT_NE(text.find("needs motion_m"), std::string::npos) << text;
      }
      if (!text.empty()) continue;
      for (const std::size_t joint : {0U, 1U}) {
        const double limit = !slides.empty() && slides[joint] ? motion_m : motion_rad;
        for (const double moved : {0.99 * limit, 1.01 * limit}) {
          Scenario scenario = scenario_of(message, model_rig(slides));
          std::vector<JointState> joints(2, {0.0, 0.0, true});
          std::vector<double> commands(2);
          scenario.compute_command({0.0, joints}, commands);
          joints[joint].angle_rad = moved;
          scenario.compute_command({0.5, joints}, commands);
          EXPECT_EQ(commands[1] == 1.0, moved < limit) << joint << ' ' << moved;
          EXPECT_EQ(commands[0], 0.0);
        }
      }
    }
  }
}

// The range of the driven joint is that of its own kind, and has two ends: a push toward a nearby
// end is reversed, one toward a distant end is not.
TEST(TestPushScenario, StaysAwayFromEachEndOfItsRange) {
  for (const bool slides : {false, true}) {
    for (const double end : {-1.0, 1.0}) {
      for (const bool is_near : {false, true}) {
        rigcal::v1::Scenario message;
        message.set_duration_s(5.0);
        auto* push = message.add_test_push();
        push->set_motor("second");
        push->set_command(2.0 * end);
        push->set_rise_s(1.0);
        push->set_motion_rad(0.25);
        push->set_motion_m(0.25);
        if (slides && end < 0.0) push->set_position_m_min(end);
        if (slides && end > 0.0) push->set_position_m_max(end);
        if (!slides && end < 0.0) push->set_angle_rad_min(end);
        if (!slides && end > 0.0) push->set_angle_rad_max(end);
        SCOPED_TRACE(message.ShortDebugString());
        Scenario scenario = scenario_of(message, model_rig({!slides, slides}));
        const std::vector<JointState> joints = {{}, {is_near ? 0.5 * end : -0.5 * end, 0.0, true}};
        std::vector<double> commands(2);
        scenario.compute_command({0.0, joints}, commands);
        scenario.compute_command({0.5, joints}, commands);
        EXPECT_EQ(commands[1], is_near ? -end : end);
      }
    }
  }
}

// Each setting with zero, a negative number and NaN; zero is allowed where the sentence says "must
// not be negative". The sentence names the field.
TEST(ScenarioSettings, AreRefusedOneByOne) {
  const SwingUpSettings swing_up{
      .energy_gain = 1.0, .command_max = 1.0, .natural_frequency_Hz = 1.0};
  const TestPushSettings push{.level = 1.0, .push_s_max = 1.0, .motion_rad = 0.1};
  const auto errors_of = [](auto settings, auto field, double value) {
    settings.*field = value;
    using Settings = decltype(settings);
    if constexpr (std::is_same_v<Settings, SwingUpSettings>) {
      return SwingUp(settings).validation_errors();
    } else if constexpr (std::is_same_v<Settings, TestPushSettings>) {
      return TestPush(settings).validation_errors();
    } else if constexpr (std::is_same_v<Settings, ReleaseSettings>) {
      return Release(settings).validation_errors();
    } else {
      return settings.validation_errors();
    }
  };
  const auto check = [&](const auto& settings, auto field, const char* name, bool may_be_zero) {
    SCOPED_TRACE(name);
    for (const double value : {0.0, -1e-9, std::numeric_limits<double>::quiet_NaN(), 1e-9}) {
      const std::vector<std::string> errors = errors_of(settings, field, value);
      const bool is_allowed = value > 0.0 || (may_be_zero && value == 0.0);
      ASSERT_EQ(errors.empty(), is_allowed) << value;
      if (!is_allowed) EXPECT_NE(errors[0].find(name), std::string::npos) << errors[0];
    }
  };
  check(swing_up, &SwingUpSettings::command_max, "swing_up.command_max", false);
  check(swing_up, &SwingUpSettings::natural_frequency_Hz, "swing_up.natural_frequency_hz", false);
  check(swing_up, &SwingUpSettings::stop_angle_rad, "swing_up.stop_angle_rad", true);
  check(swing_up, &SwingUpSettings::kick_time_s, "swing_up.kick_time_s", true);
  EXPECT_EQ(errors_of(swing_up, &SwingUpSettings::energy_gain, 0.0).size(), 1U);
  EXPECT_TRUE(errors_of(swing_up, &SwingUpSettings::energy_gain, -1.0).empty());
  const ReleaseSettings release;
  check(release, &ReleaseSettings::held_tolerance_rad, "release.held_tolerance_rad", false);
  check(release, &ReleaseSettings::rest_speed_rad_per_s, "release.rest_speed_rad_per_s", true);
  check(release, &ReleaseSettings::rest_speed_m_per_s, "release.rest_speed_m_per_s", true);
  check(release, &ReleaseSettings::rest_time_s, "release.rest_time_s", true);
  const ReleaseSettings sliding{.slides = {true}};
  check(sliding, &ReleaseSettings::held_tolerance_rad, "release.held_tolerance_m", false);
  const ReleaseSettings simulated{.has_operator = false};
  EXPECT_TRUE(errors_of(simulated, &ReleaseSettings::held_tolerance_rad, 0.0).empty());
  check(push, &TestPushSettings::push_s_max, "test_push.rise_s", false);
  check(push, &TestPushSettings::motion_rad, "test_push.motion_rad", false);
  check(Step{}, &Step::start_s, "step.start_s", true);
  check(Pulse{.width_s = 1.0}, &Pulse::start_s, "pulse.start_s", true);
  check(Pulse{.width_s = 1.0}, &Pulse::width_s, "pulse.width_s", false);
  const Chirp chirp{.frequency_start_Hz = 1.0, .frequency_end_Hz = 2.0, .end_s = 5.0};
  check(chirp, &Chirp::start_s, "chirp.start_s", true);
  check(chirp, &Chirp::frequency_start_Hz, "chirp.frequency_start_hz", true);
  check(chirp, &Chirp::frequency_end_Hz, "chirp.frequency_end_hz", true);
  check(chirp, &Chirp::end_s, "chirp.start_s", false);
  const Multisine multisine{.tones = {{1.0, 1.0, 0.0}, {2.0, 1.0, 0.0}}};
  check(multisine, &Multisine::ramp_s, "multisine.ramp_s", true);
  for (const std::size_t tone : {0U, 1U}) {
    Multisine wrong = multisine;
    wrong.tones[tone].frequency_Hz = 0.0;
    ASSERT_EQ(wrong.validation_errors().size(), 1U);
    EXPECT_NE(wrong.validation_errors()[0].find("[" + std::to_string(tone) + "]"),
              std::string::npos);
  }
  for (const std::size_t pulse : {0U, 1U}) {
    PulseTrain train{{{1.0, 0.0, 1.0}, {1.0, 0.0, 1.0}}};
    EXPECT_TRUE(train.validation_errors().empty());
    train.pulses[pulse].start_s = -1.0;
    train.pulses[pulse].width_s = 0.0;
    ASSERT_EQ(train.validation_errors().size(), 2U);
    for (const std::string& error : train.validation_errors()) {
      EXPECT_NE(error.find("[" + std::to_string(pulse) + "]"), std::string::npos) << error;
    }
  }
}

}  // namespace
}  // namespace daq
