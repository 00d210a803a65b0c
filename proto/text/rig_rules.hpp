#pragma once

#include <initializer_list>
#include <string>

#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

// Rules of rig files (proto/rig.proto) that both rigcal and rigcal-daq check.

namespace proto {

/// Rejects fields of revolute joints for a sliding joint, and of sliding joints for a revolute one.
/// @param of_turn   names of the fields of revolute joints
/// @param of_slide  the corresponding fields of sliding joints, in the same order
/// @throws InputError naming the right field
void require_kind(const std::string& joint, bool slides, const google::protobuf::Message& message,
                  std::initializer_list<const char*> of_turn,
                  std::initializer_list<const char*> of_slide, const TextLocator& place);

/// Checks that the limits in the section `safety` of a rig file refer to motors and joints of the
/// file, to each at most once, with fields for the joint type. A lower limit must be below its
/// upper limit, and the largest command of a motor must not exceed its control_max.
/// @param root  location of the rig in its file
/// @throws InputError
void check_safety(const rigcal::v1::Rig& rig, const TextLocator& root);

/// Checks that the section `safety` contains the limits that a run on a rig needs. Each motor, and
/// each joint with a channel in the section `unit`, must have limits; other joints must not.
/// @param root  location of the rig in its file
/// @throws InputError
void check_safety_is_complete(const rigcal::v1::Rig& rig, const TextLocator& root);

}  // namespace proto
