#include "service/rig/init/rig_answers.hpp"

#include "proto/text/input_error.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

const RigKindDescription& row_of(RigKind kind) {
  return supported_rig_kinds()[static_cast<std::size_t>(kind)];
}

/// Returns the names, or those of a double pendulum or chain, "PREFIX1", "PREFIX2" and so on.
std::vector<std::string> names_or_chain(std::vector<std::string> names, const std::string& prefix,
                                        RigKind kind, int chain) {
  if (kind != RigKind::kDoublePendulum && kind != RigKind::kChain) return names;
  const int count = kind == RigKind::kDoublePendulum ? 2 : chain;
  for (int k = 1; k <= count; ++k) names.push_back(prefix + std::to_string(k));
  return names;
}

}  // namespace

const std::vector<RigKindDescription>& supported_rig_kinds() {
  static const std::vector<RigKindDescription> kKinds = {
      {RigKind::kPendulum, "pendulum", "one link on a joint", {"rod"}, {"pivot"}},
      {RigKind::kDoublePendulum,
       "double-pendulum",
       "two links in series, in a vertical plane",
       {},
       {}},
      {RigKind::kChain, "chain", "three or more links in series, in a vertical plane", {}, {}},
      {RigKind::kFuruta,
       "furuta",
       "an arm that turns about the vertical, a pendulum at its end",
       {"arm", "pendulum"},
       {"1", "2"}},
      {RigKind::kCartPole,
       "cart-pole",
       "a pendulum on a cart that slides on a rail",
       {"pole"},
       {"rail", "pivot"}},
      {RigKind::kCart, "cart", "a cart that slides on a rail", {}, {"rail"}},
      {RigKind::kFourbar,
       "four-bar",
       "crank, coupler and rocker between two fixed joints",
       {"crank", "coupler", "rocker"},
       {"O", "R"}}};
  return kKinds;
}

RigKind parse_rig_kind(const std::string& text) {
  for (const RigKindDescription& kind : supported_rig_kinds()) {
    if (text == kind.name) return kind.kind;
  }
  throw proto::InputError("\"" + text + "\" is not a kind of rig that init supports. Use one of " +
                          join_items(supported_rig_kinds(), &RigKindDescription::name) +
                          ", or write a rig file by hand (docs/reference/rig-file.md)");
}

const char* rig_kind_name(RigKind kind) { return row_of(kind).name; }

std::vector<std::string> link_names(RigKind kind, int chain) {
  return names_or_chain(row_of(kind).links, "link", kind, chain);
}

std::vector<std::string> measured_joint_names(RigKind kind, int chain) {
  return names_or_chain(row_of(kind).joints, "", kind, chain);
}

void check_link_sizes(const RigAnswers& answers) {
  const std::vector<std::string> names =
      link_names(answers.kind, static_cast<int>(answers.links.size()));
  const bool fourbar = answers.kind == RigKind::kFourbar;
  // The last link ends at its tip; other links may extend beyond the next joint.
  if (!fourbar && !answers.links.empty()) {
    const LinkAnswer& last = answers.links.back();
    if (last.length && last.center && *last.center > *last.length) {
      throw proto::InputError(names.back() + ": its centre of mass at " +
                              format_number(*last.center) + " m lies beyond its tip at " +
                              format_number(*last.length) +
                              " m; measure both from its joint, the length to the tip");
    }
  }
  if (!fourbar || !answers.ground) return;
  double sum = *answers.ground, longest = *answers.ground;
  std::string which = "the distance between the fixed joints";
  for (std::size_t k = 0; k < answers.links.size(); ++k) {
    if (!answers.links[k].length) return;
    const double length = *answers.links[k].length;
    sum += length;
    if (length <= longest) continue;
    longest = length;
    which = "the " + names[k];
  }
  if (longest < sum - longest) return;
  throw proto::InputError("a four-bar with these lengths cannot be assembled: " + which + ", " +
                          format_number(longest) +
                          " m, must be shorter than the sum of the other three, " +
                          format_number(sum - longest) + " m. Measure from joint to joint");
}

}  // namespace service
