#pragma once

#include <cstdint>
#include <string>

#include "proto/stream.pb.h"

namespace test_support {

/// A batch as spooled, without its number; it differs for each k.
inline std::string make_payload(std::uint64_t k) {
  rigcal::v1::SampleBatch batch;
  for (std::uint64_t s = 0; s < 1 + k % 4; ++s) batch.add_samples()->set_sequence(10 * k + s);
  return batch.SerializeAsString();
}

}  // namespace test_support
