#pragma once

#include <google/protobuf/stubs/logging.h>

namespace fuzz {

/// Without this, Protobuf logs every bad string to standard error.
inline void silence_protobuf() { google::protobuf::SetLogHandler(nullptr); }

}  // namespace fuzz
