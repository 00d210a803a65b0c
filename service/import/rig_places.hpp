#pragma once

#include <map>
#include <string>
#include <vector>

#include "proto/check/number_check.hpp"
#include "service/import/rig_file.hpp"

namespace service {

/// A rig and where its file states its parameters, or would.
struct PlacedRig {
  Rig rig;
  /// Of each parameter by its name the way to its message, through what is left out. A chain's all
  /// lead to the chain.
  std::map<std::string, std::vector<proto::FieldStep>> places;
};

/// @throws proto::InputError as parse_rig does
PlacedRig parse_placed_rig(const std::string& path, const std::string& text);

}  // namespace service
