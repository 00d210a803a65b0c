#pragma once

#include <Eigen/Core>
#include <vector>

#include "estimator/model/mechanism.hpp"
#include "estimator/signal/time_series.hpp"
#include "proto/rig.pb.h"
#include "proto/text/text_file.hpp"
#include "service/rig/recording_format.hpp"
#include "service/rig/rig_file.hpp"
#include "service/rig/rig_sensors.hpp"

namespace service {

/// Adds the contacts with the ground of a rig file to the mechanism, which must have all joints.
/// @throws proto::InputError for an unknown body, or if the mechanism does not support contacts
void add_contacts(const rigcal::v1::Rig& rig, const proto::TextLocator& root,
                  estimator::Mechanism& mechanism, const NameCheck& check_name);

/// Reads the coordinates of a point on a body.
/// @param first  parameter index of the x coordinate
void read_point(const rigcal::v1::Point& source, const proto::TextLocator& place, int first,
                estimator::Mechanism& mechanism, const ReadParameter& read);

/// Reads the points of all contacts from a rig file.
void read_contact_points(const rigcal::v1::Rig& rig, const proto::TextLocator& root,
                         estimator::Mechanism& mechanism, const ReadParameter& read);

/// Reads the phases and columns of all contacts, and checks that contacts leave the rig at least
/// one degree of freedom.
/// @throws proto::InputError for phases that overlap, a column without contact, or joints whose
///         friction contacts do not support
std::vector<ContactColumn> read_contact_phases(const rigcal::v1::Rig& rig,
                                               const proto::TextLocator& root,
                                               const estimator::Mechanism& mechanism);

/// Sets the contacts of a segment from their phases.
void set_contacts(const std::vector<ContactColumn>& contacts, estimator::Segment& segment);

/// Returns 1 for each contact that is active at a time of a simulation [s], else 0.
Eigen::RowVectorXd contact_activity(const Rig& rig, double time);

}  // namespace service
