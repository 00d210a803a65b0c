#pragma once

#include <google/protobuf/stubs/logging.h>

namespace fuzz {

/// Protobuf would tell standard error of every bad string.
inline void silence_protobuf() { google::protobuf::SetLogHandler(nullptr); }

}  // namespace fuzz
