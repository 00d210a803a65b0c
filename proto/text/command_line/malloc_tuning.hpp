#pragma once

namespace proto {

/// Makes malloc keep freed memory, for a program that ends after its fit. Each iteration of a fit
/// allocates the same amount; returning it in between costs a tenth of the time, with a million
/// samples.
void enable_memory_reuse();

}  // namespace proto
