#pragma once

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"
#include "service/import/recording_format.hpp"

namespace service {

/// A column of a rig file's recording { } that holds what a sensor of places reads.
/// @param place  of this column
/// @throws proto::InputError for an unknown sensor, an axis that it does not have, a wrong unit
InertialColumn read_place_column(const rigcal::v1::PlaceColumn& source, const rigcal::v1::Rig& rig,
                                 const estimator::Mechanism& mechanism,
                                 const proto::TextLocator& place);

}  // namespace service
