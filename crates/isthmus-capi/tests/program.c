/* SPDX-License-Identifier: Apache-2.0 */
/* A C program against a software slave: RAM at 0x1000 (64 KiB), its table at 0xffff0000.
 * argv[1]: the device's name. Says which check failed, in one line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isthmus_eb.h"

#define RAM 0x1000
#define W32 (IEB_DATA32 | IEB_BIG_ENDIAN)
#define CHECK(condition)                                                                       \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      printf("line %d: %s (%s)\n", __LINE__, #condition, ieb_last_error());                    \
      exit(1);                                                                                 \
    }                                                                                          \
  } while (0)

static int told;
static ieb_status_t told_status;

static void count_reads(ieb_user_data_t user, ieb_device_t device, ieb_operation_t operation,
                        ieb_status_t status) {
  ieb_data_t expected = *(ieb_data_t *)user;
  CHECK(device != NULL);
  told_status = status;
  told++;
  CHECK(operation != NULL && ieb_operation_is_read(operation) && !ieb_operation_is_config(operation));
  CHECK(ieb_operation_address(operation) == RAM && ieb_operation_data(operation) == expected);
  CHECK(ieb_operation_format(operation) == W32 && !ieb_operation_had_error(operation));
  operation = ieb_operation_next(operation);
  if (status == IEB_SEGFAULT) {
    CHECK(operation != NULL && ieb_operation_had_error(operation));
    operation = ieb_operation_next(operation);
  }
  CHECK(operation == NULL);
}

static void chain(ieb_user_data_t user, ieb_device_t device, ieb_operation_t operation,
                  ieb_status_t status) {
  int *left = user;
  CHECK(status == IEB_OK && operation != NULL);
  /* A callback opens the next cycle. */
  if (--*left > 0) CHECK(ieb_device_read(device, RAM, W32, NULL, left, chain) == IEB_OK);
}

static void dropped(ieb_user_data_t user, ieb_device_t device, ieb_operation_t operation,
                    ieb_status_t status) {
  (void)device;
  (void)operation;
  *(ieb_status_t *)user = status;
}

#define LEFT 300
static int ends;

/* The cycles that a closing device leaves, in the order in which they were closed. */
static void left_behind(ieb_user_data_t user, ieb_device_t device, ieb_operation_t operation,
                        ieb_status_t status) {
  CHECK((int)(size_t)user == ends && status == IEB_FAIL);
  CHECK(ieb_operation_address(operation) == RAM + 4 * (unsigned)ends);
  /* The replies that come now change nothing. */
  if (ends++ == 0) CHECK(ieb_socket_run(ieb_device_socket(device), 1000000) == 0);
}

