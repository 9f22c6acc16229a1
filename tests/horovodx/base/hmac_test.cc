#include "horovodx/base/hmac.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/horovodx/base/hex.h"

namespace horovodx {
namespace {

std::vector<std::byte> Text(const std::string& text) {
  const ConstBytes bytes = BytesOf(text.data(), text.size());
  return {bytes.begin(), bytes.end()};
}
std::vector<std::byte> Repeat(int value, std::size_t times) {
  return std::vector<std::byte>(times, static_cast<std::byte>(value));
}

struct Vector {
  std::vector<std::byte> key, message;
  std::string mac;
};

// RFC 4231, cases 1 to 4, 6 and 7 (5 is about truncation).
TEST(HmacTest, GivesThePublishedCodes) {
  const Vector vectors[] = {
      {Repeat(0x0b, 20), Text("Hi There"),
       "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
      {Text("Jefe"), Text("what do ya want for nothing?"),
       "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
      {Repeat(0xaa, 20), Repeat(0xdd, 50),
       "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
      {FromHex("0102030405060708090a0b0c0d0e0f10111213141516171819"), Repeat(0xcd, 50),
       "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
      {Repeat(0xaa, 131), Text("Test Using Larger Than Block-Size Key - Hash Key First"),
       "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
      {Repeat(0xaa, 131),
       Text("This is a test using a larger than block-size key and a larger than block-size data. "
            "The key needs to be hashed before being used by the HMAC algorithm."),
       "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"},
  };
  for (const Vector& v : vectors) EXPECT_EQ(ToHex(HmacSha256(v.key, v.message)), v.mac);
}

TEST(HmacTest, ComparesEveryByte) {
  const std::vector<std::byte> a = Repeat(7, 32);
  EXPECT_TRUE(EqualInConstantTime(a, a));
  EXPECT_TRUE(EqualInConstantTime({}, {}));
  EXPECT_FALSE(EqualInConstantTime(a, Repeat(7, 31)));
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::vector<std::byte> b = a;
    b[i] ^= std::byte{0x80};
    EXPECT_FALSE(EqualInConstantTime(a, b)) << i;
  }
}

}  // namespace
}  // namespace horovodx
