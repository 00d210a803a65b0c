#pragma once

namespace proto {

/// Makes malloc keep freed memory, for a program that ends after its fit. A fit allocates it in
/// every iteration; returning it takes a tenth of the time of a fit of a million samples.
void keep_freed_memory();

}  // namespace proto
