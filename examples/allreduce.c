/* Two processes add up a vector through the C ABI.
 *
 *   cc examples/allreduce.c -I. -Lbuild/release/horovodx/api -lhorovodx \
 *      -Wl,-rpath,$PWD/build/release/horovodx/api -o build/allreduce && build/allreduce
 *
 * Started by hand it is the launcher: it runs the store through which the ranks find each other and
 * starts itself once for each rank. Started with HOROVOD_RANK it is a rank.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "horovodx/api/c_api.h"

static int rank_main(void) {
  if (!horovod_init(NULL, 0, NULL, NULL, 0)) {
    fprintf(stderr, "cannot start: %s\n", hvdx_last_error());
    return 1;
  }
  float x[3] = {1.0f + horovod_rank(), 10.0f, 100.0f};
  const int64_t shape[1] = {3};
  hvdx_submission sum = {.struct_size = sizeof sum, .kind = HVDX_ALLREDUCE, .type = HVDX_FLOAT32,
                         .op = HVDX_SUM, .device = -1, .ndim = 1, .shape = shape, .name = "x",
                         .input = x, .output = x};
  const int status = hvdx_run(&sum);
  if (status == HVDX_OK) {
    printf("rank %d of %d: %g %g %g\n", horovod_rank(), horovod_size(), x[0], x[1], x[2]);
  } else {
    fprintf(stderr, "rank %d: %s\n", horovod_rank(), hvdx_last_error());
  }
  horovod_shutdown();
  return status == HVDX_OK ? 0 : 1;
}

int main(int argc, char** argv) {
  (void)argc;
  if (getenv("HOROVOD_RANK") != NULL) return rank_main();
  /* A real launcher takes 32 random bytes for each job. */
  const char* secret = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
  const int port = hvdx_rendezvous_start("127.0.0.1", 0, secret, "example");
  if (port <= 0) return 1;
  char text[16];
  snprintf(text, sizeof text, "%d", port);
  setenv("HOROVODX_SECRET", secret, 1);
  setenv("HOROVODX_JOB_ID", "example", 1);
  setenv("HOROVOD_GLOO_RENDEZVOUS_ADDR", "127.0.0.1", 1);
  setenv("HOROVOD_GLOO_RENDEZVOUS_PORT", text, 1);
  setenv("HOROVOD_SIZE", "2", 1);
  for (int rank = 0; rank < 2; ++rank) {
    setenv("HOROVOD_RANK", rank == 0 ? "0" : "1", 1);
    if (fork() == 0) {
      execv("/proc/self/exe", argv);
      _exit(127);
    }
  }
  int failed = 0;
  for (int status = 0; wait(&status) > 0;) failed |= status != 0;
  hvdx_rendezvous_stop();
  return failed;
}
