#pragma once

#include <set>
#include <string>

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Adds the rig file's own quantities to the mechanism's parameters.
/// @throws proto::InputError for a used name or an invalid value
void add_quantities(const rigcal::v1::Rig& rig, const proto::TextLocator& root,
                    estimator::Mechanism& mechanism);

/// Adds the centres of mass of bodies with another frame origin to the parameters. Then adds
/// parameter dependencies: those of the file, and those of points on such bodies to the centre of
/// mass. Dependent parameters get the values of their dependencies.
///
/// @param stated  names of the parameters with a value in the file
/// @throws proto::InputError for an unknown parameter, a circular dependency, a value that
/// contradicts its
///         dependency or violates its bounds
void add_parameter_ties(const rigcal::v1::Rig& rig, const proto::TextLocator& root,
                        const std::set<std::string>& stated, estimator::Mechanism& mechanism);

/// Whether the file has a dependency of a parameter of that name.
bool is_tied_parameter(const rigcal::v1::Rig& rig, const std::string& parameter);

}  // namespace service
