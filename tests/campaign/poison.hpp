#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "proto/service.pb.h"

namespace campaign {

/// Batches of a poisoned session.
inline constexpr std::uint64_t kPoisonBatches = 6;

/// Corrupts an opening as no correct rig would. @return a description for the report
std::string poison_opening(std::mt19937_64& random, rigcal::v1::OpenSession& open);

/// The same for a valid batch of a sequence.
std::string poison_batch(std::mt19937_64& random, rigcal::v1::SampleBatch& batch);

}  // namespace campaign
