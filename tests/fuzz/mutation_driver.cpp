// Replaces libFuzzer if the compiler has none: mutates the files of a corpus at random and feeds
// them to LLVMFuzzerTestOneInput. The same seed gives the same inputs.
//   <fuzzer> [-runs=N] [-seed=N] [FILE or FOLDER]...

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;

constexpr std::size_t kInputSizeMax = 1 << 16;
constexpr int kMutationsMax = 8;

void load(const std::filesystem::path& path, std::vector<Input>& corpus) {
  if (std::filesystem::is_directory(path)) {
    std::vector<std::filesystem::path> entries(std::filesystem::directory_iterator(path), {});
    std::sort(entries.begin(), entries.end());
    for (const auto& entry : entries) load(entry, corpus);
    return;
  }
  std::ifstream stream(path, std::ios::binary);
  corpus.emplace_back(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
}

class Mutator {
 public:
  Mutator(const std::vector<Input>& corpus, std::uint32_t seed) : corpus_(corpus), random_(seed) {}

  Input next() {
    Input input = corpus_[below(corpus_.size())];
    for (std::size_t k = 0; k <= below(kMutationsMax); ++k) mutate(input);
    input.resize(std::min(input.size(), kInputSizeMax));
    return input;
  }

 private:
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  void mutate(Input& input) {
    const std::size_t at = below(input.size() + 1);
    const auto position = input.begin() + static_cast<std::ptrdiff_t>(at);
    const std::size_t rest = input.size() - at;
    switch (below(7)) {
      case 0:
        if (rest > 0) input[at] = static_cast<std::uint8_t>(random_());
        break;
      case 1:
        if (rest > 0) input[at] ^= static_cast<std::uint8_t>(1u << below(8));
        break;
      case 2:  // an extreme integer
        for (std::size_t k = 0; k < std::min<std::size_t>(rest, std::size_t{1} << below(4)); ++k) {
          input[at + k] = below(2) == 0 ? 0 : 0xff;
        }
        break;
      case 3:
        input.erase(position, position + static_cast<std::ptrdiff_t>(
                                             below(std::min<std::size_t>(rest, 64) + 1)));
        break;
      case 4:
        input.insert(position, below(64), static_cast<std::uint8_t>(random_()));
        break;
      case 5: {  // a piece of another input
        const Input& other = corpus_[below(corpus_.size())];
        const std::size_t from = below(other.size());
        const std::size_t count = below(other.size() - from + 1);
        input.insert(position, other.begin() + static_cast<std::ptrdiff_t>(from),
                     other.begin() + static_cast<std::ptrdiff_t>(from + count));
        break;
      }
      default:
        input.resize(at);
    }
  }

  const std::vector<Input>& corpus_;
  std::mt19937 random_;
};

}  // namespace

int main(int argc, char** argv) {
  unsigned long runs = 10'000;
  unsigned long seed = 1;
  std::vector<Input> corpus = {Input{}};
  for (int k = 1; k < argc; ++k) {
    const std::string_view argument = argv[k];
    if (argument.starts_with("-runs=")) {
      runs = std::strtoul(argv[k] + 6, nullptr, 10);
    } else if (argument.starts_with("-seed=")) {
      seed = std::strtoul(argv[k] + 6, nullptr, 10);
    } else {
      load(argv[k], corpus);
    }
  }
  for (const Input& input : corpus) LLVMFuzzerTestOneInput(input.data(), input.size());
  Mutator mutator(corpus, static_cast<std::uint32_t>(seed));
  for (unsigned long run = 0; run < runs; ++run) {
    const Input input = mutator.next();
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::cout << runs << " mutations of " << corpus.size() << " inputs, seed " << seed << '\n';
}
