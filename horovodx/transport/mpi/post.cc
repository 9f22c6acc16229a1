#include "horovodx/transport/mpi/post.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace horovodx::transport::mpi {
namespace {

constexpr Duration kFirstPause = std::chrono::microseconds(20);
constexpr Duration kLongestPause = std::chrono::milliseconds(1);
constexpr Duration kLongestRest = std::chrono::milliseconds(100);  // with nothing under way
constexpr int kNever = 32767;                                      // a tag that every MPI has
// How often somebody who sleeps is asked whether he still waits: he may have given up.
constexpr Duration kAskAgain = std::chrono::milliseconds(250);
// For blocks that were sent and not taken when their link ended.
constexpr Duration kOrphansLinger = std::chrono::seconds(1);

// Copies from or to the front of `pieces` from byte `begin` on, at most `most` bytes.
template <typename Piece, typename Copy>
std::size_t ForEachStretch(std::span<const Piece> pieces, std::size_t begin, std::size_t most,
                           const Copy& copy) {
  std::size_t done = 0;
  for (const Piece& piece : pieces) {
    if (begin >= piece.size()) {
      begin -= piece.size();
      continue;
    }
    const std::size_t count = std::min(piece.size() - begin, most - done);
    if (count > 0) copy(piece.data() + begin, done, count);
    done += count;
    begin = 0;
    if (done == most) break;
  }
  return done;
}

template <typename Piece>
std::size_t TotalOf(std::span<const Piece> pieces) {
  std::size_t total = 0;
  for (const Piece& piece : pieces) total += piece.size();
  return total;
}

}  // namespace

Post::Post(Library& library, Comm comm, int rank, Bell bell)
    : library_(library), comm_(comm), rank_(rank), bell_(bell) {
  never_.bytes = std::make_unique<std::byte[]>(1);
  library_.call().receive(never_.bytes.get(), 1, rank_, kNever, comm_, &never_.request);
  thread_ = std::thread([this] { LookWhileBusy(); });
}

Post::~Post() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    wanted_.notify_all();
  }
  thread_.join();
  bool gone = never_.request == nullptr;
  if (!gone && !library_.call().finished()) library_.call().cancel(&never_.request, &gone);
  if (!gone) static_cast<void>(never_.bytes.release());
  // MPI may read these at any time until the process ends.
  for (Block& block : orphans_) static_cast<void>(block.bytes.release());
}

Status Post::Failed(int error, const std::string& what, const std::string& peer) const {
  return Status::Unknown("mpi: rank " + std::to_string(rank_) + " lost " + peer + ": " +
                         library_.Check(error, what).message());
}

// --- boxes

Outbox* Post::OpenOut(int peer, int tag, std::string name) {
  const std::lock_guard lock(mutex_);
  Outbox& box = outs_.emplace_back();
  box.peer = peer;
  box.tag = tag;
  box.name = std::move(name);
  return &box;
}

Inbox* Post::OpenIn(int peer, int tag, std::string name) {
  const std::lock_guard lock(mutex_);
  Inbox& box = ins_.emplace_back();
  box.peer = peer;
  box.tag = tag;
  box.name = std::move(name);
  while (box.failure.ok() && box.posted.size() < kBlocks) {
    Receive(box, std::make_unique<std::byte[]>(kBlockBytes));
  }
  return &box;
}

void Post::Close(Outbox* box) {
  const std::lock_guard lock(mutex_);
  if (box->failure.ok()) EndSends(*box);
  for (Block& block : box->flying) orphans_.push_back(std::move(block));
  orphans_until_ = Clock::now() + kOrphansLinger;
  outs_.remove_if([box](const Outbox& one) { return &one == box; });
  WakeLooker();
}

void Post::Close(Inbox* box) {
  const std::lock_guard lock(mutex_);
  for (Block& block : box->posted) {
    bool gone = block.request == nullptr;
    if (!gone && !library_.call().finished()) library_.call().cancel(&block.request, &gone);
    if (!gone) static_cast<void>(block.bytes.release());  // it is being written to
  }
  ins_.remove_if([box](const Inbox& one) { return &one == box; });
}

// --- sending

void Post::Send(Outbox& box, std::unique_ptr<std::byte[]> bytes, std::size_t size) {
  Block block{std::move(bytes), nullptr};
  const int error = library_.call().send(block.bytes.get(), static_cast<int>(size), box.peer,
                                         box.tag, comm_, &block.request);
  if (error != 0) box.failure = Failed(error, "MPI_Issend", box.name);
  if (error == 0) box.flying.push_back(std::move(block));
}

// True if one has ended.
bool Post::EndSends(Outbox& box) {
  bool any = false;
  while (box.failure.ok() && !box.flying.empty()) {
    bool done = false;
    const int error = library_.call().test(&box.flying.front().request, &done, nullptr);
    if (error != 0) box.failure = Failed(error, "sending", box.name);
    if (error == 0 && !done) break;
    any = true;
    if (error != 0) break;
    box.spares.push_back(std::move(box.flying.front().bytes));
    box.flying.pop_front();
  }
  return any;
}

Result<std::size_t> Post::Write(Outbox& box, std::span<const ConstBytes> pieces) {
  const std::lock_guard lock(mutex_);
  EndSends(box);
  const std::size_t total = TotalOf(pieces);
  std::size_t written = 0;
  while (box.failure.ok() && written < total && box.flying.size() < kBlocks) {
    if (box.spares.empty()) box.spares.push_back(std::make_unique<std::byte[]>(kBlockBytes));
    auto bytes = std::move(box.spares.back());
    box.spares.pop_back();
    const std::size_t size =
        ForEachStretch(pieces, written, std::min(kBlockBytes, total - written),
                       [&](const std::byte* from, std::size_t at, std::size_t count) {
                         std::memcpy(bytes.get() + at, from, count);
                       });
    Send(box, std::move(bytes), size);
    written += size;
  }
  if (!box.failure.ok()) return box.failure;
  if (!box.flying.empty()) WakeLooker();
  return written;
}

