#include "service/rig/rig_air_drag.hpp"

#include <string>
#include <utility>

#include "service/rig/parameters/parameter_ties.hpp"

namespace service {

using estimator::AirQuantity;

void read_air_drag(const rigcal::v1::Rig& rig, int body, const proto::TextLocator& place,
                   estimator::Mechanism& mechanism, const ReadParameter& read) {
  const std::string& name = rig.body(body).name();
  const rigcal::v1::AirDrag& drag = rig.body(body).air_drag();
  const auto parameter = [&](AirQuantity quantity) -> estimator::Parameter& {
    return mechanism.parameters[static_cast<std::size_t>(mechanism.index_of_air(body, quantity))];
  };
  read(drag, "coefficient", place, parameter(AirQuantity::kCoefficient));
  for (const auto& [field, quantity] : {std::pair{"x", AirQuantity::kPointX},
                                        {"y", AirQuantity::kPointY},
                                        {"z", AirQuantity::kPointZ}}) {
    read(drag.point(), field, place.at("point"), parameter(quantity));
  }
  if (drag.has_point() && !estimator::has_air_drag(mechanism, body) &&
      !is_tied_parameter(rig, name + ".c_air")) {
    place.fail(
        "body \"" + name +
        "\": air_drag has a point but no coefficient. Write coefficient { value: ... } [N·s²/m²]");
  }
}

}  // namespace service
