#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "daq/safety/black_box.hpp"
#include "daq/safety/inertial_monitor.hpp"
#include "daq/safety/loosened_limit.hpp"
#include "daq/safety/safety_limits.hpp"
#include "daq/safety/swing_growth.hpp"
#include "proto/notation/number_format.hpp"
#include "tests/support/refusal.hpp"

// Random sequences against models of a few lines, and every field, cause and index in turn.

namespace daq {
namespace {

using test_support::expect_parts;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kGrid_s = 1.0 / 1024.0;  // sums of times are exact, and reach limits exactly
constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

/// One sample of a random run of inertial sensors.
struct InertialStep {
  double time_s;
  bool moves;
  firmware_iface::InertialReadings reading;
};

/// Durations of a sensor's faults [s] from the list of all samples: missing, stuck, saturated.
std::array<double, kInertialFaultCount> find_durations(const std::vector<InertialStep>& steps,
                                                       int sensor, const InertialLimits& limits) {
  std::array<double, kInertialFaultCount> durations{};
  const std::array<std::int16_t, INERTIAL_AXES>* last = nullptr;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const double since_s = k == 0 ? 0.0 : steps[k].time_s - steps[k - 1].time_s;
    const bool is_read = steps[k].reading.has(sensor);
    const auto& counts = steps[k].reading.counts[static_cast<std::size_t>(sensor)];
    const bool changes = is_read && (last == nullptr || *last != counts);
    if (is_read) last = &counts;
    bool is_saturated = false;
    for (std::size_t axis = 0; last != nullptr && axis < INERTIAL_AXES; ++axis) {
      const int most = limits.counts_max[axis];
      const bool is_axis = most > 0 && (*last)[axis] != INERTIAL_NOT_READ;
      is_saturated = is_saturated || (is_axis && std::abs(int{(*last)[axis]}) >= most);
    }
    const auto [missing_s, stuck_s, saturated_s] = durations;
    durations = {is_read ? 0.0 : missing_s + since_s,
                 changes ? 0.0 : stuck_s + (last != nullptr && steps[k].moves ? since_s : 0.0),
                 is_saturated ? saturated_s + since_s : 0.0};
  }
  return durations;
}

// Several sensors with their own limits and axes, one joint of all that moves, readings that are
// missing, equal, saturated on either side or of absent axes, and irregular times. Catches a
// sensor, joint, axis, side or duration that is taken for another.
TEST(InertialMonitor, AgreesWithAModelInRandomRuns) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto one_of = [&](std::uint64_t count) { return random() % count; };
    const std::size_t sensors = 1 + one_of(INERTIAL_SENSORS_MAX);
    std::vector<InertialLimits> limits(sensors);
    for (std::size_t i = 0; i < sensors; ++i) {
      limits[i] = {"imu", one_of(2) == 0, kGrid_s * static_cast<double>(20 + 10 * i), 30 * kGrid_s,
                   10 * kGrid_s};
      for (std::int16_t& most : limits[i].counts_max) {
        most = static_cast<std::int16_t>(100 * one_of(3));
      }
    }
    InertialMonitor monitor(limits);
    ASSERT_EQ(monitor.sensor_count(), sensors);
    const std::size_t mover = one_of(kJointsMax);
    Observation now;
    now.time_s = 5.0;
    for (JointState& joint : now.joint) joint.angle_rad = -1.0;
    std::vector<InertialStep> steps;
    for (int k = 0; k < 100; ++k) {
      InertialStep step{now.time_s, k > 0 && one_of(2) == 0, {}};
      if (step.moves) now.joint[mover].angle_rad += one_of(2) == 0 ? 0.01 : -0.02;
      for (std::size_t i = 0; i < sensors; ++i) {
        auto& counts = step.reading.counts[i];
        counts = k > 0 ? steps.back().reading.counts[i] : std::array<std::int16_t, INERTIAL_AXES>{};
        if (one_of(8) < 5) step.reading.sensors |= static_cast<std::uint8_t>(1U << i);
        const std::array<std::int16_t, 7> values = {0, 99, 100, 200, -100, -200, INERTIAL_NOT_READ};
        const bool has_read = (step.reading.sensors >> i & 1U) != 0;
        if (has_read && one_of(4) == 0) counts[one_of(INERTIAL_AXES)] = values[one_of(7)];
      }
      monitor.add(now, step.reading);
      steps.push_back(step);
      for (std::size_t i = 0; i < sensors; ++i) {
        const auto expected = find_durations(steps, static_cast<int>(i), limits[i]);
        const std::array<double, kInertialFaultCount> longest = {
            limits[i].missing_s_max, limits[i].stuck_s_max, limits[i].saturated_s_max};
        for (std::size_t f = 0; f < kInertialFaultCount; ++f) {
          InertialMonitor::DetectedFault finding{};
          const bool found = monitor.has(i, static_cast<InertialFault>(f), finding);
          ASSERT_EQ(finding.value, expected[f]) << "sensor " << i << " fault " << f;
          ASSERT_EQ(finding.limit, longest[f]);
          ASSERT_EQ(finding.fault, static_cast<InertialFault>(f));
          ASSERT_EQ(found, expected[f] > longest[f]);
        }
        ASSERT_EQ(monitor.stops_run(i), limits[i].stops_run);
      }
      now.time_s += kGrid_s * static_cast<double>(1 + one_of(4));
    }
  }
}

