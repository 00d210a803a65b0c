#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "proto/text/input_error.hpp"
#include "service/rig/init/rig_answers.hpp"
#include "service/text/number_format.hpp"

namespace service {
namespace {

constexpr double kDegree = M_PI / 180.0;
constexpr int kDigits = 6;  // of a limit

/// Limits of one encoder in the section safety, to be filled in.
std::string limits_text(const std::string& name, bool slides) {
  return "#   joint { joint: \"" + name +
         (slides ? "\" position_m_min: ? position_m_max: ? speed_m_per_s_max: ? }\n"
                 : "\" angle_rad_min: ? angle_rad_max: ? speed_rad_per_s_max: ? }\n");
}

/// Returns the sections unit and safety with the user's values.
std::string written_sections(const RigAnswers& answers, const std::vector<std::string>& encoders) {
  const UnitAnswer& unit = *answers.unit;
  std::string channels, limits;
  for (const std::string& joint : unit.channels.empty() ? encoders : unit.channels) {
    if (std::ranges::count(encoders, joint) == 0) {
      throw proto::InputError("--channels {}: the rig has no encoder of this name; use {}", joint,
                              join_items(encoders));
    }
    channels += fmt::format("  channel {{ joint: \"{}\" }}\n", joint);
  }
  for (std::size_t k = 0; k < encoders.size(); ++k) {
    const LimitAnswer& limit = unit.limits.at(k);
    const bool slides = measures_cart_position(answers.kind, k);
    limits += fmt::format("  joint {{ joint: \"{0}\" {1}_min: {2} {1}_max: {3} {4}: {5} }}\n",
                          encoders[k], slides ? "position_m" : "angle_rad",
                          format_number(limit.low, kDigits), format_number(limit.high, kDigits),
                          slides ? "speed_m_per_s_max" : "speed_rad_per_s_max",
                          format_number(limit.speed, kDigits));
  }
  const std::string command =
      answers.motor ? fmt::format("  command_max: {}  # largest command [{}]\n",
                                  format_number(unit.command_max, kDigits), answers.motor->unit)
                    : "";
  return fmt::format(
      "\n# The unit that reads the encoders. Before the first run, \"rigcal-daq commission\" "
      "tests\n"
      "# its directions and these limits at the rig, and writes the result here.\n"
      "unit {{\n  url: \"{}\"\n{}}}\n"
      "# Limits beyond which rigcal-daq switches the motor off.\nsafety {{\n{}{}}}\n",
      unit.url, channels, command, limits);
}

/// Returns the sections unit and safety with a question mark for each value.
std::string commented_sections(const RigAnswers& answers,
                               const std::vector<std::string>& encoders) {
  std::string channels, limits, counts;
  for (std::size_t k = 0; k < answers.readings.size(); ++k) {
    if (answers.readings[k].column.empty()) continue;
    const bool slides = measures_cart_position(answers.kind, k);
    channels += fmt::format("#   channel {{ joint: \"{}\" }}\n", encoders[k]);
    limits += limits_text(encoders[k], slides);
    if (answers.readings[k].counts) continue;
    counts += fmt::format("# Write {}: ? in the encoder of \"{}\".\n",
                          slides ? "counts_per_m" : "counts_per_turn", encoders[k]);
  }
  return "\n# To drive the rig with rigcal-daq, replace each ? and remove the \"# \" of these\n"
         "# sections (docs/rig.md), or write the file again with rigcal init --unit.\n" +
         counts +
         "# unit {\n"
         "#   url: \"serial:///dev/?\"  # address of the unit\n" +
         channels +
         "# }\n"
         "# safety {\n"
         "#   command_max: ?  # largest command [" +
         answers.motor->unit + (answers.motor->unit == "duty" ? ", at most 1" : "") +
         "]\n"
         "#   # Limits inside the end stops; positions [rad or m], speeds [rad/s or m/s]. A joint "
         "that\n"
         "#   # may turn freely needs wide limits, such as -100 and 100.\n" +
         limits + "# }\n";
}

}  // namespace

LimitAnswer parse_joint_range(const std::string& text, bool slides) {
  const std::size_t colon = text.find(':');
  const auto read = [&](std::size_t begin, std::size_t end) {
    double value = 0.0;
    const char* const last = text.data() + end;
    const auto parsed = std::from_chars(text.data() + begin, last, value);
    const bool is_number = parsed.ec == std::errc() && parsed.ptr == last && std::isfinite(value);
    return is_number ? value * (slides ? 1.0 : kDegree) : std::nan("");
  };
  LimitAnswer limit;
  if (colon != std::string::npos) {
    limit = {read(0, colon), read(colon + 1, text.size()), 0.0};
  }
  if (!(limit.low < limit.high)) {
    throw proto::InputError("\"{}\": write the range of the joint as MIN:MAX [{}], as in {}", text,
                            slides ? "m" : "deg", slides ? "-0.3:0.3" : "-170:170");
  }
  return limit;
}

std::string make_driving_sections(const RigAnswers& answers,
                                  const std::vector<std::string>& encoders) {
  const std::string joint =
      measured_joint_names(answers.kind, static_cast<int>(answers.links.size()))[0];
  const bool slides = measures_cart_position(answers.kind, 0);
  const std::string stops = "\n# End stops of joint \"" + joint +
                            "\", if it has any: replace each ? [" + (slides ? "m" : "rad") +
                            "], and move the section into\n# the joint without \"# \".\n"
                            "# stops {\n"
                            "#   lower { value: ? free: true }\n"
                            "#   upper { value: ? free: true }\n"
                            "#   restitution { value: 0.5 free: true }\n"
                            "# }\n";
  if (answers.unit) return stops + written_sections(answers, encoders);
  return answers.motor ? stops + commented_sections(answers, encoders) : stops;
}

}  // namespace service
