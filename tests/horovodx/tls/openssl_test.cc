#include "horovodx/tls/openssl.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "horovodx/tls/context.h"

namespace horovodx::tls {
namespace {

TEST(OpenSslTest, IsOpenedOnceAndSaysWhatItIs) {
  const auto calls = openssl::Load("");
  ASSERT_TRUE(calls.ok()) << calls.status().message();
  EXPECT_EQ(openssl::Load("/nowhere/libssl.so.3").value(), calls.value()) << "the first stays";
  const std::string version = openssl::Call().OpenSSL_version(0);
  EXPECT_TRUE(version.starts_with("OpenSSL ")) << version;
}

// In a process of its own, where nothing is open yet.
[[noreturn]] void LoadAndTell(const char* name) {
  ContextOptions options;
  options.library = name;
  const auto context = Context::Make({"secret", "job"}, options);
  std::fprintf(stderr, "%s\n", context.status().message().c_str());
  ::_exit(context.ok() ? 0 : 3);
}

TEST(OpenSslDeathTest, WhatIsMissingIsSaid) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(LoadAndTell("/nowhere/libssl.so.3"), testing::ExitedWithCode(3),
              "HOROVODX_TLS=1 needs OpenSSL .*libssl3.*/nowhere/libssl.so.3: cannot open");
  EXPECT_EXIT(LoadAndTell("libm.so.6"), testing::ExitedWithCode(3),
              "libm.so.6 has no .*: OpenSSL 1.1.1 or 3 is needed");
}

TEST(ContextTest, NeedsASecret) { EXPECT_FALSE(Context::Make({"", "job"}, {}).ok()); }

}  // namespace
}  // namespace horovodx::tls
