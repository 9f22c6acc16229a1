#include "horovodx/tls/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace horovodx::tls {
namespace {

using testing::HasSubstr;

const Credentials kOurs{"what only this job knows", "job 7"};
using Bytes = std::vector<std::byte>;

std::shared_ptr<const Context> ContextOf(const Credentials& credentials,
                                         std::uint64_t records_per_key = 1000) {
  ContextOptions options;
  options.records_per_key = records_per_key;
  return std::move(Context::Make(credentials, options)).value();
}

Digest BindingOf(int value) {
  Digest binding;
  binding.fill(static_cast<std::byte>(value));
  return binding;
}

struct Sockets {
  Sockets() {
    int fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    left = Fd(fds[0]);
    right = Fd(fds[1]);
  }
  Fd left, right;
};

std::shared_ptr<Session> NewSession(const std::shared_ptr<const Context>& context, Fd socket,
                                    End end, int binding = 1) {
  return std::move(Session::Make(context, std::move(socket), end, BindingOf(binding))).value();
}

// Two ends and somebody in the middle, who passes everything on, counts it, and may change it.
struct Talk {
  Talk(const std::shared_ptr<const Context>& one, const std::shared_ptr<const Context>& other,
       int callees_binding = 1)
      : caller(NewSession(one, std::move(near.left), End::kConnector)),
        callee(NewSession(other, std::move(far.right), End::kAcceptor, callees_binding)) {}

  // As far as there is room; the rest stays with the one in the middle.
  void PassOn(const Fd& from, const Fd& to, std::string* kept, bool forth) {
    char bytes[4096];
    ssize_t got = 0;
    while ((got = ::recv(from.get(), bytes, sizeof(bytes), 0)) > 0) {
      if (forth && flip) bytes[got - 1] = static_cast<char>(bytes[got - 1] ^ 1);
      passed += static_cast<std::size_t>(got);
      kept->append(bytes, static_cast<std::size_t>(got));
    }
    const ssize_t sent = ::send(to.get(), kept->data(), kept->size(), MSG_NOSIGNAL);
    if (sent > 0) kept->erase(0, static_cast<std::size_t>(sent));
  }
  void PassOn() {
    PassOn(near.right, far.left, &going, true);
    PassOn(far.left, near.right, &coming, false);
  }
  // Steps both until nothing more would happen.
  void Shake() {
    for (int turn = 0; turn < 10; ++turn) {
      for (auto [session, status] : {std::pair(&caller, &callers), std::pair(&callee, &callees)}) {
        if (!status->ok()) continue;
        const Result<bool> step = (*session)->Step();
        *status = step.status();
        (session == &caller ? caller_done : callee_done) = step.ok() && step.value();
        PassOn();
      }
    }
  }
  Bytes Receive(std::size_t piece) {
    Bytes all;
    Bytes some(piece);
    while (true) {
      PassOn();
      iovec into{some.data(), some.size()};
      const ssize_t got = callee->Receive(std::span(&into, 1));
      if (got <= 0) break;
      all.insert(all.end(), some.begin(), some.begin() + got);
    }
    return all;
  }

  Sockets near, far;
  std::string going, coming;
  std::shared_ptr<Session> caller, callee;
  Status callers, callees;
  bool caller_done = false, callee_done = false;
  std::size_t passed = 0;
  bool flip = false;
};

Bytes Noise(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 + i / 251);
  return bytes;
}

// In pieces of growing sizes, some of them empty.
std::vector<iovec> Cut(Bytes& bytes) {
  std::vector<iovec> pieces;
  std::size_t at = 0;
  for (std::size_t size = 0; at < bytes.size(); size = size * 3 + 1) {
    const std::size_t some = std::min(size, bytes.size() - at);
    pieces.push_back({bytes.data() + at, some});
    pieces.push_back({nullptr, 0});
    at += some;
  }
  return pieces;
}

void SendAll(Talk& talk, Bytes& bytes, Bytes* received, std::size_t piece) {
  std::size_t done = 0;
  for (const iovec& all : Cut(bytes)) {
    auto rest = all;
    while (rest.iov_len > 0) {
      const ssize_t sent = talk.caller->Send(std::span(&rest, 1));
      if (sent > 0) {
        rest.iov_base = static_cast<std::byte*>(rest.iov_base) + sent;
        rest.iov_len -= static_cast<std::size_t>(sent);
        done += static_cast<std::size_t>(sent);
      } else {
        ASSERT_EQ(errno, EAGAIN) << talk.caller->failure();
      }
      const Bytes some = talk.Receive(piece);
      received->insert(received->end(), some.begin(), some.end());
    }
  }
  EXPECT_EQ(done, bytes.size());
  for (int turn = 0; turn < 1000 && received->size() < done; ++turn) {
    talk.caller->Flush();
    const Bytes some = talk.Receive(piece);
    received->insert(received->end(), some.begin(), some.end());
  }
}

