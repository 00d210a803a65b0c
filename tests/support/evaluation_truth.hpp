#pragma once

#include <google/protobuf/struct.pb.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/json.hpp"

namespace test_support {

/// Returns the true parameters of a planar rig of the evaluation data in SI units, by name, from
/// its NAME__truth.json.
inline std::map<std::string, double> true_parameters(const std::filesystem::path& data,
                                                     const std::string& name) {
  std::ostringstream text;
  text << std::ifstream(data / "synthetic_planar" / (name + "__truth.json")).rdbuf();
  const auto file = from_json<google::protobuf::Struct>(text.str());
  std::map<std::string, double> truth;
  const auto for_each = [&](const std::string& list, const auto& add) {
    for (const auto& element : file.fields().at(list).list_value().values()) {
      const auto& fields = element.struct_value().fields();
      const auto number = [&](const std::string& key, int index = -1) {
        const auto& value = fields.at(key);
        return (index < 0 ? value : value.list_value().values(index)).number_value();
      };
      add(fields.at("name").string_value() + ".", number, fields);
    }
  };
  for_each("bodies", [&](const std::string& body, const auto& number, const auto&) {
    truth[body + "m"] = number("m");
    truth[body + "J_zz"] = number("J");
  });
  for_each("joints", [&](const std::string& joint, const auto& number, const auto& fields) {
    const bool slides = fields.at("kind").string_value() == "prismatic";
    truth[joint + "b"] = number("viscous");
    truth[joint + (slides ? "f_c" : "tau_c")] = number("coulomb");
    truth[joint + "c"] = number("drag");
    truth[joint + "k_s"] = number("spring");
    truth[joint + "K"] = number("K");
    truth[joint + "k_e"] = number("back_emf");
  });
  for_each("imus", [&](const std::string& imu, const auto& number, const auto&) {
    truth[imu + "p_x"] = number("point", 0);
    truth[imu + "p_y"] = number("point", 1);
    truth[imu + "mount_z"] = number("mount_rad");
    truth[imu + "gyro_bias_z"] = number("gyro_bias");
    truth[imu + "accel_bias_x"] = number("accel_bias", 0);
    truth[imu + "accel_bias_y"] = number("accel_bias", 1);
  });
  return truth;
}

}  // namespace test_support
