#include "horovodx/transport/shm/memory_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace horovodx::transport::shm {
namespace {

using testing::HasSubstr;

TEST(MemoryFileTest, UnnamedIsSealedAgainstEveryOtherLength) {
  auto file = MemoryFile::MakeUnnamed(8192);
  ASSERT_TRUE(file.ok()) << file.status().ToString();
  EXPECT_NE(::ftruncate(file->fd(), 4096), 0);
  EXPECT_NE(::ftruncate(file->fd(), 16384), 0);
}

TEST(MemoryFileTest, ReservingMakesThePagesExist) {
  auto file = MemoryFile::MakeUnnamed(1 << 20);
  ASSERT_TRUE(file.ok());
  struct stat facts {};
  ::fstat(file->fd(), &facts);
  EXPECT_EQ(facts.st_blocks, 0);
  ASSERT_TRUE(file->Reserve(4096, 8192).ok());
  ::fstat(file->fd(), &facts);
  EXPECT_EQ(facts.st_blocks * 512, 8192);
  EXPECT_THAT(file->Reserve(1 << 20, 4096).message(), HasSubstr("reserving 4096 bytes"));
}

TEST(MemoryFileTest, UnnamedIsOpenedThroughProc) {
  auto file = MemoryFile::MakeUnnamed(4096);
  ASSERT_TRUE(file.ok());
  auto opened = MemoryFile::OpenUnnamed(::getpid(), file->fd(), 4096);
  ASSERT_TRUE(opened.ok()) << opened.status().ToString();
  ASSERT_EQ(::pwrite(file->fd(), "hello", 5, 100), 5);
  char text[6] = {};
  ASSERT_EQ(::pread(opened->fd(), text, 5, 100), 5);
  EXPECT_STREQ(text, "hello");
}

TEST(MemoryFileTest, WhateverElseADescriptorMeansIsRefused) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
  EXPECT_THAT(MemoryFile::OpenUnnamed(::getpid(), pipe_ends[0], 4096).status().message(),
              HasSubstr("is no segment but pipe:"));
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
  EXPECT_THAT(MemoryFile::OpenUnnamed(::getpid(), 9999, 4096).status().message(),
              HasSubstr("/fd/9999"));
  const Fd foreign(::memfd_create("horovodx", MFD_CLOEXEC));
  EXPECT_THAT(MemoryFile::OpenUnnamed(::getpid(), foreign.get(), 4096).status().message(),
              HasSubstr("is not sealed"));
  auto small = MemoryFile::MakeUnnamed(4096);
  EXPECT_THAT(MemoryFile::OpenUnnamed(::getpid(), small->fd(), 8192).status().message(),
              HasSubstr("has 4096 bytes where 8192 were expected"));
}

TEST(MemoryFileTest, NameIsGoneWithItsMakerButNotWithWhoOpenedIt) {
  const std::string name = "/hvdx-" + std::to_string(::getpid()) + "-memory-file-test";
  {
    auto file = MemoryFile::MakeNamed(name, 4096);
    ASSERT_TRUE(file.ok()) << file.status().ToString();
    struct stat facts {};
    ::fstat(file->fd(), &facts);
    EXPECT_EQ(facts.st_mode & 0777, 0600u);
    EXPECT_FALSE(MemoryFile::MakeNamed(name, 4096).ok());  // it must be new
    EXPECT_TRUE(MemoryFile::OpenNamed(name, 4096).ok());
    EXPECT_TRUE(MemoryFile::OpenNamed(name, 4096).ok());
    EXPECT_FALSE(MemoryFile::OpenNamed(name, 8192).ok());
  }
  EXPECT_THAT(MemoryFile::OpenNamed(name, 4096).status().message(), HasSubstr(name));
}

}  // namespace
}  // namespace horovodx::transport::shm
