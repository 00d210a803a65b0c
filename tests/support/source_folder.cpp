#include "tests/support/source_folder.hpp"

namespace test_support {

std::string source_folder() { return RIG_SOURCE_DIR; }

}  // namespace test_support
