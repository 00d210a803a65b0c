#include "service/rig/init/rig_answers.hpp"

#include <utility>

#include "proto/text/input_error.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

template <typename Value>
struct Named {
  Value value;
  const char* name;
};

constexpr Named<ReadingUnit> kReadingUnits[] = {
    {ReadingUnit::kRadian, "rad"}, {ReadingUnit::kDegree, "deg"},
    {ReadingUnit::kTurn, "turn"},  {ReadingUnit::kCount, "count"},
    {ReadingUnit::kMetre, "m"},    {ReadingUnit::kMillimetre, "mm"}};
constexpr Named<TimeUnit> kTimeUnits[] = {
    {TimeUnit::kSecond, "s"}, {TimeUnit::kMillisecond, "ms"}, {TimeUnit::kMicrosecond, "us"}};

template <typename Value, std::size_t n>
Value parse(const Named<Value> (&names)[n], const std::string& text, const char* what) {
  std::string known;
  for (const auto& [value, name] : names) {
    if (text == name) return value;
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  throw proto::InputError("\"" + text + "\" is not a valid " + what + ". Use one of " + known);
}

}  // namespace

const std::vector<RigKindName>& rig_kinds() {
  static const std::vector<RigKindName> kKinds = {
      {RigKind::kPendulum, "pendulum", "one link on a joint"},
      {RigKind::kDoublePendulum, "double-pendulum", "two links in series, in a vertical plane"},
      {RigKind::kChain, "chain", "three or more links in series, in a vertical plane"},
      {RigKind::kFuruta, "furuta", "an arm that turns about the vertical, a pendulum at its end"},
      {RigKind::kCartPole, "cart-pole", "a pendulum on a cart that slides on a rail"},
      {RigKind::kFourbar, "four-bar", "crank, coupler and rocker between two fixed joints"}};
  return kKinds;
}

RigKind parse_rig_kind(const std::string& text) {
  std::string known;
  for (const RigKindName& kind : rig_kinds()) {
    if (text == kind.name) return kind.kind;
    known += (known.empty() ? "" : ", ") + std::string(kind.name);
  }
  throw proto::InputError("\"" + text + "\" is not a kind of rig that init supports. Use one of " +
                          known + ", or write a rig file by hand (docs/reference/rig-file.md)");
}

const char* name_of(RigKind kind) {
  for (const RigKindName& each : rig_kinds()) {
    if (each.kind == kind) return each.name;
  }
  return "";
}

ReadingUnit parse_reading_unit(const std::string& text) {
  return parse(kReadingUnits, text, "unit of a reading");
}

const char* name_of(ReadingUnit unit) {
  for (const auto& [value, name] : kReadingUnits) {
    if (value == unit) return name;
  }
  return "";
}

TimeUnit parse_time_unit(const std::string& text) {
  return parse(kTimeUnits, text, "unit of time");
}

std::vector<std::string> link_names(RigKind kind, int chain) {
  switch (kind) {
    case RigKind::kPendulum:
      return {"rod"};
    case RigKind::kFuruta:
      return {"arm", "pendulum"};
    case RigKind::kCartPole:
      return {"pole"};
    case RigKind::kFourbar:
      return {"crank", "coupler", "rocker"};
    case RigKind::kDoublePendulum:
      chain = 2;
      break;
    case RigKind::kChain:
      break;
  }
  std::vector<std::string> names;
  for (int k = 1; k <= chain; ++k) names.push_back("link" + std::to_string(k));
  return names;
}

void check_sizes(const RigAnswers& answers) {
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

std::vector<std::string> reading_names(RigKind kind, int chain) {
  switch (kind) {
    case RigKind::kPendulum:
      return {"pivot"};
    case RigKind::kFuruta:
      return {"1", "2"};
    case RigKind::kCartPole:
      return {"rail", "pivot"};
    case RigKind::kFourbar:
      return {"O", "R"};
    case RigKind::kDoublePendulum:
      chain = 2;
      break;
    case RigKind::kChain:
      break;
  }
  std::vector<std::string> names;
  for (int k = 1; k <= chain; ++k) names.push_back(std::to_string(k));
  return names;
}

}  // namespace service
