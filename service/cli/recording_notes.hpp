#pragma once

#include <iosfwd>

#include "proto/recording/mcap/mcap_reader.hpp"

namespace service {

/// Prints notes on the damage of a recording file. Prints nothing if the file is finished and
/// intact.
void print_damage(const proto::McapScan& scan, std::ostream& out);

}  // namespace service