// Swings of random sizes about any position, with pauses and steps of up to three counts at the
// turning points. The detector returns the ratio of a swing to the largest before it if this swing
// and the three before it grew by a tenth and 8 counts. Some joints shake by 4 counts after they
// turn, which is a small swing.
TEST(SwingGrowthDetector, AgreesWithAModelForRandomSwings) {
  int growing = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    SwingGrowthDetector detector;
    std::int64_t counts = static_cast<std::int64_t>(random() % 2000) - 1000;
    const std::int64_t first = counts;
    double time_s = 3.0;
    double returned = 0.0;  // at the end of a swing, when the joint has come back by 4 counts
    const auto add = [&](std::int64_t to) {
      const int step = to < counts ? -1 : 1;
      while (counts != to) {
        counts += step;
        time_s += 1e-3;
        const double growth = detector.add(counts, time_s, 0.0);
        if (growth != 0.0) returned = growth;
      }
    };
    EXPECT_EQ(detector.add(counts, time_s, 0.0), 0.0);
    double largest = 0.0;
    int growths = 0;
    int side = random() % 2 == 0 ? 1 : -1;
    std::int64_t extreme = first + side * 40;
    add(extreme);  // where the first swing starts
    double size = 50.0;
    for (int swing = 0; swing < 30; ++swing) {
      // Around the threshold 1.1 size + 8 on both sides, and sometimes much smaller.
      const double threshold = std::floor(1.1 * std::max(size, largest)) + 8.0;
      const std::int64_t length = random() % 6 == 0 ? 20 + static_cast<std::int64_t>(random() % 30)
                                                    : static_cast<std::int64_t>(threshold) - 1 +
                                                          static_cast<std::int64_t>(random() % 6);
      side = -side;
      const std::int64_t next = extreme + side * length;
      add(next);
      add(next - side * 3);  // not yet a turning point
      EXPECT_EQ(returned, 0.0) << "swing " << swing;
      add(next - side * 4);
      size = static_cast<double>(length);
      // The first swing has none to be compared with.
      growths = swing > 0 && size > 1.1 * largest + 8.0 ? growths + 1 : 0;
      const double expected = growths >= 4 ? size / largest : 0.0;
      EXPECT_DOUBLE_EQ(returned, expected) << "swing " << swing;
      growing += expected > 0.0;
      returned = 0.0;
      largest = std::max(largest, size);
      extreme = next;
      if (largest > 3000.0) break;
      if (random() % 10 != 0) continue;
      growths = 0;
      add(next);
      add(next - side * 4);
    }
  }
  EXPECT_GT(growing, 100);
}

