// Links over MPI: what Post does, as link.h has it. Whoever waits on one waits on the bell.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "horovodx/transport/link.h"
#include "horovodx/transport/mpi/post.h"

namespace horovodx::transport::mpi {

class MpiOutLink : public OutLink {
 public:
  // `post` is borrowed and outlives the link. There is one link of a tag and direction between two
  // ranks.
  MpiOutLink(Post& post, int peer, int tag, std::string name)
      : post_(post), box_(post.OpenOut(peer, tag, std::move(name))) {}
  ~MpiOutLink() override { post_.Close(box_); }
  Result<std::size_t> TryWrite(std::span<const ConstBytes> pieces) override {
    return post_.Write(*box_, pieces);
  }
  bool Writable() override { return post_.Writable(*box_); }
  std::string Describe() const override { return box_->name; }

 private:
  Post& post_;
  Outbox* box_;
};

class MpiInLink : public InLink {
 public:
  MpiInLink(Post& post, int peer, int tag, std::string name)
      : post_(post), box_(post.OpenIn(peer, tag, std::move(name))) {}
  ~MpiInLink() override { post_.Close(box_); }
  Result<std::size_t> TryRead(std::span<const MutableBytes> pieces) override {
    return post_.Read(*box_, pieces);
  }
  bool Readable() override { return post_.Readable(*box_); }
  std::string Describe() const override { return box_->name; }

 private:
  Post& post_;
  Inbox* box_;
};

}  // namespace horovodx::transport::mpi
