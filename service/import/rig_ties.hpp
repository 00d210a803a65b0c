#pragma once

#include <set>
#include <string>

#include "estimator/model/mechanism.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"

namespace service {

/// Adds the quantities that the rig file names itself to the mechanism's parameters.
/// @throws proto::InputError where a name is taken, or a value cannot be
void add_quantities(const rigcal::v1::Rig& rig, const proto::TextLocator& root,
                    estimator::Mechanism& mechanism);

/// Adds the centres of mass of bodies whose frame sits elsewhere to the parameters, then ties:
/// those of the file, and points on such bodies to their centre of mass. Tied parameters have the
/// values that follow.
///
/// @param stated  names of the parameters that the file gives a value for
/// @throws proto::InputError for an unknown parameter, a circle, a value that contradicts its tie,
///         or one outside its bounds
void add_ties(const rigcal::v1::Rig& rig, const proto::TextLocator& root,
              const std::set<std::string>& stated, estimator::Mechanism& mechanism);

/// Whether the file ties a parameter of that name.
bool is_tied(const rigcal::v1::Rig& rig, const std::string& parameter);

}  // namespace service
