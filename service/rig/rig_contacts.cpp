#include "service/rig/rig_contacts.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "estimator/model/joint_friction.hpp"
#include "estimator/model/spanning_tree.hpp"
#include "service/rig/rig_joints.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

namespace v1 = rigcal::v1;
using estimator::ContactParameter;
using estimator::GroundContact;

constexpr double kTimeTolerance = 1e-9;  // of phases, which time stamps must reach [s]

std::vector<ContactColumn::Phase> read_phases(const v1::Contact& source,
                                              const proto::TextLocator& place) {
  std::vector<ContactColumn::Phase> phases;
  for (int i = 0; i < source.phase_size(); ++i) {
    const v1::Contact::Phase& phase = source.phase(i);
    const double end = phase.has_end_s() ? phase.end_s() : std::numeric_limits<double>::infinity();
    if (!(end > phase.start_s())) {
      place.at("phase", i)
          .fail("contact \"" + source.name() + "\": the phase ends at " + format_number(end) +
                " s, before it starts. Correct end_s");
    }
    if (i > 0 && phase.start_s() < phases.back().end) {
      place.at("phase", i)
          .fail("contact \"" + source.name() + "\": the phase starts at " +
                format_number(phase.start_s()) +
                " s, within the phase before it. Give phases that do not overlap, "
                "in order of time");
    }
    phases.push_back({phase.start_s(), end});
  }
  return phases;
}

/// Refuses joints whose motion a contact would make discontinuous.
void check_joints(const estimator::Mechanism& mechanism, const proto::TextLocator& place) {
  if (estimator::has_closed_loops(mechanism)) {
    place.fail(
        "contacts need a rig without closed loops and mimic joints. Remove the contact, or "
        "the joint that closes the loop");
  }
  for (int j = 0; j < mechanism.joint_count(); ++j) {
    if (!estimator::can_stick(mechanism, j)) continue;
    place.fail("contacts need joints that do not stick, but joint \"" +
               mechanism.joints[static_cast<std::size_t>(j)].name +
               "\" has dry friction. Write transition_speed: 0.01 in its friction { }");
  }
}

}  // namespace

double ContactColumn::activity(double time) const {
  const double now = time + kTimeTolerance;
  const bool is_active = phases.empty() || std::ranges::any_of(phases, [&](const Phase& phase) {
                           return now >= phase.start && now < phase.end;
                         });
  return is_active ? 1.0 : 0.0;
}

void add_contacts(const v1::Rig& rig, const proto::TextLocator& root,
                  estimator::Mechanism& mechanism, const NameCheck& check_name) {
  for (int i = 0; i < rig.contact_size(); ++i) {
    const v1::Contact& source = rig.contact(i);
    const proto::TextLocator place = root.at("contact", i);
    check_name(source.name(), "contact", place);
    mechanism.contacts.push_back({.name = source.name(),
                                  .body = find_body(mechanism, source.body(), "body", place, false),
                                  .kind = source.kind() == v1::Contact::PLANE
                                              ? GroundContact::Kind::kPlane
                                              : GroundContact::Kind::kPoint});
  }
}

void read_point(const v1::Point& source, const proto::TextLocator& place, int first,
                estimator::Mechanism& mechanism, const ReadParameter& read) {
  for (const char* field : {"x", "y", "z"}) {
    read(source, field, place, mechanism.parameters[static_cast<std::size_t>(first)]);
    ++first;
  }
}

void read_contact_points(const v1::Rig& rig, const proto::TextLocator& root,
                         estimator::Mechanism& mechanism, const ReadParameter& read) {
  for (int i = 0; i < rig.contact_size(); ++i) {
    read_point(rig.contact(i).point(), root.at("contact", i).at("point"),
               mechanism.contact_parameter_index(i, ContactParameter::kPointX), mechanism, read);
  }
}

std::vector<ContactColumn> read_contact_phases(const v1::Rig& rig, const proto::TextLocator& root,
                                               const estimator::Mechanism& mechanism) {
  std::vector<ContactColumn> contacts;
  for (int i = 0; i < rig.contact_size(); ++i) {
    const proto::TextLocator place = root.at("contact", i);
    check_joints(mechanism, place);
    contacts.push_back({.contact = rig.contact(i).name(),
                        .phases = read_phases(rig.contact(i), place),
                        .place = place.where()});
  }
  for (int i = 0; i < rig.recording().contact_size(); ++i) {
    const v1::ContactColumn& source = rig.recording().contact(i);
    const proto::TextLocator place = root.at("recording").at("contact", i);
    const auto found = std::ranges::find(contacts, source.contact(), &ContactColumn::contact);
    if (found == contacts.end()) {
      place.at("contact").fail("no contact is called \"" + source.contact() +
                               "\". Add contact { name: \"" + source.contact() +
                               "\" body: ... } to the rig file, or correct the name");
    }
    if (source.column().empty()) place.fail("needs the column's name; write column: \"...\"");
    if (!found->column.empty()) {
      place.at("contact").fail("contact \"" + source.contact() + "\" has two columns; keep one");
    }
    found->column = source.column();
  }
  return contacts;
}

void set_contacts(const std::vector<ContactColumn>& contacts, estimator::Segment& segment) {
  segment.contacts.resize(segment.sample_count(), std::ssize(contacts));
  for (Eigen::Index k = 0; k < segment.contacts.rows(); ++k) {
    for (Eigen::Index i = 0; i < segment.contacts.cols(); ++i) {
      segment.contacts(k, i) =
          contacts[static_cast<std::size_t>(i)].activity(segment.start + segment.time(k));
    }
  }
}

Eigen::RowVectorXd contact_activity(const Rig& rig, double time) {
  Eigen::RowVectorXd active(static_cast<Eigen::Index>(rig.contacts.size()));
  for (Eigen::Index i = 0; i < active.size(); ++i) {
    active[i] = rig.contacts[static_cast<std::size_t>(i)].activity(time);
  }
  return active;
}

}  // namespace service