TEST(SessionTest, BytesArriveInOrderHoweverTheyAreCut) {
  const auto context = ContextOf(kOurs);
  for (const std::size_t size : {1, 7, 16'383, 16'384, 16'385, 70'000, 1'000'003}) {
    for (const std::size_t piece : {13, 20'000, 300'000}) {
      if (piece < 100 && size > 100'000) continue;
      Talk talk(context, context);
      talk.Shake();
      ASSERT_TRUE(talk.caller_done && talk.callee_done)
          << talk.callers.message() << talk.callees.message();
      Bytes sent = Noise(size), received;
      SendAll(talk, sent, &received, piece);
      EXPECT_TRUE(received == sent) << size << " bytes in pieces of " << piece;
    }
  }
}

TEST(SessionTest, ManyPiecesGoAtOnce) {
  const auto context = ContextOf(kOurs);
  Talk talk(context, context);
  talk.Shake();
  Bytes sent = Noise(60'000);
  const std::vector<iovec> pieces = Cut(sent);
  EXPECT_EQ(talk.caller->Send(pieces), 60'000);
  Bytes received;
  for (int turn = 0; turn < 100 && received.size() < sent.size(); ++turn) {
    talk.caller->Flush();
    const Bytes some = talk.Receive(999);
    received.insert(received.end(), some.begin(), some.end());
  }
  EXPECT_TRUE(received == sent);
}

TEST(SessionTest, WhoMadeItsCertificateFromAnotherSecretIsRefused) {
  for (const Credentials& theirs :
       {Credentials{"another secret", "job 7"}, Credentials{"what only this job knows", "job 8"}}) {
    Talk talk(ContextOf(theirs), ContextOf(kOurs));
    talk.Shake();
    EXPECT_FALSE(talk.caller_done) << "it has looked at the callee's";
    EXPECT_EQ(talk.callers.code(), StatusCode::kAborted);
    EXPECT_THAT(talk.callers.message(), HasSubstr("certificate verify failed"));
    EXPECT_EQ(talk.callees.code(), StatusCode::kAborted);
    EXPECT_THAT(talk.callees.message(), HasSubstr("alert"));
  }
}

TEST(SessionTest, EndsOfTwoConnectionsDoNotFitTogether) {
  const auto context = ContextOf(kOurs);
  Talk talk(context, context, 2);
  talk.Shake();
  EXPECT_FALSE(talk.callee_done);
  EXPECT_EQ(talk.callees.code(), StatusCode::kAborted);
  EXPECT_THAT(talk.callees.message(), HasSubstr("another connection"));
}

TEST(SessionTest, GarbageIsNoHandshake) {
  const auto context = ContextOf(kOurs);
  for (const End end : {End::kConnector, End::kAcceptor}) {
    Sockets sockets;
    const auto session = NewSession(context, std::move(sockets.left), end);
    const Bytes garbage = Noise(5000);
    ASSERT_EQ(::send(sockets.right.get(), garbage.data(), garbage.size(), 0), 5000);
    Result<bool> step = session->Step();
    EXPECT_EQ(step.status().code(), StatusCode::kAborted);
    EXPECT_THAT(step.status().message(), HasSubstr("TLS: "));
    step = session->Step();
    EXPECT_FALSE(step.ok()) << "it stays";
  }
}

TEST(SessionTest, AnEndInTheHandshakeMayBeTriedAgain) {
  Sockets sockets;
  const auto session = NewSession(ContextOf(kOurs), std::move(sockets.left), End::kAcceptor);
  EXPECT_FALSE(session->Step().value()) << "it waits";
  sockets.right.Reset();
  EXPECT_EQ(session->Step().status().code(), StatusCode::kUnknown);
  EXPECT_EQ(session->Step().status().message(), "connection closed");
}

TEST(SessionTest, AChangedBitIsNoticed) {
  const auto context = ContextOf(kOurs);
  Talk talk(context, context);
  talk.Shake();
  talk.flip = true;
  Bytes bytes = Noise(1000);
  iovec piece{bytes.data(), bytes.size()};
  ASSERT_EQ(talk.caller->Send(std::span(&piece, 1)), 1000);
  EXPECT_TRUE(talk.Receive(1000).empty());
  Bytes into(10);
  piece = {into.data(), into.size()};
  EXPECT_EQ(talk.callee->Receive(std::span(&piece, 1)), -1);
  EXPECT_EQ(errno, EPROTO);
  EXPECT_THAT(talk.callee->failure(), HasSubstr("TLS: "));
  EXPECT_EQ(talk.callee->Send(std::span(&piece, 1)), -1) << "it is lost both ways";
}

TEST(SessionTest, KeysAreChangedAfterTheirShareOfRecords) {
  std::size_t passed[2] = {};
  for (const int often : {0, 1}) {
    const auto context = ContextOf(kOurs, often ? 3 : 1'000'000);
    Talk talk(context, context);
    talk.Shake();
    talk.passed = 0;
    Bytes sent = Noise(500'000), received;
    SendAll(talk, sent, &received, 100'000);
    EXPECT_TRUE(received == sent);
    passed[often] = talk.passed;
  }
  EXPECT_GT(passed[1], passed[0] + 5 * 20) << "each change is a message";
}

TEST(SessionTest, TellsOfBytesThatPollDoesNotShow) {
  const auto context = ContextOf(kOurs);
  Talk talk(context, context);
  talk.Shake();
  EXPECT_TRUE(talk.callee->holds_input()) << "there may be some behind the handshake";
  EXPECT_TRUE(talk.Receive(10).empty());
  EXPECT_FALSE(talk.callee->holds_input());
  Bytes bytes = Noise(100);
  iovec piece{bytes.data(), bytes.size()};
  ASSERT_EQ(talk.caller->Send(std::span(&piece, 1)), 100);
  talk.PassOn();
  piece.iov_len = 1;
  ASSERT_EQ(talk.callee->Receive(std::span(&piece, 1)), 1);
  pollfd poll{talk.callee->fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&poll, 1, 0), 0);
  EXPECT_TRUE(talk.callee->holds_input());
  piece.iov_len = 99;
  ASSERT_EQ(talk.callee->Receive(std::span(&piece, 1)), 99);
  EXPECT_FALSE(talk.callee->holds_input());
}

TEST(SessionTest, WhatWasTakenLeavesByFlushAlone) {
  const auto context = ContextOf(kOurs);
  Talk talk(context, context);
  talk.Shake();
  Bytes bytes = Noise(400'000);
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    iovec piece{bytes.data() + taken, bytes.size() - taken};
    const ssize_t sent = talk.caller->Send(std::span(&piece, 1));
    if (sent < 0) break;
    taken += static_cast<std::size_t>(sent);
  }
  ASSERT_LT(taken, bytes.size()) << "the socket is full";
  EXPECT_EQ(errno, EAGAIN);
  ASSERT_TRUE(talk.caller->holds_output());
  EXPECT_TRUE(talk.caller->BeginFlushing());
  EXPECT_FALSE(talk.caller->BeginFlushing()) << "once";
  EXPECT_FALSE(talk.caller->FlushToTheEnd());
  Bytes received;
  for (int turn = 0; turn < 1000 && received.size() < taken; ++turn) {
    talk.caller->Flush();
    const Bytes some = talk.Receive(50'000);
    received.insert(received.end(), some.begin(), some.end());
  }
  EXPECT_TRUE(talk.caller->FlushToTheEnd());
  bytes.resize(taken);
  EXPECT_TRUE(received == bytes);
  EXPECT_FALSE(talk.caller->holds_output());
  EXPECT_FALSE(talk.caller->BeginFlushing()) << "nothing to do";
}

TEST(SessionTest, TheEndOfTheSocketIsTheEnd) {
  const auto context = ContextOf(kOurs);
  Talk talk(context, context);
  talk.Shake();
  Bytes bytes = Noise(10);
  iovec piece{bytes.data(), bytes.size()};
  talk.near.right.Reset();  // no SIGPIPE, which would end this test
  EXPECT_EQ(talk.caller->Send(std::span(&piece, 1)), 10) << "taken before it could be known";
  EXPECT_EQ(talk.caller->Send(std::span(&piece, 1)), -1);
  EXPECT_EQ(errno, EPIPE);
  EXPECT_FALSE(talk.caller->holds_output());
  talk.far.left.Reset();
  EXPECT_EQ(talk.callee->Receive(std::span(&piece, 1)), 0);
}

// As a rank that says goodbye and ends.
TEST(SessionTest, LastWordsAreHeardAlsoAfterSendHasFailed) {
  const auto context = ContextOf(kOurs);
  Talk talk(context, context);
  talk.Shake();
  Bytes bytes = Noise(10), got(10);
  iovec piece{bytes.data(), bytes.size()};
  ASSERT_EQ(talk.callee->Send(std::span(&piece, 1)), 10);
  talk.PassOn();
  talk.near.right.Reset();
  while (talk.caller->Send(std::span(&piece, 1)) > 0) {
  }
  EXPECT_EQ(errno, EPIPE);
  piece = {got.data(), got.size()};
  EXPECT_EQ(talk.caller->Receive(std::span(&piece, 1)), 10);
  EXPECT_TRUE(got == bytes);
  EXPECT_EQ(talk.caller->Receive(std::span(&piece, 1)), 0);
}

}  // namespace
}  // namespace horovodx::tls
