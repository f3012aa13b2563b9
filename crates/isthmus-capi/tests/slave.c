/* SPDX-License-Identifier: Apache-2.0 */
/* A C program that is a slave, on a thread of its own, and its master. Says which check failed, in one line. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isthmus_eb.h"

#define W32 (IEB_DATA32 | IEB_BIG_ENDIAN)
#define REGISTERS 0x1000
#define STOP 0x2000
#define CHECK(condition)                                                                       \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      printf("line %d: %s (%s)\n", __LINE__, #condition, ieb_last_error());                    \
      exit(1);                                                                                 \
    }                                                                                          \
  } while (0)

/* Big-endian registers, byte by byte; the last word refuses everything. */
struct registers {
  uint8_t bytes[64];
  ieb_address_t last_address;
  ieb_width_t last_size;
  ieb_slave_t slave;
};

static ieb_status_t get(ieb_user_data_t user, ieb_address_t address, ieb_width_t size, ieb_data_t *data) {
  struct registers *registers = user;
  int i;
  registers->last_address = address;
  registers->last_size = size;
  if (address >= REGISTERS + 60) return IEB_FAIL;
  *data = 0;
  for (i = 0; i < size; i++) *data = *data << 8 | registers->bytes[address - REGISTERS + i];
  return IEB_OK;
}

static ieb_status_t put(ieb_user_data_t user, ieb_address_t address, ieb_width_t size, ieb_data_t data) {
  struct registers *registers = user;
  int i;
  registers->last_address = address;
  registers->last_size = size;
  if (address >= REGISTERS + 60) return IEB_FAIL;
  for (i = 0; i < size; i++) registers->bytes[address - REGISTERS + i] = data >> (8 * (size - 1 - i));
  return IEB_OK;
}

/* A handler may stop its slave, and nothing else. */
static ieb_status_t stop(ieb_user_data_t user, ieb_address_t address, ieb_width_t size, ieb_data_t data) {
  struct registers *registers = user;
  CHECK(address == STOP && size == IEB_DATA32 && data == 0x57);
  CHECK(ieb_slave_close(registers->slave) == IEB_BUSY && ieb_slave_run(registers->slave, 0) == IEB_BUSY);
  CHECK(ieb_slave_detach(registers->slave, REGISTERS) == IEB_BUSY);
  ieb_slave_stop(registers->slave);
  return IEB_OK;
}

static void *serve(void *slave) {
  CHECK(ieb_slave_run(slave, -1) == IEB_OK);
  return NULL;
}

static void master(const char *name) {
  ieb_socket_t socket;
  ieb_device_t device;
  ieb_cycle_t cycle;
  ieb_data_t a = 0, b = 0, c = 0;
  struct ieb_sdb_device found;
  int count = 1;
  CHECK(ieb_socket_open(IEB_ABI_CODE, IEB_ADDRX | IEB_DATAX, &socket) == IEB_OK);
  CHECK(ieb_device_open(socket, name, IEB_ADDRX | IEB_DATAX, 3, &device) == IEB_OK);
  CHECK(ieb_device_width(device) == (IEB_ADDR32 | IEB_DATA32));
  CHECK(ieb_cycle_open(device, NULL, IEB_BLOCK, &cycle) == IEB_OK);
  ieb_cycle_write(cycle, REGISTERS + 8, W32, 0x11223344);
  ieb_cycle_write(cycle, REGISTERS + 10, IEB_DATA16 | IEB_BIG_ENDIAN, 0xaabb);
  ieb_cycle_write(cycle, REGISTERS + 9, IEB_DATA8 | IEB_BIG_ENDIAN, 0xcc);
  ieb_cycle_read(cycle, REGISTERS + 8, W32, &a);
  ieb_cycle_read(cycle, REGISTERS + 10, IEB_DATA16 | IEB_BIG_ENDIAN, &b);
  ieb_cycle_read(cycle, REGISTERS + 11, IEB_DATA8 | IEB_BIG_ENDIAN, &c);
  CHECK(ieb_cycle_close(cycle) == IEB_OK && a == 0x11ccaabb && b == 0xaabb && c == 0xbb);
  /* An operation that the handler refuses, one without a function, and an address without a slave. */
  CHECK(ieb_device_read(device, REGISTERS + 60, W32, &a, NULL, IEB_BLOCK) == IEB_SEGFAULT);
  CHECK(ieb_device_write(device, REGISTERS + 60, W32, 1, NULL, IEB_BLOCK) == IEB_SEGFAULT);
  CHECK(ieb_device_read(device, STOP, W32, &a, NULL, IEB_BLOCK) == IEB_SEGFAULT);
  CHECK(ieb_device_read(device, 0x3000, W32, &a, NULL, IEB_BLOCK) == IEB_SEGFAULT);
  CHECK(ieb_sdb_find_by_identity(device, 0x651, 0x12345678, &found, &count) == IEB_OK && count == 1);
  CHECK(found.first == REGISTERS && found.last == REGISTERS + 63 && !strcmp(found.name, "REGISTERS"));
  CHECK(found.version == 3 && found.date == 0x20260131);
  CHECK(ieb_device_close(device) == IEB_OK && ieb_socket_close(socket) == IEB_OK);
}

