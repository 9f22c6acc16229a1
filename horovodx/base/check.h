// HVDX_CHECK: for what cannot happen. What can happen is a Status.
#pragma once

#include <cstdio>
#include <cstdlib>

#define HVDX_CHECK(condition)                                                            \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)

#ifdef NDEBUG
#define HVDX_DCHECK(condition) \
  do {                         \
  } while (false && (condition))
#else
#define HVDX_DCHECK(condition) HVDX_CHECK(condition)
#endif
