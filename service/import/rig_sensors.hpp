#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Refuses a name that is taken, or none. @param kind  for people
using NameCheck =
    std::function<void(const std::string& name, const char* kind, const proto::TextLocator& place)>;

/// Reads a field that holds a Parameter.
using ParameterRead =
    std::function<void(const google::protobuf::Message& message, const char* field,
                       const proto::TextLocator& place, estimator::Parameter& parameter)>;

/// What a rig file says of an instrument for the columns that hold its readings.
struct InstrumentFacts {
  /// A unit that the sensor itself states.
  struct Unit {
    const char* word;   ///< an enumerator of the column's Unit
    const char* what;   ///< "counts"
    const char* field;  ///< that states it
    double size;        ///< [SI unit]; 0: not stated
  };
  double range = 0.0;  ///< most it can read either way [SI unit]; 0: not stated
  std::vector<Unit> units = {};
};

/// Of a sensor of the mechanism; none where its case does not hold that instrument.
/// @param instrument  0: the first, 1: the second
std::optional<InstrumentFacts> instrument_facts(const rigcal::v1::Rig& rig, int sensor,
                                                int instrument);

/// Adds a rig file's sensors other than encoders to the mechanism, those of one message after the
/// other, each in their order.
/// @throws proto::InputError for one on no body or at no joint, or that reads nothing
void add_sensors(const rigcal::v1::Rig& rig, const proto::TextLocator& root,
                 estimator::Mechanism& mechanism, const NameCheck& check_name);

/// Reads their parameters, which the mechanism has by now.
void read_sensors(const rigcal::v1::Rig& rig, const proto::TextLocator& root,
                  estimator::Mechanism& mechanism, const ParameterRead& read);

}  // namespace service
