#include "tests/firmware/qemu_rig.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "firmware_iface/transport/url.hpp"

namespace test_support {
namespace {

using firmware_iface::MonotonicTime;
using firmware_iface::Nanoseconds;
using std::chrono::milliseconds;

constexpr int kRigPriority = 46;  // below that of rigcal-daq, above that of QEMU

constexpr double kCommandMax_V = 10.0;  // of the image's motor
constexpr double kPpm = 1e-6;

// After a delay the rig runs at most twice as fast as the clock, so that a host keeps up too.
constexpr int kCatchUp = 2;

// Longer than the unit's dead-man time: a unit that does not answer for this long has been reset.
constexpr milliseconds kResetPatience{1500};

}  // namespace

QemuRig::QemuRig(const firmware_iface::sim::SimConfig& config, const std::string& log_path,
                 std::uint16_t port)
    : config_(config),
      unit_({.log_path = log_path, .port = port, .in_real_time = true}),
      plant_(config.make_plant()) {
  using ReleaseTime = firmware_iface::sim::HandSettings::ReleaseTime;
  plant_.set_held_by_hand(config_.settings.unit.hand.release != ReleaseTime::kFree);
  thread_ = std::thread([this] { run(); });
}

QemuRig::~QemuRig() {
  ended_.store(true);
  thread_.join();
}

RigState QemuRig::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::string QemuRig::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void QemuRig::run() {
  ask_for_real_time(kRigPriority);
  MonotonicTime time;
  const auto period = std::chrono::duration_cast<Nanoseconds>(
      std::chrono::duration<double, std::nano>(Nanoseconds(QemuUnit::kTick)) /
      (1.0 + config_.settings.unit.clock_error_ppm * kPpm));
  Nanoseconds due = time.now();
  Nanoseconds last = due - period;
  try {
    while (!ended_.load()) {
      time.sleep_until(std::max(due, last + period / kCatchUp));
      last = time.now();
      if (stopped_.load()) {
        due = last + period;
        if (const auto output = unit_.next_output(milliseconds(0))) output_ = *output;
      } else {
        step();
        due += period;
      }
      plant_.advance(std::chrono::duration<double>(period).count(),
                     output_.command_q15 / 32767.0 * kCommandMax_V);
      const std::lock_guard lock(mutex_);
      state_.output = output_;
      state_.joints = plant_.state();
    }
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    failure_ = error.what();
  }
}

void QemuRig::step() {
  if (plant_.is_held_by_hand() && let_go_.load()) plant_.set_held_by_hand(false);
  BoardInputs inputs = read_board();
  const std::optional<BoardOutput> output = unit_.tick(inputs, kResetPatience);
  if (output) {
    output_ = *output;
    const std::lock_guard lock(mutex_);
    ++state_.ticks;
  } else {
    output_ = {};
    inputs.misbehaviour = Misbehaviour::kNone;
    unit_.wait_until_up(inputs);
    const std::lock_guard lock(mutex_);
    ++state_.resets;
  }
}

BoardInputs QemuRig::read_board() {
  BoardInputs inputs;
  for (std::size_t k = 0; k < static_cast<std::size_t>(plant_.joint_count()); ++k) {
    const auto& encoder = config_.settings.unit.encoder[k];
    const double turns =
        (plant_.state().angle_rad[k] - encoder.zero_offset_rad) / (2.0 * std::numbers::pi);
    inputs.encoder_counts[k] =
        static_cast<std::int32_t>(std::llround(turns * encoder.counts_per_turn));
  }
  inputs.misbehaviour = misbehaviour_.load();
  if (inputs.misbehaviour != Misbehaviour::kDriverFault) misbehaviour_.store(Misbehaviour::kNone);
  return inputs;
}

}  // namespace test_support
