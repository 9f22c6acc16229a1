#include "horovodx/collectives/rows_and_columns.h"

#include <optional>
#include <utility>

#include "horovodx/collectives/ring_passes.h"

namespace horovodx::collectives {
namespace {

// A companion for as long as it lives.
class Beside {
 public:
  Beside(Team& team, Companion& companion) : team_(team) { team_.SetCompanion(&companion); }
  ~Beside() { team_.SetCompanion(nullptr); }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

 private:
  Team& team_;
};

class Pipeline {
 public:
  Pipeline(Team& row, const MutableBuffer& buffer, ReduceOp op, const RowsAndColumns& how)
      : row_(row),
        buffer_(buffer),
        op_(op),
        how_(how),
        windows_(buffer.count(), how.window_elements),
        columns_(op) {}

  Status Run() {
    const Beside beside(row_, columns_);
    for (std::size_t w = 0; w < windows_.windows(); ++w) {
      HVDX_RETURN_IF_ERROR(Reduce(w));
      if (w > 0) HVDX_RETURN_IF_ERROR(Gather(w - 1));
    }
    return Gather(windows_.windows() - 1);
  }

 private:
  struct Window {
    RingScratch scratch;
    std::optional<MutableBuffer> sums;
    std::size_t rings = 0;  // finished with so many
  };

  Status Reduce(std::size_t w) {
    const MutableBuffer window = Part(buffer_, windows_[w]);
    Window& kept = kept_[w % 2];
    HVDX_ASSIGN_OR_RETURN(MutableBuffer sums,
                          ReducePass(row_, window, how_.chunks(window.count()), op_, kept.scratch));
    how_.add_rings(window.count(), sums, columns_);
    kept.sums = std::move(sums);
    kept.rings = columns_.added();
    return columns_.Pump().status();  // on their way before anything else is done
  }

  Status Gather(std::size_t w) {
    const MutableBuffer window = Part(buffer_, windows_[w]);
    const ChunkPlan chunk = how_.chunks(window.count());
    const Window& kept = kept_[w % 2];
    while (columns_.finished() < kept.rings) {
      HVDX_ASSIGN_OR_RETURN(const std::size_t moved, columns_.Pump());
      if (moved == 0 && columns_.finished() < kept.rings) {
        HVDX_RETURN_IF_ERROR(row_.AwaitCompanion());
      }
    }
    Copy(Part(window, chunk[row_.rank()]), *kept.sums);
    return GatherPass(row_, window, chunk);
  }

  Team& row_;
  const MutableBuffer& buffer_;
  const ReduceOp op_;
  const RowsAndColumns& how_;
  const WindowPlan windows_;
  Window kept_[2];
  RingStrand columns_;
};

}  // namespace

Status AllreduceInRowsAndColumns(Team& row, const MutableBuffer& buffer, ReduceOp op,
                                 const RowsAndColumns& how) {
  return Pipeline(row, buffer, op, how).Run();
}

}  // namespace horovodx::collectives
