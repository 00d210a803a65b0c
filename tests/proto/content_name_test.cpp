#include "proto/stream/content_hash.hpp"

#include <gtest/gtest.h>

namespace proto {
namespace {

// FIPS 180-2, appendix B.1: SHA-256 of "abc" is ba7816bf 8f01cfea 414140de 5dae2223 b00361a3 ...
constexpr const char* kNameOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a3";

// The name must not depend on how the content is split.
TEST(ContentHash, IsTheBeginningOfTheSha256) {
  ContentHash whole;
  whole.add("abc");
  EXPECT_EQ(whole.text(), kNameOfAbc);
  ContentHash parts;
  parts.add("a");
  parts.add("");
  parts.add("bc");
  EXPECT_EQ(parts.text(), kNameOfAbc);
  ContentHash all;
  all.add("abc");
  EXPECT_EQ(all.sha256(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// Upload ids made from a name contain it, in every attempt. Any other id promises no content.
TEST(ContentHash, IsPromisedByTheIdsThatAreMadeOfIt) {
  const std::string name = kNameOfAbc;
  EXPECT_EQ(upload_id(name, 1), "file-" + name);
  for (int attempt = 1; attempt <= kUploadIdsMax; ++attempt) {
    EXPECT_EQ(content_hash_of(upload_id(name, attempt)), name) << attempt;
  }
  std::string capital = name;
  capital[0] = 'B';
  for (const std::string& id :
       {std::string(), name, std::string("file-"), "File-" + name, "file-" + capital,
        "file-" + name.substr(1), "file-" + name + "0", "file-" + name + "-", "file-" + name + "-1",
        "file-" + name + "-10", "file-" + name + "-a", "file-" + name + "x2"}) {
    EXPECT_EQ(content_hash_of(id), "") << id;
  }
}

}  // namespace
}  // namespace proto
