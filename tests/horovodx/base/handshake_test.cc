#include "horovodx/base/handshake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "horovodx/base/fd.h"

namespace horovodx {
namespace {

using testing::HasSubstr;

const Credentials kOurs{"thirty-two bytes nobody knows...", "job 1"};
const Claims kCall{Purpose::kLink, 3, 5, 17, 1, 2};
constexpr unsigned kAll =
    MaskOf(Purpose::kStore) | MaskOf(Purpose::kCourier) | MaskOf(Purpose::kLink);

Handshake Caller(const Credentials& credentials = kOurs, const Claims& claims = kCall) {
  return Handshake::Connect(claims, credentials, *FreshNonce(), "callee");
}
Handshake Callee(unsigned accepts = kAll, std::int32_t rank = 5) {
  return Handshake::Accept(rank, accepts, kOurs, *FreshNonce(), "caller");
}

std::vector<std::byte> Take(Handshake& from) {
  const ConstBytes output = from.output();
  std::vector<std::byte> bytes(output.begin(), output.end());
  from.Sent(bytes.size());
  return bytes;
}

// Moves bytes both ways, `piece` at a time, until nothing moves.
void Talk(Handshake& a, Handshake& b, std::size_t piece = 1000) {
  const auto move = [&](Handshake& from, Handshake& to) {
    const std::size_t size = std::min({from.output().size(), to.wanted(), piece});
    if (size == 0) return false;
    to.Feed(from.output().first(size));
    from.Sent(size);
    return true;
  };
  while (move(a, b) || move(b, a)) {
  }
}

TEST(HandshakeTest, BothEndsAgreeOnTheClaims) {
  for (const std::size_t piece : {1, 7, 39, 1000}) {
    Handshake caller = Caller(), callee = Callee();
    Talk(caller, callee, piece);
    EXPECT_TRUE(caller.finished() && callee.finished());
    EXPECT_TRUE(caller.status().ok()) << caller.status().message();
    EXPECT_TRUE(callee.status().ok()) << callee.status().message();
    EXPECT_EQ(callee.claims(), kCall);
    EXPECT_EQ(callee.wanted(), 0u) << "nothing more is read";
  }
}

struct Refused {
  Credentials credentials;
  Claims claims;
  unsigned accepts;
  std::string callee_says, caller_says;
};

TEST(HandshakeTest, WhoeverIsRefusedIsToldWhy) {
  Claims other_rank = kCall;
  other_rank.to = 6;
  const Refused cases[] = {
      {{"another secret", "job 1"},
       kCall,
       kAll,
       "it does not know this job's secret",
       "we do not know its job's secret: HOROVODX_SECRET of this process"},
      {{kOurs.secret, "job 2"},
       kCall,
       kAll,
       "another job than 'job 1'",
       "another job than 'job 2', which HOROVODX_JOB_ID"},
      {kOurs, other_rank, kAll, "rank 3 looked for rank 6, this is rank 5", "it is not rank 6"},
      {kOurs, kCall, MaskOf(Purpose::kStore), "not served here", "does not serve this purpose"},
  };
  for (const Refused& c : cases) {
    Handshake caller = Caller(c.credentials, c.claims), callee = Callee(c.accepts);
    Talk(caller, callee);
    EXPECT_TRUE(caller.finished() && callee.finished());
    EXPECT_THAT(callee.status().message(), HasSubstr("no handshake with caller: "));
    EXPECT_THAT(callee.status().message(), HasSubstr(c.callee_says));
    EXPECT_THAT(caller.status().message(), HasSubstr("it refused us: "));
    EXPECT_THAT(caller.status().message(), HasSubstr(c.caller_says));
  }
}

TEST(HandshakeTest, CallerFindsOutACalleeWithoutTheSecret) {
  // It says welcome, but cannot prove anything.
  Handshake caller = Caller(), callee = Callee();
  caller.Feed(Take(callee));
  callee.Feed(Take(caller));
  std::vector<std::byte> verdict = Take(callee);
  verdict.back() ^= std::byte{1};
  caller.Feed(verdict);
  EXPECT_THAT(caller.status().message(), HasSubstr("it does not know this job's secret"));
}

TEST(HandshakeTest, NoBitOfAnyMessageCanBeChanged) {
  constexpr std::size_t kSizes[] = {Handshake::kChallengeBytes, Handshake::kHelloBytes,
                                    Handshake::kVerdictBytes};
  for (int message = 0; message < 3; ++message) {
    for (std::size_t bit = 0; bit < 8 * kSizes[message]; ++bit) {
      Handshake caller = Caller(), callee = Callee();
      for (int turn = 0; turn < 3; ++turn) {
        std::vector<std::byte> bytes = Take(turn == 1 ? caller : callee);
        if (turn == message) bytes[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
        Handshake& reader = turn == 1 ? callee : caller;
        if (!reader.settled())
          reader.Feed(ConstBytes(bytes).first(std::min(bytes.size(), reader.wanted())));
      }
      ASSERT_FALSE(caller.settled() && caller.status().ok())
          << "bit " << bit << " of message " << message;
    }
  }
}

TEST(HandshakeTest, ReplayIsRefused) {
  Handshake caller = Caller(), callee = Callee();
  caller.Feed(Take(callee));
  const std::vector<std::byte> recorded = Take(caller);
  Handshake another = Callee();
  Take(another);
  another.Feed(recorded);
  EXPECT_THAT(another.status().message(), HasSubstr("(replay)"));

  // Naming the new challenge does not help: the proof is for the old one.
  Handshake third = Callee();
  const std::vector<std::byte> challenge = Take(third);
  std::vector<std::byte> patched = recorded;
  std::copy(challenge.begin() + 8, challenge.end(), patched.begin() + 40);
  third.Feed(patched);
  EXPECT_THAT(third.status().message(), HasSubstr("it does not know this job's secret"));
}

TEST(HandshakeTest, ReflectionIsRefused) {
  // A caller that uses the callee's challenge as its own.
  Handshake callee = Callee();
  std::vector<std::byte> challenge = Take(callee);
  Nonce stolen;
  std::copy(challenge.begin() + 8, challenge.end(), stolen.begin());
  Handshake mirror = Handshake::Connect(kCall, kOurs, *FreshNonce(), "callee");
  mirror.Feed(challenge);
  std::vector<std::byte> hello = Take(mirror);
  std::copy(stolen.begin(), stolen.end(), hello.begin() + 72);
  callee.Feed(hello);
  EXPECT_THAT(callee.status().message(), HasSubstr("(reflection)"));

  // A callee that answers with the caller's own proof.
  Handshake caller = Caller(), honest = Callee();
  caller.Feed(Take(honest));
  hello = Take(caller);
  honest.Feed(hello);
  std::vector<std::byte> verdict = Take(honest);
  std::copy(hello.begin() + 104, hello.end(), verdict.begin() + 8);
  caller.Feed(verdict);
  EXPECT_THAT(caller.status().message(), HasSubstr("(reflection)"));
}

TEST(HandshakeTest, GarbageIsKnownByItsFirstByte) {
  const std::byte garbage[] = {std::byte{'G'}};
  Handshake callee = Callee(), caller = Caller();
  callee.Feed(garbage);
  caller.Feed(garbage);
  EXPECT_THAT(callee.status().message(), HasSubstr("not a HorovodX handshake"));
  EXPECT_THAT(caller.status().message(), HasSubstr("not a HorovodX handshake"));
  EXPECT_EQ(callee.wanted(), 0u);
}

TEST(HandshakeTest, AnotherVersionIsNamed) {
  Handshake caller = Caller(), callee = Callee();
  std::vector<std::byte> challenge = Take(callee);
  challenge[4] = std::byte{9};
  caller.Feed(challenge);
  EXPECT_THAT(caller.status().message(), HasSubstr("it speaks version 9 of the handshake"));
  EXPECT_THAT(caller.status().message(), HasSubstr("another version of HorovodX is installed"));
}

TEST(HandshakeTest, TlsIsOnBothSidesOrOnNone) {
  for (const bool here : {false, true}) {
    Claims claims = kCall;
    claims.tls = !here;
    Handshake caller = Caller(kOurs, claims);
    Handshake callee = Handshake::Accept(5, kAll, kOurs, *FreshNonce(), "caller", here);
    Talk(caller, callee);
    EXPECT_TRUE(caller.finished() && callee.finished());
    EXPECT_EQ(caller.status().code(), StatusCode::kAborted);
    EXPECT_THAT(callee.status().message(),
                HasSubstr(here ? "rank 3 came without TLS: HOROVODX_TLS=1 is set here"
                               : "rank 3 came with TLS: HOROVODX_TLS=1 is set there"));
    EXPECT_THAT(caller.status().message(), HasSubstr(here ? "HOROVODX_TLS=1 is set there and not"
                                                          : "HOROVODX_TLS=1 is set here and not"));
    claims.tls = here;
    Handshake friendly = Caller(kOurs, claims);
    Handshake again = Handshake::Accept(5, kAll, kOurs, *FreshNonce(), "caller", here);
    Talk(friendly, again);
    EXPECT_TRUE(friendly.status().ok() && again.status().ok());
    EXPECT_EQ(again.claims(), claims);
  }
}

TEST(HandshakeTest, EveryConnectionHasABindingOfItsOwn) {
  Handshake caller = Caller(), callee = Callee(), other_caller = Caller(), other_callee = Callee();
  Talk(caller, callee);
  Talk(other_caller, other_callee);
  EXPECT_EQ(caller.Binding(), callee.Binding());
  EXPECT_EQ(other_caller.Binding(), other_callee.Binding());
  EXPECT_NE(caller.Binding(), other_caller.Binding());
}

TEST(HandshakeTest, SecretMustNotBeEmpty) {
  EXPECT_FALSE(CheckCredentials({"", "job"}).ok());
  EXPECT_TRUE(CheckCredentials(kOurs).ok());
}

struct Pair {
  Pair() {
    int fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    left = Fd(fds[0]);
    right = Fd(fds[1]);
  }
  Fd left, right;
};

Deadline Soon() { return Deadline::After(Seconds(30)); }

TEST(RunHandshakeTest, LeavesWhatFollowsInTheSocket) {
  Pair pair;
  std::thread other([&] {
    Handshake caller = Caller();
    EXPECT_TRUE(RunHandshake(pair.left.get(), caller, Soon()).ok());
    EXPECT_EQ(::send(pair.left.get(), "data", 4, 0), 4);
  });
  Handshake callee = Callee();
  EXPECT_TRUE(RunHandshake(pair.right.get(), callee, Soon()).ok());
  other.join();
  char rest[8] = {};
  EXPECT_EQ(::recv(pair.right.get(), rest, sizeof(rest), 0), 4);
  EXPECT_STREQ(rest, "data");
}

TEST(RunHandshakeTest, SilenceEndsAtTheDeadline) {
  Pair pair;
  Handshake callee = Callee();
  const Status status = RunHandshake(pair.left.get(), callee, Deadline::After(Seconds(0.05)));
  EXPECT_THAT(status.message(), HasSubstr("it was silent for too long, after 0 of 136 bytes"));
}

TEST(RunHandshakeTest, EarlyCloseIsNamed) {
  Pair pair;
  ASSERT_EQ(::send(pair.right.get(), "HVDX", 4, 0), 4);
  ASSERT_EQ(::shutdown(pair.right.get(), SHUT_WR), 0);
  Handshake callee = Callee();
  const Status status = RunHandshake(pair.left.get(), callee, Soon());
  EXPECT_THAT(status.message(), HasSubstr("it closed the connection after 4 of 136 bytes"));
}

}  // namespace
}  // namespace horovodx
