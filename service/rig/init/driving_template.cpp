#include <fmt/core.h>

#include "service/rig/init/rig_answers.hpp"

namespace service {
namespace {

/// Limits of one encoder in the section safety, to be filled in.
std::string limits_text(const std::string& name, bool slides) {
  return "#   joint { joint: \"" + name +
         (slides ? "\" position_m_min: ? position_m_max: ? speed_m_per_s_max: ? }\n"
                 : "\" angle_rad_min: ? angle_rad_max: ? speed_rad_per_s_max: ? }\n");
}

}  // namespace

std::string make_driving_template(const RigAnswers& answers,
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
  const std::string joint =
      measured_joint_names(answers.kind, static_cast<int>(answers.links.size()))[0];
  const bool slides = measures_cart_position(answers.kind, 0);
  std::string text = "\n# End stops of joint \"" + joint + "\", if it has any: replace each ? [" +
                     (slides ? "m" : "rad") +
                     "], and move the section into\n# the joint without \"# \".\n"
                     "# stops {\n"
                     "#   lower { value: ? free: true }\n"
                     "#   upper { value: ? free: true }\n"
                     "#   restitution { value: 0.5 free: true }\n"
                     "# }\n";
  if (!answers.motor) return text;
  text +=
      "\n# To drive the rig with rigcal-daq, replace each ? and remove the \"# \" of these\n"
      "# sections (docs/rig.md).\n" +
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
  return text;
}

}  // namespace service
