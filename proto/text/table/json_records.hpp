#pragma once

#include <string>
#include <string_view>

#include "proto/text/table/record_sink.hpp"

namespace proto {

/// Passes the records of a JSON text to a sink. Records are the elements of an array, several
/// consecutive values, or the rows of an object of columns with equal length.
/// @return reason why the text has no such records; empty if it has records
std::string read_json_records(std::string_view text, RecordSink& sink);

}  // namespace proto
