#pragma once

#include <vector>

#include "tests/architecture/source_rules.hpp"

// Which folder may depend on which.
namespace architecture {

std::vector<Violation> estimator_is_layered(const Tree& tree);

std::vector<Violation> fits_keep_apart(const Tree& tree);

std::vector<Violation> service_is_layered(const Tree& tree);

std::vector<Violation> folders_are_small(const Tree& tree);

std::vector<Violation> modules_keep_apart(const Tree& tree);

}  // namespace architecture
