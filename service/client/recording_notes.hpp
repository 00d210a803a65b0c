#pragma once

#include <iosfwd>

#include "proto/recording/mcap_reader.hpp"

namespace service {

/// Notes on what is wrong with a recording; nothing where it is finished and intact.
void print_damage(const proto::McapScan& scan, std::ostream& out);

}  // namespace service