int main(void) {
  ieb_slave_t slave, other;
  ieb_socket_t socket;
  ieb_device_t device;
  pthread_t thread;
  struct registers registers = {{0}, 0, 0, NULL};
  struct ieb_handler handler, stopper;
  memset(&handler, 0, sizeof handler);
  handler.device.first = REGISTERS;
  handler.device.last = REGISTERS + 63;
  handler.device.vendor = 0x651;
  handler.device.device = 0x12345678;
  handler.device.version = 3;
  handler.device.date = 0x20260131;
  strcpy(handler.device.name, "REGISTERS");
  handler.user = &registers;
  handler.read = get;
  handler.write = put;
  stopper = handler;
  stopper.device.first = stopper.device.last = STOP;
  stopper.device.last += 3;
  stopper.device.device = 1;
  strcpy(stopper.device.name, "STOP");
  stopper.read = NULL;
  stopper.write = stop;

  /* What cannot be is refused, in one line. */
  CHECK(ieb_slave_open(IEB_ABI_CODE + 1, "127.0.0.1:0", IEB_ADDR32 | IEB_DATA32, IEB_OHWR, &slave) == IEB_ABI);
  CHECK(ieb_slave_open(IEB_ABI_CODE, "nowhere", IEB_ADDR32 | IEB_DATA32, IEB_OHWR, &slave) == IEB_ADDRESS);
  CHECK(strstr(ieb_last_error(), "expected IP:PORT") != NULL);
  CHECK(ieb_slave_open(IEB_ABI_CODE, "192.0.2.1:0", IEB_ADDR32 | IEB_DATA32, IEB_OHWR, &slave) == IEB_FAIL);
  CHECK(ieb_slave_open(IEB_ABI_CODE, "127.0.0.1:0", IEB_ADDR8 | IEB_DATA32, IEB_OHWR, &slave) == IEB_WIDTH);
  CHECK(ieb_slave_open(IEB_ABI_CODE, "127.0.0.1:0", IEB_ADDR32 | IEB_DATA32, 7, &slave) == IEB_FAIL);
  CHECK(ieb_slave_open(IEB_ABI_CODE, NULL, IEB_ADDR32 | IEB_DATA32, IEB_OHWR, &slave) == IEB_FAIL);

  CHECK(ieb_slave_open(IEB_ABI_CODE, "127.0.0.1:0", IEB_ADDR32 | IEB_DATA32, IEB_OHWR, &slave) == IEB_OK);
  registers.slave = slave;
  CHECK(ieb_slave_attach(slave, &handler) == IEB_OK && ieb_slave_attach(slave, &stopper) == IEB_OK);
  CHECK(ieb_slave_attach(slave, &handler) == IEB_ADDRESS && strstr(ieb_last_error(), "overlaps") != NULL);
  stopper.device.first = 0xffff0000;
  stopper.device.last = 0xffffffff;
  CHECK(ieb_slave_attach(slave, &stopper) == IEB_ADDRESS && ieb_slave_attach(slave, NULL) == IEB_FAIL);
  CHECK(ieb_slave_name(slave, 0) != NULL && ieb_slave_name(slave, 1) != NULL);
  CHECK(ieb_slave_name(slave, 2) == NULL && ieb_slave_name(slave, -1) == NULL);

  CHECK(pthread_create(&thread, NULL, serve, slave) == 0);
  master(ieb_slave_name(slave, 0));
  master(ieb_slave_name(slave, 1));
  CHECK(ieb_socket_open(IEB_ABI_CODE, IEB_ADDRX | IEB_DATAX, &socket) == IEB_OK);
  CHECK(ieb_device_open(socket, ieb_slave_name(slave, 0), IEB_ADDRX | IEB_DATAX, 3, &device) == IEB_OK);
  CHECK(ieb_device_write(device, STOP, W32, 0x57, NULL, IEB_BLOCK) == IEB_OK);
  CHECK(ieb_device_close(device) == IEB_OK && ieb_socket_close(socket) == IEB_OK);
  CHECK(pthread_join(thread, NULL) == 0);
  /* Little-endian lanes are the master's matter: the handler gets the byte's own address. */
  CHECK(registers.last_address == REGISTERS + 60 && registers.last_size == IEB_DATA32);

  CHECK(ieb_slave_detach(slave, REGISTERS) == IEB_OK && ieb_slave_detach(slave, REGISTERS) == IEB_ADDRESS);
  CHECK(ieb_slave_run(slave, 1000) == IEB_OK);
  /* Stopped before it runs. */
  ieb_slave_stop(slave);
  CHECK(ieb_slave_run(slave, -1) == IEB_OK && ieb_slave_close(slave) == IEB_OK);

  /* LiteEth's dialect has one transport. */
  CHECK(ieb_slave_open(IEB_ABI_CODE, "127.0.0.1:0", IEB_ADDR32 | IEB_DATA32, IEB_LITEETH, &other) == IEB_OK);
  CHECK(ieb_slave_name(other, 0) != NULL && ieb_slave_name(other, 1) == NULL && ieb_slave_close(other) == IEB_OK);
  CHECK(ieb_slave_close(NULL) == IEB_FAIL && ieb_slave_run(NULL, 0) == IEB_FAIL && ieb_slave_name(NULL, 0) == NULL);
  ieb_slave_stop(NULL);
  puts("all checks passed");
  return 0;
}
