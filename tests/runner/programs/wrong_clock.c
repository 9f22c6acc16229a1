/* A wall clock that is wrong, for LD_PRELOAD: a host whose clock nobody has set.
 *
 * WALL_CLOCK_OFF=SECONDS shifts it. With WALL_CLOCK_JUMPS=1 every other look goes as far to the
 * other side: a clock that is being corrected all the time. Other clocks stay as they are. */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset(void) {
  static atomic_uint looks;
  const char* off = getenv("WALL_CLOCK_OFF");
  const long seconds = off == NULL ? 0 : atol(off);
  const int back = getenv("WALL_CLOCK_JUMPS") != NULL && atomic_fetch_add(&looks, 1) % 2 == 1;
  return back ? -seconds : seconds;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  const int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    now->tv_sec += offset();
  }
  return result;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  struct timespec precise;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &precise);
  now->tv_sec = precise.tv_sec;
  now->tv_usec = precise.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* where) {
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (where != NULL) *where = precise.tv_sec;
  return precise.tv_sec;
}
