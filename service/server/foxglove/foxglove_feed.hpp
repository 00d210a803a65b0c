#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "proto/service.pb.h"
#include "service/rig/drawing/live_mechanism.hpp"

namespace service {

/// Channels of a running session in the Foxglove WebSocket protocol. Their numbers are on the wire.
enum class FoxgloveChannel : std::uint32_t {
  kSamples = 1,
  kJointStates,
  kLog,
  kEstimates,
  kScene,
  kTransforms,
};

/// Message of a channel.
struct FoxgloveMessage {
  FoxgloveChannel channel;
  std::uint64_t time_ns;  ///< since 1970
  std::string json;
};

/// Converts the live data of one session to messages for Foxglove and Lichtblick: samples, joint
/// states, log, estimates and, with a rig file, a 3-D scene. The world frame of the scene has z
/// upward; the frame "rig" is the world frame of the rig file.
class FoxgloveFeed {
 public:
  explicit FoxgloveFeed(const rigcal::v1::SessionInfo& session);

  /// Adds the scene of the rig.
  void set_mechanism(std::unique_ptr<LiveMechanism> mechanism);
  bool has_scene() const { return mechanism_ != nullptr; }

  /// Returns the message that offers the session's channels; with `scene`, only the channels of the
  /// scene.
  std::string make_advertisement(bool scene) const;
  /// Returns the message that withdraws all channels.
  std::string make_withdrawal() const;

  /// Returns the messages of a batch on the wanted channels.
  std::vector<FoxgloveMessage> convert(const rigcal::v1::SampleBatch& batch,
                                       const std::set<FoxgloveChannel>& wanted);
  FoxgloveMessage convert(const rigcal::v1::LiveEstimate& estimate) const;
  /// Returns the bodies of the rig. A client needs them once, after it has subscribed.
  FoxgloveMessage make_scene() const;

 private:
  FoxgloveMessage make_samples(const rigcal::v1::Sample& sample) const;
  FoxgloveMessage make_joint_states(const rigcal::v1::Sample& sample) const;
  FoxgloveMessage make_transforms(const rigcal::v1::Sample& sample);
  FoxgloveMessage make_log(const rigcal::v1::Event& event) const;
  std::uint64_t time_of(double timestamp_s) const;

  std::int64_t epoch_ns_;
  double latest_s_ = 0.0;
  double next_joint_states_s_, next_transforms_s_;
  std::vector<std::string> joints_, motors_;
  std::unique_ptr<LiveMechanism> mechanism_;
};

/// Returns the first message to a client.
std::string make_foxglove_greeting(const std::string& version);

/// Returns the binary frame of a message for a subscription.
std::string make_foxglove_frame(std::uint32_t subscription, const FoxgloveMessage& message);

}  // namespace service
