#include "horovodx/negotiation/assemble.h"

#include <algorithm>
#include <map>

#include "horovodx/negotiation/shape.h"

namespace horovodx::negotiation {
namespace {

fusion::Family FamilyOf(Kind kind) {
  switch (kind) {
    case Kind::kAllreduce:
      return fusion::Family::kAllreduce;
    case Kind::kAdasum:
      return fusion::Family::kAdasum;
    case Kind::kReducescatter:
      return fusion::Family::kReducescatter;
    case Kind::kAllgather:
      return fusion::Family::kAllgather;
    default:
      return fusion::Family::kSingle;
  }
}

// Groups by number instead of by name.
class Numbers {
 public:
  int Of(const std::string& group) {
    if (group.empty()) return -1;
    return numbers_.try_emplace(group, static_cast<int>(numbers_.size())).first->second;
  }

 private:
  std::map<std::string, int> numbers_;
};

std::vector<fusion::Item> ItemsOf(const std::vector<Single>& singles) {
  Numbers groups;
  std::vector<fusion::Item> items;
  for (const Single& single : singles) {
    const Bucket& b = single.bucket;
    items.push_back({FamilyOf(b.kind), b.type, b.op, b.device, b.prescale, b.postscale,
                     BytesMoved(b), groups.Of(single.group)});
  }
  return items;
}

// Equal numbers for items that may share a bucket. Few mixes appear in one step, so a search along
// the first item of each is quick.
std::vector<int> MixesOf(const std::vector<fusion::Item>& items, bool disable_group_fusion) {
  std::vector<int> mixes;
  std::vector<int> firsts;
  const auto same = [&](int a, int b) {
    if (disable_group_fusion && (items[a].group < 0 || items[a].group != items[b].group)) {
      return false;
    }
    return fusion::CanMerge(items[a], items[b]);
  };
  for (int i = 0; i < static_cast<int>(items.size()); ++i) {
    // With groups apart, a match can only be the neighbour; do not search through all singles.
    const auto from =
        disable_group_fusion && !firsts.empty() ? std::prev(firsts.end()) : firsts.begin();
    const auto it = std::find_if(from, firsts.end(), [&](int first) { return same(first, i); });
    if (it == firsts.end() || items[i].family == fusion::Family::kSingle) {
      mixes.push_back(i);
      if (items[i].family != fusion::Family::kSingle) firsts.push_back(i);
    } else {
      mixes.push_back(*it);
    }
  }
  return mixes;
}

Assembled Merge(const std::vector<Single>& singles, const std::vector<std::vector<int>>& parts) {
  Assembled all;
  for (const auto& part : parts) {
    Bucket bucket = singles[part.front()].bucket;
    for (std::size_t i = 1; i < part.size(); ++i) {
      bucket.entries.push_back(singles[part[i]].bucket.entries.front());
    }
    all.buckets.push_back(std::move(bucket));
    all.order.insert(all.order.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace

Assembled Fuse(const std::vector<Single>& singles, const fusion::Options& options) {
  return Merge(singles, fusion::Fuse(ItemsOf(singles), options));
}

CutStep CutPlan(const std::vector<Single>& step, CutOptions options) {
  const std::vector<fusion::Item> items = ItemsOf(step);
  const std::vector<int> mixes = MixesOf(items, options.disable_group_fusion);
  CutStep cut;
  for (std::size_t i = 0; i < step.size(); ++i) {
    cut.tensors.push_back({step[i].ready, items[i].bytes, mixes[i], items[i].group});
  }
  if (options.cautious) {
    // Where nothing costs anything all cuts end at the same time; of the rules that merge, this one
    // then merges only what is ready at the same moment.
    options.schedule.cost = {};
    if (options.rule != "wfbp") options.rule = "fusion";
  }
  cut.parts = schedule::Cut(options.rule, cut.tensors, options.schedule);
  cut.buckets = Merge(step, cut.parts).buckets;
  return cut;
}

}  // namespace horovodx::negotiation
