/* SPDX-License-Identifier: Apache-2.0 */
/* Bus reads a second of one client of one device, through libetherbone or, with -DISTHMUS, through the C interface of
 * isthmus: the same program, only the prefix of the calls differs.
 *
 *     client_speed DEVICE CYCLES READS SECONDS
 *
 * CYCLES 0: blocking, one read in a checked cycle of its own, then the next. Otherwise CYCLES checked cycles of READS
 * reads are closed, all of them are waited for, then the next lot. Every status is checked and every value compared
 * with what was written before. Prints reads and seconds; the exit status is 1 after anything wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef ISTHMUS
#include "isthmus_eb.h"
#define EB(name) ieb_##name
#define EBC(name) IEB_##name
#define OPEN_SOCKET(result) ieb_socket_open(IEB_ABI_CODE, IEB_ADDR32 | IEB_DATA32, result)
#define BLOCK IEB_BLOCK
#else
#include "etherbone.h"
#define EB(name) eb_##name
#define EBC(name) EB_##name
#define OPEN_SOCKET(result) eb_socket_open(EB_ABI_CODE, NULL, EB_ADDR32 | EB_DATA32, result)
#define BLOCK eb_block
#endif

#define MOST_CYCLES 256
#define MOST_READS 32

/* What the callbacks of one lot leave behind. */
struct lot {
  int left;
  int failed;
};

static void ended(EB(user_data_t) user, EB(device_t) device, EB(operation_t) operations, EB(status_t) status) {
  struct lot *lot = user;
  (void)device;
  (void)operations;
  lot->left--;
  lot->failed += status != EBC(OK);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void check(int status, const char *what) {
  if (status != EBC(OK)) {
    fprintf(stderr, "%s: status %d\n", what, status);
    exit(1);
  }
}

static EB(data_t) value(int index) { return 0x01010101u * (unsigned)(index + 1); }

static void same(EB(data_t) came, int index) {
  if (came != value(index)) {
    fprintf(stderr, "address 0x%x: read 0x%llx instead of 0x%llx\n", 4 * index, (unsigned long long)came,
            (unsigned long long)value(index));
    exit(1);
  }
}

int main(int argc, char **argv) {
  static EB(data_t) data[MOST_CYCLES][MOST_READS];
  const EB(format_t) format = EBC(DATA32) | EBC(BIG_ENDIAN);
  EB(socket_t) socket;
  EB(device_t) device;
  if (argc != 5) {
    fprintf(stderr, "usage: %s DEVICE CYCLES READS SECONDS\n", argv[0]);
    return 2;
  }
  const int cycles = atoi(argv[2]), reads = atoi(argv[3]);
  const double seconds = atof(argv[4]);
  if (cycles < 0 || cycles > MOST_CYCLES || reads < 1 || reads > MOST_READS) {
    fprintf(stderr, "at most %d cycles of %d reads\n", MOST_CYCLES, MOST_READS);
    return 2;
  }
  check(OPEN_SOCKET(&socket), "open the socket");
  check(EB(device_open)(socket, argv[1], EBC(ADDR32) | EBC(DATA32), 3, &device), argv[1]);
  for (int i = 0; i < reads; i++)
    check(EB(device_write)(device, 4 * (unsigned)i, format, value(i), NULL, BLOCK), "write");

  unsigned long long count = 0;
  const double start = now();
  double time = 0;
  while (time < seconds) {
    if (cycles == 0) {
      EB(data_t) word = 0;
      check(EB(device_read)(device, 0, format, &word, NULL, BLOCK), "read");
      same(word, 0);
      count++;
    } else {
      struct lot lot = {.left = cycles, .failed = 0};
      for (int c = 0; c < cycles; c++) {
        EB(cycle_t) cycle;
        check(EB(cycle_open)(device, &lot, ended, &cycle), "open a cycle");
        for (int i = 0; i < reads; i++) EB(cycle_read)(cycle, 4 * (unsigned)i, format, &data[c][i]);
        check(EB(cycle_close)(cycle), "close a cycle");
      }
      while (lot.left > 0) {
        if (EB(socket_run)(socket, -1) < 0) check(EBC(FAIL), "wait for the cycles");
      }
      check(lot.failed, "a cycle");
      for (int c = 0; c < cycles; c++) {
        for (int i = 0; i < reads; i++) {
          same(data[c][i], i);
          data[c][i] = 0;
        }
      }
      count += (unsigned long long)cycles * (unsigned)reads;
    }
    time = now() - start;
  }
  printf("%llu %.6f\n", count, time);
  check(EB(device_close)(device), "close the device");
  check(EB(socket_close)(socket), "close the socket");
  return 0;
}
