#pragma once

#include <optional>

#include "estimator/model/encoder.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"
#include "service/rig/recording_format.hpp"

namespace service {

/// Reader of pose { } in recording { } of a rig file: the columns of SPHERICAL and FREE joints.
class PoseReader {
 public:
  /// @param place  location of recording { }
  /// @throws proto::InputError for an unknown joint, a wrong number of columns, or a quaternion
  /// whose order is neither given nor follows from the headers, or contradicts them
  PoseReader(const rigcal::v1::RecordingFormat& source, const rigcal::v1::Rig& rig,
             const proto::TextLocator& place);

  /// Returns the column of a coordinate of a SPHERICAL or FREE joint; nullopt for other encoders.
  /// @throws proto::InputError if the joint has no pose { }
  std::optional<EncoderColumn> find_column(const estimator::Encoder& sensor) const;

 private:
  const rigcal::v1::RecordingFormat& source_;
  const rigcal::v1::Rig& rig_;
  proto::TextLocator place_;
};

}  // namespace service