bool Post::Writable(Outbox& box) {
  const std::lock_guard lock(mutex_);
  EndSends(box);
  return !box.failure.ok() || box.flying.size() < kBlocks;
}

// --- receiving

void Post::Receive(Inbox& box, std::unique_ptr<std::byte[]> bytes) {
  Block block{std::move(bytes), nullptr};
  const int error = library_.call().receive(block.bytes.get(), static_cast<int>(kBlockBytes),
                                            box.peer, box.tag, comm_, &block.request);
  if (error != 0) box.failure = Failed(error, "MPI_Irecv", box.name);
  if (error == 0) box.posted.push_back(std::move(block));
}

// Whether there is something to read, or an error to hear of.
bool Post::Arrived(Inbox& box) {
  if (box.arrived || !box.failure.ok()) return true;
  int size = 0;
  const int error = library_.call().test(&box.posted.front().request, &box.arrived, &size);
  if (error != 0) box.failure = Failed(error, "receiving", box.name);
  if (box.arrived) box.posted.front().request = nullptr;
  box.size = static_cast<std::size_t>(size);
  box.taken = 0;
  return box.arrived || error != 0;
}

void Post::Await(Inbox& box) {
  if (std::exchange(box.awaited, true)) return;
  hurry_ = true;  // somebody goes to sleep now: what he waits for may be on its way
  wanted_.notify_one();
}

Result<std::size_t> Post::Read(Inbox& box, std::span<const MutableBytes> pieces) {
  const std::lock_guard lock(mutex_);
  const std::size_t total = TotalOf(pieces);
  std::size_t read = 0;
  while (read < total && Arrived(box) && box.failure.ok()) {
    const std::byte* from = box.posted.front().bytes.get() + box.taken;
    const std::size_t count = ForEachStretch(
        pieces, read, std::min(box.size - box.taken, total - read),
        [&](std::byte* to, std::size_t at, std::size_t some) { std::memcpy(to, from + at, some); });
    read += count;
    box.taken += count;
    if (box.taken < box.size) break;
    auto bytes = std::move(box.posted.front().bytes);
    box.posted.pop_front();
    box.arrived = false;
    Receive(box, std::move(bytes));
  }
  if (read > 0) return read;
  if (!box.failure.ok()) return box.failure;
  if (total > 0) Await(box);
  return read;
}

bool Post::Readable(Inbox& box) {
  const std::lock_guard lock(mutex_);
  if (Arrived(box)) return true;
  Await(box);
  return false;
}

// --- the thread

bool Post::Busy() const {
  return !orphans_.empty() ||
         std::any_of(outs_.begin(), outs_.end(), [](const auto& b) { return !b.flying.empty(); }) ||
         std::any_of(ins_.begin(), ins_.end(), [](const auto& b) { return b.awaited; });
}

void Post::WakeLooker() {
  if (parked_) wanted_.notify_one();
}

bool Post::EndOrphans() {
  const std::size_t before = orphans_.size();
  orphans_.remove_if([this](Block& block) {
    bool done = false;
    return library_.call().test(&block.request, &done, nullptr) == 0 && done;
  });
  if (Clock::now() > orphans_until_) {
    for (Block& block : orphans_) static_cast<void>(block.bytes.release());
    orphans_.clear();
  }
  return orphans_.size() != before;
}

// True if something has moved. Whoever still waits says so again when he is asked.
bool Post::Look(bool ask_again) {
  bool moved = !orphans_.empty() && EndOrphans();
  bool ring = false;
  for (Outbox& box : outs_) ring |= !box.flying.empty() && EndSends(box);
  for (Inbox& box : ins_) {
    if (!box.awaited) continue;
    const bool arrived = Arrived(box);
    box.awaited = !arrived && !ask_again;
    ring |= arrived;
  }
  moved |= ring;
  if (ring || ask_again) bell_.OfLinks().Ring();
  return moved;
}

// Lets MPI do what it has left to do: it does when it is asked for something that is not there.
void Post::Nudge() {
  bool done = false;
  if (never_.request != nullptr) library_.call().test(&never_.request, &done, nullptr);
}

void Post::LookWhileBusy() {
  ::prctl(PR_SET_TIMERSLACK, 1000);  // ns: by default the kernel adds 50 us to short pauses
  std::unique_lock lock(mutex_);
  Duration pause = kFirstPause, rest = kFirstPause;
  TimePoint ask_at = Clock::now() + kAskAgain;
  while (!stop_) {
    if (library_.call().finished()) break;  // by somebody who does not know of us
    if (!Busy()) {
      parked_ = true;
      const bool wanted = wanted_.wait_for(lock, rest, [this] { return stop_ || Busy(); });
      parked_ = false;
      pause = kFirstPause;
      ask_at = Clock::now() + kAskAgain;
      if (!wanted && !library_.call().finished()) Nudge();
      rest = wanted ? kFirstPause : std::min<Duration>(2 * rest, kLongestRest);
      continue;
    }
    rest = kFirstPause;
    const bool ask_again = Clock::now() >= ask_at;
    if (ask_again) ask_at = Clock::now() + kAskAgain;
    pause = Look(ask_again) ? kFirstPause : std::min<Duration>(2 * pause, kLongestPause);
    hurry_ = false;
    wanted_.wait_for(lock, pause, [this] { return stop_ || hurry_; });
    if (hurry_) pause = kFirstPause / 2;
  }
}

}  // namespace horovodx::transport::mpi