// Runs that end before or after the box is full, with messages of every length, and with one of the
// two ways to freeze. Catches a message that is dropped, cut, or stored after the end.
TEST(BlackBox, AgreesWithAModelInRandomRuns) {
  struct Message {
    firmware_iface::Nanoseconds at;
    firmware_iface::Direction direction;
    std::vector<std::uint8_t> bytes;
  };
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    auto box = std::make_unique<BlackBox>();
    const std::size_t sent = random() % 3 == 0 ? BlackBox::kCapacity - 2 + random() % 4
                                               : random() % (3 * BlackBox::kCapacity);
    const bool trips = random() % 2 == 0;
    const std::size_t trip_at = random() % (sent + 1);
    std::vector<Message> expected;
    for (std::size_t k = 0; k < sent; ++k) {
      if (trips && k >= trip_at) box->freeze_after_trip();  // later calls have no effect
      Message message{firmware_iface::Nanoseconds(7 * k),
                      random() % 2 == 0 ? firmware_iface::Direction::kToHost
                                        : firmware_iface::Direction::kToUnit,
                      std::vector<std::uint8_t>(random() % (MESSAGE_SIZE_BYTES_MAX + 5))};
      for (std::uint8_t& byte : message.bytes) byte = static_cast<std::uint8_t>(random());
      box->on_message(message.direction, message.bytes, message.at);
      message.bytes.resize(std::min<std::size_t>(message.bytes.size(), MESSAGE_SIZE_BYTES_MAX));
      const bool is_over = trips && k >= trip_at + BlackBox::kAfterTrip;
      if (!is_over) expected.push_back(message);
      ASSERT_EQ(box->is_frozen(), trips && k + 1 >= trip_at + BlackBox::kAfterTrip);
    }
    box->freeze();
    ASSERT_TRUE(box->is_frozen());
    box->on_message(firmware_iface::Direction::kToHost, std::array<std::uint8_t, 1>{9},
                    firmware_iface::Nanoseconds(1));
    const std::size_t count = std::min(expected.size(), BlackBox::kCapacity);
    ASSERT_EQ(box->count(), count);
    for (std::size_t k = 0; k < count; ++k) {
      const Message& message = expected[expected.size() - count + k];
      ASSERT_EQ(box->message(k).at, message.at) << k;
      ASSERT_EQ(box->message(k).direction, message.direction) << k;
      const auto bytes = box->message(k).message();
      ASSERT_TRUE(std::ranges::equal(bytes, message.bytes)) << k;
    }
  }
}

SafetyLimits limits_of_three_joints() {
  SafetyLimits limits{.motor = {{"arm", 5.0, 1000.0}, {"cart", 4.0, 100.0}},
                      .staleness_s_max = 0.005,
                      .joint = {{"arm", -2.0, 2.0, 20.0, 0.1, 0.0105},
                                {"pendulum", -50.0, 50.0, 40.0, 0.1, 0.0105},
                                {"cart", -0.5, 0.5, 3.0, 0.01, 0.0105}},
                      .inertial = {{.sensor = "imu"}, {.sensor = "foot"}}};
  limits.joint[2].slides = true;
  limits.motion.resize(3);
  for (std::size_t j : {0U, 2U}) {
    limits.motion[j].motor = j == 0 ? 0 : 1;
    limits.motion[j].stall_command = 1.0;
    limits.motion[j].stall_time_s = 0.5;
  }
  return limits;
}

struct LimitField {
  double& (*of)(SafetyLimits&);
  std::vector<const char*> parts;  // of sentences about it: its subject, its name
  bool may_be_negative = false;
};

/// The numbers of the limits of three joints, with subjects other than the first of each kind.
std::vector<LimitField> limit_fields() {
  using L = SafetyLimits;
  return {
      {[](L& l) -> double& { return l.motor[0].command_max; }, {"\"arm\"", "command_max"}},
      {[](L& l) -> double& { return l.motor[1].command_max; }, {"\"cart\"", "command_max"}},
      {[](L& l) -> double& { return l.motor[1].command_slew_per_s_max; },
       {"\"cart\"", "command_slew_per_s_max"}},
      {[](L& l) -> double& { return l.staleness_s_max; }, {"staleness_ms_max"}},
      {[](L& l) -> double& { return l.joint[1].angle_rad_min; }, {"\"pendulum\"", "angle"}, true},
      {[](L& l) -> double& { return l.joint[1].angle_rad_max; }, {"\"pendulum\"", "angle"}, true},
      {[](L& l) -> double& { return l.joint[2].angle_rad_max; }, {"\"cart\"", "position_m"}, true},
      {[](L& l) -> double& { return l.joint[1].speed_rad_per_s_max; },
       {"\"pendulum\"", "speed_rad_per_s_max"}},
      {[](L& l) -> double& { return l.joint[2].speed_rad_per_s_max; },
       {"\"cart\"", "speed_m_per_s_max"}},
      {[](L& l) -> double& { return l.joint[1].jump_rad_max; }, {"\"pendulum\"", "jump_rad_max"}},
      {[](L& l) -> double& { return l.joint[2].jump_rad_max; }, {"\"cart\"", "jump_m_max"}},
      {[](L& l) -> double& { return l.joint[2].missing_s_max; }, {"\"cart\"", "missing_ms_max"}},
      {[](L& l) -> double& { return l.motion[0].stall_command; }, {"\"arm\"", "stall", "command"}},
      {[](L& l) -> double& { return l.motion[2].stall_time_s; }, {"\"cart\"", "stall", "time_s"}}};
}

