// The cut that ends earliest, exactly.
//
// f(j), the earliest end of the first j units, is the least of max(f(i), R(j)) + T(C(j) - C(i))
// over all i < j whose units i..j-1 may share a bucket; R(j) is when the j-th is ready, C(j) are
// the bytes of the first j. Ending the first i earlier never harms, so nothing better is lost.
//
// With any T this is n^2/2 terms. With pieces of lines it is O(n) a piece: f never decreases (drop
// the last unit of a cut of j+1 units: a cut of j that ends no later), so the i with f(i) <= R(j)
// are the first p(j), and p never decreases either. Of these, whose bucket starts at R(j), the last
// is best: it has the least to send. Of the others the one with the least f(i) - b * C(i), and
// since both ends of the range of i that a piece covers only move to the right, a monotone queue
// has it.
#include <algorithm>
#include <deque>
#include <limits>

#include "horovodx/schedule/cut.h"
#include "horovodx/schedule/units.h"

namespace horovodx::schedule {
namespace {

// What the two ways of solving share; index j stands for the first j units.
struct Problem {
  std::vector<double> ready;         // never decreases
  std::vector<std::uint64_t> bytes;  // sums
  std::vector<std::size_t> least;    // the last bucket of the first j begins here at the earliest

  Problem(const std::vector<Unit>& units, std::uint64_t threshold)
      : ready(1, 0.0), bytes(1, 0), least(1, 0) {
    const std::vector<std::size_t> mates = FirstMates(units, threshold);
    for (std::size_t i = 0; i < units.size(); ++i) {
      ready.push_back(std::max(ready.back(), units[i].ready));
      bytes.push_back(bytes.back() + units[i].bytes);
      least.push_back(mates[i]);
    }
  }
  std::size_t size() const { return ready.size(); }
};

struct Solution {
  std::vector<double> end;          // f
  std::vector<std::size_t> before;  // where the last bucket of the first j begins

  explicit Solution(std::size_t size)
      : end(size, std::numeric_limits<double>::infinity()), before(size, 0) {
    end[0] = 0.0;
  }
  void Offer(std::size_t j, std::size_t i, double value) {
    if (value >= end[j]) return;
    end[j] = value;
    before[j] = i;
  }
  std::vector<std::size_t> Ends() const {
    std::vector<std::size_t> ends;
    for (std::size_t j = end.size() - 1; j > 0; j = before[j]) ends.push_back(j);
    std::reverse(ends.begin(), ends.end());
    return ends;
  }
};

Solution SolveAny(const Problem& problem, const CostModel& cost) {
  Solution best(problem.size());
  for (std::size_t j = 1; j < problem.size(); ++j) {
    for (std::size_t i = j; i-- > problem.least[j];) {
      const double start = std::max(best.end[i], problem.ready[j]);
      best.Offer(j, i, start + cost.Seconds(problem.bytes[j] - problem.bytes[i]));
    }
  }
  return best;
}

// Those i for which the last bucket of the first j costs by one piece; j only grows.
class PieceWindow {
 public:
  PieceWindow(const Problem& problem, const Piece& piece, std::uint64_t until)
      : problem_(problem), piece_(piece), until_(until) {}

  // `idle`: the first i up to this one have ended when unit j is ready.
  void OfferBest(std::size_t j, std::size_t idle, Solution& best) {
    MoveTo(j, idle, best);
    if (const std::size_t i = std::min(idle + 1, end_); i > begin_) {
      best.Offer(j, i - 1, problem_.ready[j] + Cost(i - 1, j));
    }
    if (!queue_.empty())
      best.Offer(j, queue_.front(), best.end[queue_.front()] + Cost(queue_.front(), j));
  }

