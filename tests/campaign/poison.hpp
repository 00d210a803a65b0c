#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "proto/service.pb.h"

namespace campaign {

/// Batches of a poisoned session.
inline constexpr std::uint64_t kPoisonBatches = 6;

/// Does something to an opening that no honest rig would. @return what, for the report
std::string poison_opening(std::mt19937_64& random, rigcal::v1::OpenSession& open);

/// The same to a batch that is good and knows its neighbours.
std::string poison_batch(std::mt19937_64& random, rigcal::v1::SampleBatch& batch);

}  // namespace campaign