// Each number of each joint and motor in turn. Catches a field, or a joint or motor other than the
// first, that is not checked.
TEST(SafetyLimitsCheck, ReportsEachNumberAlone) {
  EXPECT_TRUE(find_limit_errors(limits_of_three_joints()).empty());
  for (const LimitField& field : limit_fields()) {
    for (const double wrong : {0.0, -1.0, kNoNumber, kInfinite, -kInfinite}) {
      if (field.may_be_negative && std::isfinite(wrong)) continue;
      SCOPED_TRACE(std::string(field.parts.back()) + " = " + std::to_string(wrong));
      SafetyLimits limits = limits_of_three_joints();
      field.of(limits) = wrong;
      const std::vector<std::string> errors = find_limit_errors(limits);
      ASSERT_GE(errors.size(), 1U);
      for (const char* part : field.parts) expect_parts(errors[0], {part});
    }
  }
}

// Each number in turn, looser, tighter and equal. Times are in milliseconds, except that of stalls.
// A limit of an inertial sensor counts only if its faults ended the run before.
TEST(LoosenedLimit, IsReportedForEachNumberAlone) {
  SafetyLimits before = limits_of_three_joints();
  before.inertial = {{"imu", true, 0.02, 0.5, 0.1}, {"foot", true, 0.03, 0.6, 0.2}};
  EXPECT_EQ(find_loosened_limit(before, before), "");
  std::vector<LimitField> fields = limit_fields();
  using L = SafetyLimits;
  fields.push_back({[](L& l) -> double& { return l.inertial[1].missing_s_max; },
                    {"\"foot\"", "missing_ms_max"}});
  fields.push_back(
      {[](L& l) -> double& { return l.inertial[1].stuck_s_max; }, {"\"foot\"", "stuck_ms_max"}});
  fields.push_back({[](L& l) -> double& { return l.inertial[0].saturated_s_max; },
                    {"\"imu\"", "saturated_ms_max"}});
  for (const LimitField& field : fields) {
    SCOPED_TRACE(field.parts.back());
    SafetyLimits present = before;
    const double was = field.of(present);
    const bool is_lower_bound = was < 0.0;
    for (const double by : {1.25, 0.75, kNoNumber}) {
      field.of(present) = was * by;
      const std::string text = find_loosened_limit(present, before);
      if (by == 0.75) {
        EXPECT_EQ(text, "");
        continue;
      }
      for (const char* part : field.parts) expect_parts(text, {part});
      const bool is_ms = text.find("_ms_max") != std::string::npos;
      const std::string from = notation::format_number((is_ms ? 1e3 : 1.0) * was, 6);
      expect_parts(text, {(" was loosened from " + from + " to ").c_str()});
      if (is_lower_bound) expect_parts(text, {"_min of joint"});
    }
    if (field.parts[0] != std::string("\"foot\"")) continue;
    SafetyLimits unwatched = before;
    unwatched.inertial[1].stops_run = false;
    present = before;
    field.of(present) = was * 1.25;
    EXPECT_EQ(find_loosened_limit(present, unwatched), "");
  }
}

