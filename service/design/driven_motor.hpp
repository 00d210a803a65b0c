#pragma once

#include <string>

#include "daq/scenario/command_limits.hpp"
#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"
#include "service/rig/rig_file.hpp"

namespace service {

/// Returns the index of the joint that the requested motor drives.
/// @param name  name of the joint; empty: the only motor
/// @throws proto::InputError if the rig has no such motor, or has several and no name is given
int find_driven_joint(const Rig& rig, const std::string& name);

/// Returns the command limits of a motor in the rig file. The largest command is lower if
/// requested.
/// @param command_max  requested largest command [unit of the control]; 0: the rig's limit
/// @throws proto::InputError if the rig file has no command limit, or a limit below `command_max`
daq::CommandLimits find_command_limits(const Rig& rig, int joint, double command_max);

/// Returns a sentence if the largest torque or force of a motor does not exceed the dry friction of
/// its joint, at the parameter values of the mechanism. Returns an empty text for a motor that can
/// move its joint.
/// @param command_max  largest command [unit of the control]
std::string describe_weak_motor(const Rig& rig, int joint, double command_max);

/// Returns a clause with remedies for a run in which a rig moves too little.
std::string list_motion_remedies(const Rig& rig);

/// First cautious run of a rig whose motor gain may be very wrong.
struct TestPushRun {
  std::string scenario;     ///< text of the scenario file (proto/scenario.proto)
  double command = 0.0;     ///< largest command [unit of the control]
  std::string motion_text;  ///< motion of the driven joint that ends a push, with its unit
};

/// Returns a run of test pushes, in which a command grows until the joint moves a little. A push
/// ends when the joint has moved by a twentieth of its range or by 0.2 rad (20 mm), whichever is
/// smaller, but by at least six encoder counts.
/// @param command       command at the end of a push without motion [unit of the control]
/// @param motion_share  factor on the motion that ends a push
/// @param rate          sampling rate [Hz]
TestPushRun make_test_push_run(const Rig& rig, int joint, double command, double motion_share,
                               double rate);

/// The joints to check for motion: at least one of them must move in a run.
enum class MovedJoints { kAny, kDriven };

/// Returns a sentence without full stop if no encoder reading changed by more than three counts in
/// a recording. Returns an empty text if a reading changed by more, or if the size of a count is
/// unknown.
/// @param joint  the driven joint; it must have its own encoder for MovedJoints::kDriven
std::string describe_missing_motion(const Rig& rig, int joint,
                                    const estimator::Recording& recording,
                                    MovedJoints moved = MovedJoints::kAny);

}  // namespace service
