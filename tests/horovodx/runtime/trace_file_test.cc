#include "horovodx/runtime/trace_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/horovodx/runtime/trace_reader.h"

namespace horovodx::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Path(const char* name) { return testing::TempDir() + name; }

TEST(TraceFileTest, IsAnEmptyArrayAtFirstAndCompleteAfterEveryAppend) {
  const std::string path = Path("trace_file_grows.json");
  auto file = TraceFile::Create(path);
  ASSERT_TRUE(file.ok());
  EXPECT_THAT(ReadTrace(path), IsEmpty());
  ASSERT_TRUE(file->Append({R"({"a":1})"}).ok());
  EXPECT_THAT(ReadTrace(path), ElementsAre(R"({"a":1})"));
  ASSERT_TRUE(file->Append({}).ok());
  ASSERT_TRUE(file->Append({R"({"b":2})", R"({"c":3})"}).ok());
  EXPECT_THAT(ReadTrace(path), ElementsAre(R"({"a":1})", R"({"b":2})", R"({"c":3})"));
}

TEST(TraceFileTest, RecordsLargerThanAWriteAndManyOfThemAllArrive) {
  const std::string path = Path("trace_file_many.json");
  auto file = TraceFile::Create(path);
  ASSERT_TRUE(file.ok());
  std::vector<std::string> records(3000, R"({"x":"0123456789"})");
  records[7] = R"({"x":")" + std::string(20000, 'y') + R"("})";
  ASSERT_TRUE(file->Append(records).ok());
  EXPECT_EQ(ReadTrace(path), records);
}

TEST(TraceFileTest, AFileThatCannotBeMadeIsAnErrorNamingIt) {
  const auto file = TraceFile::Create("/no/such/folder/t.json");
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.status().message(), HasSubstr("'/no/such/folder/t.json'"));
}

TEST(TraceFileTest, AFullDiskIsAnErrorThatSaysHowFarItGot) {
  auto file = TraceFile::Create("/dev/full");
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.status().message(), HasSubstr("after 0 bytes"));
}

TEST(TraceFileTest, AnyTextBecomesAValidJsonString) {
  struct Case {
    std::string text;
    std::string json;
  };
  const Case cases[] = {
      {"", R"("")"},
      {"fc1.weight", R"("fc1.weight")"},
      {"a\"b\\c", R"("a\"b\\c")"},
      {std::string("\n\t\x01\0", 4), R"("\u000a\u0009\u0001\u0000")"},
      {"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x8e",
       "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x8e\""},
      {"\xff", R"("\ufffd")"},
      {"\xc0\x80", R"("\ufffd\ufffd")"},                      // overlong
      {"\xed\xa0\x80", R"("\ufffd\ufffd\ufffd")"},            // a surrogate
      {"\xf5\x80\x80\x80", R"("\ufffd\ufffd\ufffd\ufffd")"},  // above the last number
      {"\xe2\x82", R"("\ufffd\ufffd")"},                      // cut short
  };
  for (const auto& c : cases) EXPECT_EQ(JsonString(c.text), c.json);
}

}  // namespace
}  // namespace horovodx::runtime
