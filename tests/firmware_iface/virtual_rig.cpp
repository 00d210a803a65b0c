#include "tests/firmware_iface/virtual_rig.hpp"
#include "tests/support/virtual_time.hpp"

#include <gtest/gtest.h>

namespace virtual_rig {

using namespace firmware_iface;
using namespace std::chrono_literals;

VirtualRig::VirtualRig(const sim::SimulationSettings& settings,
                       const sim::JointState& start_state) {
  auto simulation = std::make_unique<sim::UnitSimulation>(
      settings,
      sim::Plant(std::make_unique<sim::FurutaModel>(sim::FurutaParameters{}), start_state),
      Nanoseconds(0));
  transport =
      std::make_unique<sim::SimTransport>(std::move(simulation), std::make_shared<VirtualTime>(),
                                          "virtual rig", settings.to_host.baud_rate);
  link = std::make_unique<UnitLink>(*transport);
}

void VirtualRig::start(const StreamSettings& stream) {
  const auto facts = link->connect();
  ASSERT_TRUE(facts.ok()) << facts.error().detail;
  const auto started = link->start_stream(stream);
  ASSERT_TRUE(started.ok()) << started.error().detail;
  ASSERT_EQ(clear(), ClearTripState::kDone);
}

ClearTripState VirtualRig::clear() {
  link->request_trip_clear();
  UnitSample sample;
  for (int k = 0; k < 2000 && link->trip_clear_state() == ClearTripState::kPending; ++k) {
    link->read_sample(transport->now() + 10ms, sample);
  }
  return link->trip_clear_state();
}

UnitSample VirtualRig::read() {
  UnitSample sample;
  EXPECT_EQ(link->read_sample(transport->now() + 10ms, sample), ReadStatus::kSample);
  return sample;
}

sim::SimulationSettings settings_at(int baud_rate) {
  sim::SimulationSettings settings;
  settings.to_host.baud_rate = settings.to_unit.baud_rate = baud_rate;
  return settings;
}

}  // namespace virtual_rig