 private:
  double Cost(std::size_t i, std::size_t j) const {
    return piece_.At(static_cast<double>(problem_.bytes[j] - problem_.bytes[i]));
  }
  double Key(std::size_t i, const Solution& best) const {
    return best.end[i] - piece_.seconds_per_byte * static_cast<double>(problem_.bytes[i]);
  }
  void MoveTo(std::size_t j, std::size_t idle, const Solution& best) {
    const auto size_from = [&](std::size_t i) { return problem_.bytes[j] - problem_.bytes[i]; };
    for (; end_ < j && size_from(end_) >= piece_.from; ++end_) {
      while (!queue_.empty() && Key(queue_.back(), best) >= Key(end_, best)) queue_.pop_back();
      queue_.push_back(end_);
    }
    begin_ = std::max(begin_, problem_.least[j]);
    while (begin_ < end_ && size_from(begin_) >= until_) ++begin_;
    while (!queue_.empty() && (queue_.front() < begin_ || queue_.front() <= idle)) {
      queue_.pop_front();
    }
  }

  const Problem& problem_;
  const Piece piece_;
  const std::uint64_t until_;
  std::size_t begin_ = 0;  // i in [begin_, end_)
  std::size_t end_ = 0;
  std::deque<std::size_t> queue_;  // of them, behind `idle`, with growing keys
};

Solution SolvePieces(const Problem& problem, const std::vector<Piece>& pieces) {
  std::vector<PieceWindow> windows;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    const bool last = k + 1 == pieces.size();
    windows.emplace_back(problem, pieces[k],
                         last ? std::numeric_limits<std::uint64_t>::max() : pieces[k + 1].from);
  }
  Solution best(problem.size());
  std::size_t idle = 0;
  for (std::size_t j = 1; j < problem.size(); ++j) {
    while (idle + 1 < j && best.end[idle + 1] <= problem.ready[j]) ++idle;
    for (PieceWindow& window : windows) window.OfferBest(j, idle, best);
  }
  return best;
}

// Many cuts end at the same time: what happens early in the step hardly matters. Every bucket takes
// some work that T does not know of (threads are roused on all ranks), so of neighbours that would
// leave the line free again before the next bucket needs it, with something to spare, one is made.
std::vector<std::size_t> JoinWhereFree(const Problem& problem, const CostModel& cost,
                                       const std::vector<std::size_t>& ends) {
  const auto takes = [&](std::size_t from, std::size_t to) {
    return cost.Seconds(problem.bytes[to] - problem.bytes[from]);
  };
  std::vector<double> needed;  // [k]: when the bucket behind the k-th begins
  double end = 0.0;
  for (std::size_t k = 0; k < ends.size(); ++k) {
    end = std::max(end, problem.ready[ends[k]]) + takes(k == 0 ? 0 : ends[k - 1], ends[k]);
    const bool last = k + 1 == ends.size();
    needed.push_back(last ? end : std::max(end, problem.ready[ends[k + 1]]));
  }
  constexpr double kWithSpare = 1.25;
  std::vector<std::size_t> fewer;
  std::size_t from = 0;
  end = 0.0;
  for (std::size_t k = 0; k < ends.size(); ++k) {
    if (k + 1 < ends.size() && problem.least[ends[k + 1]] <= from) {
      const double start = std::max(end, problem.ready[ends[k + 1]]);
      if (start + kWithSpare * takes(from, ends[k + 1]) <= needed[k + 1]) continue;
    }
    end = std::max(end, problem.ready[ends[k]]) + takes(from, ends[k]);
    fewer.push_back(from = ends[k]);
  }
  return fewer;
}

}  // namespace

Buckets CutOptimal(const std::vector<Tensor>& tensors, const Options& options) {
  const std::vector<Unit> units = UnitsOf(tensors, options.threshold);
  const Problem problem(units, options.threshold);
  const std::vector<Piece>& pieces = options.cost.pieces();
  const Solution best =
      pieces.empty() ? SolveAny(problem, options.cost) : SolvePieces(problem, pieces);
  return BucketsOf(units, JoinWhereFree(problem, options.cost, best.Ends()));
}

}  // namespace horovodx::schedule
