#pragma once

#include <iosfwd>
#include <string>

#include "proto/recording/mcap_reader.hpp"

namespace service {

/// True for the names rigcal-daq gives to recordings, finished (.mcap) or not (.mcap.part).
bool is_recording_name(const std::string& path);

/// Notes on what is wrong with a recording; nothing where it is finished and intact.
void print_damage(const proto::McapScan& scan, std::ostream& out);

}  // namespace service
