#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Function that throws proto::InputError for a name that is empty or already used. `kind` is the
/// type of the named element, for messages.
using NameCheck =
    std::function<void(const std::string& name, const char* kind, const proto::TextLocator& place)>;

/// Function that reads a parameter from a field of a rig file, if the file has the field.
using ReadParameter =
    std::function<void(const google::protobuf::Message& message, const char* field,
                       const proto::TextLocator& place, estimator::Parameter& parameter)>;

/// Range and units of an instrument in a rig file. An inertial sensor has two instruments,
/// gyroscope and accelerometer; other sensors have one or two.
struct InstrumentProperties {
  /// Unit of measurement that depends on the sensor, such as counts.
  struct InstrumentUnit {
    const char* word;   ///< name of the unit in recording { }
    const char* what;   ///< name of the unit in messages, e.g. "counts"
    const char* field;  ///< field of the sensor that gives the size
    double size;        ///< size of one unit [SI unit]; 0 if unknown
  };
  double range = 0.0;  ///< largest magnitude of a reading [SI unit]; 0 if unknown
  std::vector<InstrumentUnit> units = {};
};

/// Returns the range and units of an instrument in a sensor; nullopt if the sensor does not have
/// the instrument.
/// @param instrument  0 for the first instrument, 1 for the second
std::optional<InstrumentProperties> find_instrument_properties(const rigcal::v1::Rig& rig,
                                                               const estimator::Sensor& sensor,
                                                               int instrument);

/// Adds the sensors of a rig file, except encoders, to the mechanism, grouped by type.
/// @throws proto::InputError for a sensor without a body or joint, or without an instrument
void add_sensors(const rigcal::v1::Rig& rig, const proto::TextLocator& root,
                 estimator::Mechanism& mechanism, const NameCheck& check_name);

/// Reads the parameters of all sensors other than encoders from a rig file. The sensors must have
/// been added by `add_sensors`.
void read_sensor_parameters(const rigcal::v1::Rig& rig, const proto::TextLocator& root,
                            estimator::Mechanism& mechanism, const ReadParameter& read);

}  // namespace service
