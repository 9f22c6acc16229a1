// Copying between tensors and shared memory, at full speed whatever the addresses.
//
// The C library copies a few KiB and more with one string instruction (rep movsb), which on some
// processors falls to 3 GB/s, a fifteenth, when the target lies up to a cache line behind the
// source within their pages. Tensors and slots do lie like that.
//
// Thread: any; no state. Memory need not be aligned; the two ranges must not overlap.
#pragma once

#include <cstddef>

namespace horovodx::kernels {

void Copy(void* to, const void* from, std::size_t bytes);

// The same past the cache: the target's old content is not read, and it is not in the cache
// afterwards. For results that are much larger than the cache, and for memory that another core
// has read, where plain stores may have to wait for it. Other threads must not be told of what was
// written so before EndStreaming() has been called.
void CopyStreaming(void* to, const void* from, std::size_t bytes);

// What this thread has copied past the cache is there before anything that it writes afterwards.
void EndStreaming();

}  // namespace horovodx::kernels
