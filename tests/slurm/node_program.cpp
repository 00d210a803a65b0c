#include "tests/slurm/node_program.hpp"

#include <chrono>
#include <sstream>
#include <thread>
#include <vector>

namespace service::slurm_tests {

std::string compute_test_item(const WorkItem& item, const std::atomic<bool>* stop, bool on_node) {
  std::istringstream words(item.request);
  std::string word, value = "value of " + item.key;
  for (double number = 0.0; words >> word >> number;) {
    const auto size = static_cast<std::size_t>(number);
    if (word == "sleep") {
      const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(number);
      while (std::chrono::steady_clock::now() < end && (stop == nullptr || !stop->load())) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
    if (word == "memory" && on_node) {
      const std::vector<char> memory(size << 20, 'm');
      std::this_thread::sleep_for(std::chrono::seconds(30));  // until Slurm reads its size
      value += memory.back();
    }
    if (word == "size") value.resize(size, 'v');
  }
  return value;
}

}  // namespace service::slurm_tests
