#pragma once

#include <google/protobuf/message.h>

#include <map>
#include <set>
#include <string>

#include "estimator/model/mechanism.hpp"
#include "estimator/model/parameter_dependencies.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Adds the user-defined quantities of a rig file to the parameters of the mechanism.
/// @throws proto::InputError for a name that is already used, or an invalid value
void add_rig_quantities(const rigcal::v1::Rig& rig, const proto::TextLocator& root,
                        estimator::Mechanism& mechanism);

/// Adds the parameter dependencies of a rig file to the mechanism, and computes the values of
/// dependent parameters. If the frame origin of a body is not its centre of mass, the centre of
/// mass becomes a parameter on which the points of the body depend.
/// @param stated  names of the parameters whose value is given in the file
/// @throws proto::InputError for an unknown parameter, a circular dependency, or a value that
///         contradicts its dependency or violates its bounds
void add_parameter_dependencies(const rigcal::v1::Rig& rig, const proto::TextLocator& root,
                                const std::set<std::string>& stated,
                                estimator::Mechanism& mechanism);

/// Returns whether a rig file defines a dependency for the parameter with this name.
bool is_dependent_parameter(const rigcal::v1::Rig& rig, const std::string& parameter);

/// Reads a parameter from a field of a rig file. Before the call, `target` must contain the default
/// value and the physical bounds. A missing field leaves `target` unchanged.
/// @return whether the field has a value
/// @throws proto::InputError for a value outside the physical bounds
bool read_parameter(const google::protobuf::Message& message, const char* field,
                    const proto::TextLocator& parent, estimator::Parameter& target);

/// Returns whether the parameter in a field of a rig file has a negative value or lower bound.
bool allows_negative_value(const google::protobuf::Message& message, const char* field);

/// Reads prior information from a rig file: uncertainty of CAD data, recordings in which a body is
/// present, and priors of initial joint states. The parameters must have been read before.
/// @param places  locations of parameters in the rig file, by parameter name
/// @return locations of priors in the rig file, by parameter name
/// @throws proto::InputError for invalid CAD data, or if a body that is absent in some recordings
///         carries other bodies or sensors
std::map<std::string, std::string> read_priors(
    const rigcal::v1::Rig& rig, const proto::TextLocator& root,
    const std::map<std::string, proto::TextLocator>& places, estimator::Mechanism& mechanism);

}  // namespace service