// Checks that were removed, and lists of other lengths.
TEST(LoosenedLimit, IsReportedForAnOmittedCheck) {
  SafetyLimits before = limits_of_three_joints();
  before.inertial = {{"imu", true, 0.0, 0.5, 0.1}, {"foot", true, 0.03, 0.6, 0.2}};
  before.motion[0].is_unaffected = before.motion[2].is_unaffected = true;  // the others
  const std::pair<std::function<void(SafetyLimits&)>, const char*> changes[] = {
      {[](auto& l) { l.motion[1].is_unaffected = true; }, "may_stand_still of joint \"pendulum\""},
      {[](auto& l) { l.inertial[1].stops_run = false; }, "the entry of inertial sensor \"foot\""},
      {[](auto& l) { l.inertial[0].missing_s_max = 0.001; },
       "missing_ms_max of inertial sensor \"imu\" was changed"},
      {[](auto& l) { l.inertial[1].missing_s_max = 0.0; },
       "missing_ms_max of inertial sensor \"foot\" was changed"},
      {[](auto& l) { l.joint.pop_back(); }, "the joints, motors or sensors"},
      {[](auto& l) { l.motor.pop_back(); }, "the joints, motors or sensors"},
      {[](auto& l) { l.motion.pop_back(); }, "the joints, motors or sensors"},
      {[](auto& l) { l.inertial.pop_back(); }, "the joints, motors or sensors"}};
  for (const auto& [change, part] : changes) {
    SafetyLimits present = before;
    change(present);
    EXPECT_TRUE(find_loosened_limit(present, before).starts_with(part)) << part;
  }
  // The other way round, a check is added.
  SafetyLimits looser = before;
  looser.motion[1].is_unaffected = true;
  looser.inertial[1].stops_run = false;
  looser.inertial[1].missing_s_max = 0.0;
  EXPECT_EQ(find_loosened_limit(before, looser), "");
}

// Equal bounds leave no range; a passive joint needs no stall limits; the largest numbers of
// joints, motors and sensors are allowed, and one more is not.
TEST(SafetyLimitsCheck, HasExactBounds) {
  SafetyLimits limits = limits_of_three_joints();
  limits.joint[1].angle_rad_min = limits.joint[1].angle_rad_max;
  EXPECT_EQ(find_limit_errors(limits).size(), 1U);
  limits = limits_of_three_joints();
  limits.motion[1].stall_command = limits.motion[1].stall_time_s = kNoNumber;
  EXPECT_TRUE(find_limit_errors(limits).empty());
  limits = limits_of_three_joints();
  limits.joint.clear();
  limits.motion.clear();
  EXPECT_EQ(find_limit_errors(limits).size(), 1U);
  for (const std::size_t more : {0U, 1U}) {
    const std::pair<std::size_t, std::function<void(SafetyLimits&)>> fill[] = {
        {16, [&](SafetyLimits& l) { l.joint.resize(16 + more, l.joint[1]); }},
        {8, [&](SafetyLimits& l) { l.motor.resize(8 + more, l.motor[1]); }},
        {INERTIAL_SENSORS_MAX,
         [&](SafetyLimits& l) { l.inertial.resize(INERTIAL_SENSORS_MAX + more, l.inertial[1]); }}};
    for (const auto& [most, change] : fill) {
      limits = limits_of_three_joints();
      change(limits);
      const std::vector<std::string> errors = find_limit_errors(limits);
      ASSERT_EQ(errors.size(), more);
      if (more > 0) expect_parts(errors[0], {("at most " + std::to_string(most)).c_str()});
    }
  }
}

// Every cause with every index. The text starts with the name of the joint, motor or sensor that
// the cause concerns, states the value before the limit, with the unit of a sliding joint where it
// slides, and the time. Indices beyond the lists name nothing.
TEST(TripText, NamesItsSubjectAndStatesValueBeforeLimit) {
  const SafetyLimits limits = limits_of_three_joints();
  for (int number = 1; number <= static_cast<int>(TripCause::kUnitClock); ++number) {
    const auto cause = static_cast<TripCause>(number);
    SCOPED_TRACE(std::string(to_string(cause)));
    const int kinds =
        concerns_joint(cause) + concerns_motor(cause) + concerns_inertial_sensor(cause);
    ASSERT_LE(kinds, 1);
    const std::vector<std::string> names =
        concerns_joint(cause)             ? std::vector<std::string>{"arm", "pendulum", "cart"}
        : concerns_motor(cause)           ? std::vector<std::string>{"arm", "cart"}
        : concerns_inertial_sensor(cause) ? std::vector<std::string>{"imu", "foot"}
                                          : std::vector<std::string>{};
    for (std::uint8_t index = 0; index <= 3; ++index) {
      const Trip trip{cause, index, 2.0, 0.75, 0.5};
      const std::string subject = find_trip_subject(trip, limits);
      EXPECT_EQ(subject, index < names.size() ? names[index] : "");
      const std::string text = describe_trip(trip, limits);
      if (!subject.empty()) EXPECT_TRUE(text.starts_with(subject + ": ")) << text;
      expect_parts(text, {"at t = 2.000 s"});
      const std::size_t value = std::min(text.find("0.75"), text.find("750 ms"));
      const std::size_t limit = std::min(text.find("0.5"), text.find("500 ms"));
      if (value != std::string::npos && limit != std::string::npos) EXPECT_LT(value, limit) << text;
      const std::string unit(trip_unit(cause, concerns_joint(cause) && index == 2));
      const bool has_unit = value != std::string::npos && text.find(" ms") == std::string::npos &&
                            !concerns_motor(cause) && !unit.empty();
      if (has_unit && text.find("after the last sample") == std::string::npos) {
        EXPECT_TRUE(text.substr(value).starts_with("0.75 " + unit)) << text;
      }
    }
  }
}

