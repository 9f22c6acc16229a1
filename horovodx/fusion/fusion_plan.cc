#include "horovodx/fusion/fusion_plan.h"

#include <limits>
#include <map>
#include <numeric>

namespace horovodx::fusion {
namespace {

std::uint64_t SaturatingAdd(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return a > most - b ? most : a + b;
}

// One pass over what is left: the bucket of left[0]; what was passed over stays in `left`, in
// order.
std::vector<int> TakeBucket(const std::vector<Item>& items, std::vector<int>& left,
                            std::uint64_t threshold) {
  const Item& first = items[left.front()];
  std::vector<int> bucket{left.front()};
  std::vector<int> rest;
  std::uint64_t merged = first.bytes;
  std::uint64_t passed_over = 0;
  bool looking = threshold > 0 && first.family != Family::kSingle && merged <= threshold;
  for (std::size_t i = 1; i < left.size(); ++i) {
    const Item& item = items[left[i]];
    const std::uint64_t sum = SaturatingAdd(merged, item.bytes);
    if (looking && CanMerge(first, item) && sum <= threshold) {
      bucket.push_back(left[i]);
      merged = sum;
      continue;
    }
    rest.push_back(left[i]);
    passed_over = SaturatingAdd(passed_over, item.bytes);
    looking = looking && SaturatingAdd(merged, passed_over) <= threshold;
  }
  left = std::move(rest);
  return bucket;
}

void FuseAll(const std::vector<Item>& items, std::vector<int> left, std::uint64_t threshold,
             std::vector<std::vector<int>>& buckets) {
  while (!left.empty()) buckets.push_back(TakeBucket(items, left, threshold));
}

// Groups first, each by itself, in the order of their first item; then the singles, one by one.
std::vector<std::vector<int>> FuseGroups(const std::vector<Item>& items, std::uint64_t threshold) {
  std::vector<std::vector<int>> groups;
  std::vector<int> singles;
  std::map<int, std::size_t> index;
  for (int i = 0; i < static_cast<int>(items.size()); ++i) {
    if (items[i].group < 0) {
      singles.push_back(i);
      continue;
    }
    const auto [it, is_new] = index.try_emplace(items[i].group, groups.size());
    if (is_new) groups.emplace_back();
    groups[it->second].push_back(i);
  }
  std::vector<std::vector<int>> buckets;
  for (auto& group : groups) FuseAll(items, std::move(group), threshold, buckets);
  for (int i : singles) buckets.push_back({i});
  return buckets;
}

}  // namespace

bool CanMerge(const Item& a, const Item& b) {
  return a.family != Family::kSingle && a.family == b.family && a.type == b.type && a.op == b.op &&
         a.device == b.device && a.prescale == b.prescale && a.postscale == b.postscale;
}

std::vector<std::vector<int>> Fuse(const std::vector<Item>& items, const Options& options) {
  if (options.disable_group_fusion) return FuseGroups(items, options.threshold);
  std::vector<int> all(items.size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<std::vector<int>> buckets;
  FuseAll(items, std::move(all), options.threshold, buckets);
  return buckets;
}

}  // namespace horovodx::fusion