int main(int argc, char **argv) {
  ieb_socket_t socket;
  ieb_device_t device;
  ieb_cycle_t cycle;
  ieb_data_t a = 0, b = 0, expected = 0xcafef00d;
  struct ieb_sdb_device found[2];
  int count, i, left = 3;
  ieb_status_t last = IEB_OK;
  CHECK(argc == 2);

  CHECK(ieb_socket_open(IEB_ABI_CODE + 1, IEB_ADDRX | IEB_DATAX, &socket) == IEB_ABI);
  CHECK(ieb_socket_open(IEB_ABI_CODE, IEB_ADDRX | IEB_DATAX, &socket) == IEB_OK);
  CHECK(ieb_socket_set_timeout(socket, 2000000) == IEB_OK);
  CHECK(ieb_device_open(socket, "usb/x", IEB_ADDRX | IEB_DATAX, 1, &device) == IEB_ADDRESS);
  CHECK(strstr(ieb_last_error(), "expected udp/HOST[/PORT]") != NULL);
  /* On a stream the slave hangs up where no width fits. */
  CHECK(ieb_device_open(socket, argv[1], IEB_ADDRX | IEB_DATA16, 1, &device) ==
        (argv[1][0] == 'u' ? IEB_WIDTH : IEB_FAIL));
  CHECK(ieb_device_open(socket, argv[1], IEB_ADDRX | IEB_DATAX, 3, &device) == IEB_OK);
  CHECK(ieb_device_width(device) == (IEB_ADDR32 | IEB_DATA32) && ieb_device_socket(device) == socket);

  /* Blocking: a write and two reads in one cycle. */
  CHECK(ieb_cycle_open(device, NULL, IEB_BLOCK, &cycle) == IEB_OK);
  CHECK(ieb_cycle_device(cycle) == device);
  ieb_cycle_write(cycle, RAM, W32, expected);
  ieb_cycle_read(cycle, RAM, W32, &a);
  ieb_cycle_read(cycle, RAM + 2, IEB_DATA16 | IEB_BIG_ENDIAN, &b);
  CHECK(ieb_cycle_close(cycle) == IEB_OK && a == expected && b == 0xf00d);
  CHECK(ieb_device_read(device, RAM, IEB_DATA8 | IEB_LITTLE_ENDIAN, &b, NULL, IEB_BLOCK) == IEB_OK);
  CHECK(b == 0x0d);
  CHECK(ieb_cycle_open(device, NULL, IEB_BLOCK, &cycle) == IEB_OK);
  ieb_cycle_read_config(cycle, 0xc, W32, &b);
  CHECK(ieb_cycle_close_silently(cycle) == IEB_OK && b == 0xffff0000);

  /* What cannot be is refused, each with its own status. */
  CHECK(ieb_device_read(device, RAM, IEB_DATA64 | IEB_BIG_ENDIAN, &b, NULL, IEB_BLOCK) == IEB_WIDTH);
  CHECK(ieb_device_read(device, RAM, IEB_DATA16, &b, NULL, IEB_BLOCK) == IEB_ENDIAN);
  CHECK(ieb_device_read(device, RAM + 1, W32, &b, NULL, IEB_BLOCK) == IEB_ADDRESS);
  CHECK(ieb_device_read(device, 1ull << 32, W32, &b, NULL, IEB_BLOCK) == IEB_ADDRESS);
  CHECK(ieb_device_read(device, 0x900000, W32, &b, NULL, IEB_BLOCK) == IEB_SEGFAULT);
  CHECK(strstr(ieb_last_error(), "read 0x00900000 (operation 0): bus error") != NULL);
  CHECK(ieb_cycle_open(device, NULL, IEB_BLOCK, &cycle) == IEB_OK);
  for (i = 0; i < 2000; i++) ieb_cycle_read(cycle, RAM, W32, NULL);
  CHECK(ieb_cycle_close(cycle) == (argv[1][0] == 'u' ? IEB_OVERFLOW : IEB_OK));
  CHECK(ieb_cycle_open(device, NULL, IEB_BLOCK, &cycle) == IEB_OK);
  CHECK(ieb_device_close(device) == IEB_BUSY);
  ieb_cycle_abort(cycle);

  /* Pipelined: nothing happens before the socket runs, then every callback once. */
  for (i = 0; i < 500; i++) {
    CHECK(ieb_cycle_open(device, &expected, count_reads, &cycle) == IEB_OK);
    ieb_cycle_read(cycle, RAM, W32, i == 0 ? &a : NULL);
    CHECK(ieb_cycle_close(cycle) == IEB_OK);
  }
  CHECK(told == 0);
  CHECK(ieb_socket_run(socket, -1) == 0 && told == 500 && told_status == IEB_OK);
  CHECK(ieb_socket_run(socket, 0) == 0 && told == 500);
  CHECK(ieb_cycle_open(device, &expected, count_reads, &cycle) == IEB_OK);
  ieb_cycle_read(cycle, RAM, W32, NULL);
  ieb_cycle_write(cycle, 0x900000, W32, 1);
  CHECK(ieb_cycle_close(cycle) == IEB_OK && ieb_socket_run(socket, 1000000) == 0);
  CHECK(told == 501 && told_status == IEB_SEGFAULT);
  CHECK(ieb_device_read(device, RAM, W32, NULL, &left, chain) == IEB_OK);
  for (i = 0; i < 10 && left > 0; i++) CHECK(ieb_socket_run(socket, 1000000) >= 0);
  CHECK(left == 0);

  /* What is attached to the bus. */
  count = 2;
  CHECK(ieb_sdb_find_by_identity(device, 0x651, 0x66cfeb52, found, &count) == IEB_OK && count == 1);
  CHECK(found[0].first == RAM && found[0].last == RAM + 0xffff && !strcmp(found[0].name, "RAM"));
  count = 0;
  CHECK(ieb_sdb_find_by_identity(device, 0x651, 0x66cfeb52, NULL, &count) == IEB_OK && count == 1);
  CHECK(ieb_sdb_find_by_address(device, RAM + 8, found) == IEB_OK && found[0].device == 0x66cfeb52);
  CHECK(ieb_sdb_find_by_address(device, 0x900000, found) == IEB_ADDRESS);

  /* NULL is refused, not followed. */
  CHECK(ieb_device_close(NULL) == IEB_FAIL && ieb_socket_run(NULL, 0) == IEB_FAIL);
  CHECK(ieb_cycle_open(device, NULL, IEB_BLOCK, NULL) == IEB_FAIL && ieb_cycle_close(NULL) == IEB_FAIL);
  CHECK(ieb_operation_next(NULL) == NULL && ieb_device_width(NULL) == 0);
  CHECK(!strcmp(ieb_status(IEB_TIMEOUT), "no answer in time") && !strcmp(ieb_status(77), "unknown status"));

  /* A cycle in flight is reported when its device closes. */
  CHECK(ieb_device_read(device, RAM, W32, NULL, &last, dropped) == IEB_OK);
  CHECK(ieb_socket_close(socket) == IEB_BUSY);
  CHECK(ieb_device_close(device) == IEB_OK && last == IEB_FAIL);
  CHECK(ieb_device_open(socket, argv[1], IEB_ADDRX | IEB_DATAX, 3, &device) == IEB_OK);
  for (i = 0; i < LEFT; i++) {
    CHECK(ieb_cycle_open(device, NULL, IEB_BLOCK, &cycle) == IEB_OK);
    ieb_cycle_abort(cycle);
    CHECK(ieb_device_read(device, RAM + 4 * (unsigned)i, W32, NULL, (void *)(size_t)i, left_behind) == IEB_OK);
  }
  CHECK(ieb_device_close(device) == IEB_OK && ends == LEFT);
  CHECK(ieb_socket_close(socket) == IEB_OK);
  puts("all checks passed");
  return 0;
}
