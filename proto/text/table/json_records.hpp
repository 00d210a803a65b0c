#pragma once

#include <string>
#include <string_view>

#include "proto/text/table/record_sink.hpp"

namespace proto {

/// Passes the records of a JSON text to a sink: the elements of an array, several values one after
/// another, or the rows of an object of columns of equal length.
/// @return why the text has no such records; empty if it has
std::string read_json_records(std::string_view text, RecordSink& sink);

}  // namespace proto
