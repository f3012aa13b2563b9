/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a word, reads it back, and reads two words in one bus cycle. */
#include <inttypes.h>
#include <stdio.h>

#include "isthmus_eb.h"

#define W32 (IEB_DATA32 | IEB_BIG_ENDIAN)

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, ieb_last_error());
  return 1;
}

int main(int argc, char **argv) {
  ieb_socket_t socket;
  ieb_device_t device;
  ieb_cycle_t cycle;
  ieb_data_t word = 0, first = 0, second = 0;
  const char *name = argc > 1 ? argv[1] : "udp/127.0.0.1";
  if (ieb_socket_open(IEB_ABI_CODE, IEB_ADDRX | IEB_DATAX, &socket) != IEB_OK) return fail("socket");
  if (ieb_device_open(socket, name, IEB_ADDRX | IEB_DATAX, 3, &device) != IEB_OK) return fail(name);

  /* One operation in a cycle of its own. IEB_BLOCK waits for its end. */
  if (ieb_device_write(device, 0x1000, W32, 0xcafef00d, NULL, IEB_BLOCK) != IEB_OK) return fail("write");
  if (ieb_device_read(device, 0x1000, W32, &word, NULL, IEB_BLOCK) != IEB_OK) return fail("read");

  /* Several: no other master comes between them, and they take one round trip. */
  if (ieb_cycle_open(device, NULL, IEB_BLOCK, &cycle) != IEB_OK) return fail("cycle");
  ieb_cycle_read(cycle, 0x1000, W32, &first);
  ieb_cycle_read(cycle, 0x1004, W32, &second);
  if (ieb_cycle_close(cycle) != IEB_OK) return fail("cycle");

  printf("%08" PRIx64 " %08" PRIx64 " %08" PRIx64 "\n", (uint64_t)word, (uint64_t)first, (uint64_t)second);
  ieb_device_close(device);
  ieb_socket_close(socket);
  return 0;
}
