#include "service/rig/robot/robot_file.hpp"

#include <cstring>

#include "service/rig/robot/mjcf_robot.hpp"
#include "service/rig/robot/urdf_robot.hpp"
#include "service/rig/robot/xml_source.hpp"

namespace service {

Robot parse_robot(const std::string& path, const std::string& text) {
  const XmlSource xml(path, text);
  const bool mujoco = xml.root() != nullptr && std::strcmp(xml.root()->Name(), "mujoco") == 0;
  return mujoco ? parse_mjcf(path, text) : parse_urdf(path, text);
}

}  // namespace service
