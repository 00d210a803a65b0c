#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Function that refuses an empty or used name. @param kind  for messages
using NameCheck =
    std::function<void(const std::string& name, const char* kind, const proto::TextLocator& place)>;

/// Function that reads a field with a Parameter.
using ParameterRead =
    std::function<void(const google::protobuf::Message& message, const char* field,
                       const proto::TextLocator& place, estimator::Parameter& parameter)>;

/// Data of an instrument in a rig file for the columns of its readings.
struct InstrumentFacts {
  /// Unit defined by the sensor itself.
  struct Unit {
    const char* word;   ///< enumerator of the column's Unit
    const char* what;   ///< "counts"
    const char* field;  ///< field that defines it
    double size;        ///< [SI unit]; 0: unknown
  };
  double range = 0.0;  ///< largest magnitude [SI unit]; 0: unknown
  std::vector<Unit> units = {};
};

/// Returns the data of a sensor's instrument; nullopt if the sensor lacks it.
/// @param instrument  0: the first, 1: the second
std::optional<InstrumentFacts> instrument_facts(const rigcal::v1::Rig& rig, int sensor,
                                                int instrument);

/// Adds a rig file's sensors other than encoders to the mechanism, grouped by type.
/// @throws proto::InputError for a sensor without body or joint, or without instrument
void add_sensors(const rigcal::v1::Rig& rig, const proto::TextLocator& root,
                 estimator::Mechanism& mechanism, const NameCheck& check_name);

/// Reads the parameters of these sensors, which the mechanism must have.
void read_sensors(const rigcal::v1::Rig& rig, const proto::TextLocator& root,
                  estimator::Mechanism& mechanism, const ParameterRead& read);

}  // namespace service
