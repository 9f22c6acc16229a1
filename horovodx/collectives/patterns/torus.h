// Ranks in rows and columns. Pure.
#pragma once

#include <numeric>
#include <vector>

#include "horovodx/topology/host_map.h"

namespace horovodx::collectives {

struct TorusShape {
  int rows = 1;
  int columns = 1;
};

// The factors of `size` that are nearest to each other, rows <= columns. A prime is one row: a
// ring.
constexpr TorusShape NearestFactors(int size) {
  TorusShape shape{1, size};
  for (int rows = 1; rows * rows <= size; ++rows) {
    if (size % rows == 0) shape = {rows, size / rows};
  }
  return shape;
}

class TorusPattern {
 public:
  // Rows are hosts where there are several, of the same number (more than one) of ranks each; else
  // consecutive ranks, in the shape of NearestFactors.
  explicit TorusPattern(const topology::HostMap& hosts) {
    const int a_host = static_cast<int>(hosts.ranks_on(0).size());
    if (hosts.hosts() > 1 && a_host > 1 && hosts.homogeneous()) {
      for (int h = 0; h < hosts.hosts(); ++h) rows_.push_back(hosts.ranks_on(h));
      return;
    }
    const TorusShape shape = NearestFactors(hosts.size());
    for (int row = 0; row < shape.rows; ++row) {
      rows_.emplace_back(shape.columns);
      std::iota(rows_.back().begin(), rows_.back().end(), row * shape.columns);
    }
  }

  TorusShape shape() const {
    return {static_cast<int>(rows_.size()), static_cast<int>(rows_.front().size())};
  }
  // The ranks of the row, or the column, in which `rank` sits.
  const std::vector<int>& RowOf(int rank) const { return rows_[Find(rank).rows]; }
  std::vector<int> ColumnOf(int rank) const {
    std::vector<int> column;
    for (const auto& row : rows_) column.push_back(row[Find(rank).columns]);
    return column;
  }

 private:
  // As a shape: that many rows above it, that many columns to its left.
  TorusShape Find(int rank) const {
    for (int row = 0; row < shape().rows; ++row) {
      for (int column = 0; column < shape().columns; ++column) {
        if (rows_[row][column] == rank) return {row, column};
      }
    }
    return {0, 0};
  }

  std::vector<std::vector<int>> rows_;
};

}  // namespace horovodx::collectives
