#include "horovodx/base/sha256.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/horovodx/base/hex.h"

namespace horovodx {
namespace {

std::string HashOf(const std::string& text) {
  return ToHex(Sha256Of(BytesOf(text.data(), text.size())));
}

// The examples of FIPS 180-4 and of NIST's validation suite.
TEST(Sha256Test, GivesThePublishedDigests) {
  EXPECT_EQ(HashOf(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(HashOf("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(HashOf("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(HashOf("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                   "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(HashOf(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, PiecesDoNotMatter) {
  const std::string text(300, 'x');
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Sha256 hash;
    hash.Update(BytesOf(text.data(), cut));
    hash.Update(BytesOf(text.data() + cut, text.size() - cut));
    ASSERT_EQ(ToHex(hash.Finish()), HashOf(text)) << "cut at " << cut;
  }
}

}  // namespace
}  // namespace horovodx