// Each cause with the remedy of its text. Catches a condition that joins two causes.
TEST(TripText, AdvisesAboutTheSourceOfTheTrip) {
  const std::map<TripCause, const char*> remedies = {
      {TripCause::kEncoderJump, ". Check the encoder and its cable"},
      {TripCause::kMissingChannel, ". Check the encoder and its cable"},
      {TripCause::kLinkLost, ". Check the line, its adapters and the unit's supply"},
      {TripCause::kStaleSample, ". Check the line, its adapters and the unit's supply"},
      {TripCause::kInertialMissing, ". Check the sensor and its cable"},
      {TripCause::kInertialStuck, ". Check the sensor and its cable"},
      {TripCause::kInertialSaturated, ". Check the sensor and its cable"},
      {TripCause::kAngle, ""},
      {TripCause::kSpeed, ""},
      {TripCause::kCommandNotFinite, ""}};
  for (const auto& [cause, remedy] : remedies) {
    const std::string text = describe_trip({cause, 0, 2.0, 0.75, 0.5}, limits_of_three_joints());
    EXPECT_TRUE(text.ends_with(std::string(", at t = 2.000 s") + remedy)) << text;
  }
}

// Which causes concern a joint, a motor or a sensor; and the cause of each fault of a sensor.
TEST(TripText, CausesConcernWhatTheirNamesMean) {
  std::string joints, motors, sensors;
  for (int number = 0; number <= static_cast<int>(TripCause::kUnitClock); ++number) {
    const auto cause = static_cast<TripCause>(number);
    const std::string name = std::string(to_string(cause)) + ", ";
    if (concerns_joint(cause)) joints += name;
    if (concerns_motor(cause)) motors += name;
    if (concerns_inertial_sensor(cause)) sensors += name;
  }
  EXPECT_EQ(joints,
            "angle, speed, encoder jump, missing channel, stall, frozen encoder, "
            "no response, late encoder, wrong direction, count step, reversal, repeated counts, "
            "creep, growing swings, ");
  EXPECT_EQ(motors, "command not finite, command mismatch, ");
  EXPECT_EQ(sensors, "inertial sensor missing, inertial sensor stuck, inertial sensor saturated, ");
  EXPECT_EQ(to_trip_cause(InertialFault::kMissing), TripCause::kInertialMissing);
  EXPECT_EQ(to_trip_cause(InertialFault::kStuck), TripCause::kInertialStuck);
  EXPECT_EQ(to_trip_cause(InertialFault::kSaturated), TripCause::kInertialSaturated);
}

// The advice for each joint that starts outside its range, and none for other causes or joints.
TEST(TripText, AdvisesToMoveTheJointThatStartsOutsideItsRange) {
  const SafetyLimits limits = limits_of_three_joints();
  const std::string turning =
      describe_start_remedy({TripCause::kAngle, 0, 0.0, 12.5664, 2.0}, limits);
  expect_parts(turning, {"joint \"arm\" is at 12.57 rad (2 turns)", "between -2 and 2 rad",
                         "switch the unit off and on"});
  const std::string sliding = describe_start_remedy({TripCause::kAngle, 2, 0.0, 0.6, 0.5}, limits);
  expect_parts(sliding, {"joint \"cart\" is at 0.6 m", "between -0.5 and 0.5 m"});
  EXPECT_EQ(describe_start_remedy({TripCause::kAngle, 3, 0.0, 0.6, 0.5}, limits), "");
  EXPECT_EQ(describe_start_remedy({TripCause::kSpeed, 1, 0.0, 50.0, 40.0}, limits), "");
}

}  // namespace
}  // namespace daq
