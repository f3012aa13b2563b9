/* SPDX-License-Identifier: Apache-2.0 */
/* Etherbone from C. The calls are those that users of libetherbone know, with the prefix ieb_.
 *
 * A socket has devices, a device has cycles, a cycle has operations. Everything that belongs to one socket is
 * used by one thread at a time. Handles are valid until they are closed; a closed one must not be used again.
 * Nothing is sent before a blocking cycle is closed or ieb_socket_run is called.
 *
 *     ieb_socket_t socket;
 *     ieb_device_t device;
 *     ieb_data_t word;
 *     if (ieb_socket_open(IEB_ABI_CODE, IEB_ADDRX | IEB_DATAX, &socket) != IEB_OK) ...
 *     if (ieb_device_open(socket, "udp/192.168.10.2", IEB_ADDRX | IEB_DATAX, 3, &device) != IEB_OK)
 *       fprintf(stderr, "%s\n", ieb_last_error());
 *     ieb_device_read(device, 0x100, IEB_DATA32 | IEB_BIG_ENDIAN, &word, NULL, IEB_BLOCK);
 */
#ifndef ISTHMUS_EB_H
#define ISTHMUS_EB_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The major number of this interface: ieb_socket_open refuses another one. */
#define IEB_ABI_CODE 1

/* Zero is success, everything else is negative. */
typedef int32_t ieb_status_t;
#define IEB_OK 0
#define IEB_FAIL (-1)      /* the system refused; ieb_last_error says what */
#define IEB_ADDRESS (-2)   /* an address that cannot be: a device's name, or on the bus */
#define IEB_WIDTH (-3)     /* no common width, or wider than the device's port */
#define IEB_OVERFLOW (-4)  /* the cycle does not fit one datagram */
#define IEB_ENDIAN (-5)    /* narrower than the port, and no byte order given */
#define IEB_BUSY (-6)      /* too many cycles in flight */
#define IEB_TIMEOUT (-7)   /* no answer in time */
#define IEB_OOM (-8)       /* out of memory (kept for compatibility, never returned) */
#define IEB_ABI (-9)       /* built against another interface */
#define IEB_SEGFAULT (-10) /* at least one operation ended with a bus error */

/* Widths: those of data in the low half, of addresses in the high half; several may be offered. */
typedef uint8_t ieb_width_t;
#define IEB_DATA8 0x01
#define IEB_DATA16 0x02
#define IEB_DATA32 0x04
#define IEB_DATA64 0x08
#define IEB_DATAX 0x0f
#define IEB_ADDR8 0x10
#define IEB_ADDR16 0x20
#define IEB_ADDR32 0x40
#define IEB_ADDR64 0x80
#define IEB_ADDRX 0xf0

/* An operation's size (one IEB_DATA...; IEB_DATAX: the port's) and, where it is narrower than the port, which
 * end of a word the device has first. */
typedef uint8_t ieb_format_t;
#define IEB_BIG_ENDIAN 0x10
#define IEB_LITTLE_ENDIAN 0x20

typedef uint64_t ieb_address_t; /* byte address */
typedef uint64_t ieb_data_t;
typedef void *ieb_user_data_t;
typedef struct ieb_socket *ieb_socket_t;
typedef struct ieb_device *ieb_device_t;
typedef struct ieb_cycle *ieb_cycle_t;
typedef const struct ieb_operation *ieb_operation_t;

/* Called exactly once when a cycle has ended, from ieb_socket_run, a blocking call on the same device, or
 * ieb_device_close. The operations are valid during the call; NULL where there are none. It may open and close
 * cycles (not from ieb_device_close), but not close the device or the socket. */
typedef void (*ieb_callback_t)(ieb_user_data_t user, ieb_device_t device, ieb_operation_t operations,
                               ieb_status_t status);
/* In place of a callback: ieb_cycle_close waits for the cycle's end and returns its status. */
#define IEB_BLOCK ((ieb_callback_t)0)

/* A few words for a status. */
const char *ieb_status(ieb_status_t status);
/* The last error of this thread in one line: what, where, what is expected. Valid until the next call. */
const char *ieb_last_error(void);

/* widths: offered to every device. */
ieb_status_t ieb_socket_open(uint16_t abi_code, ieb_width_t widths, ieb_socket_t *result);
/* IEB_BUSY while a device of it is open. */
ieb_status_t ieb_socket_close(ieb_socket_t socket);
/* Sends queued cycles, waits up to this many microseconds (-1: until every cycle has ended or timed out), and runs
 * callbacks. Returns the cycles that are still in flight, or a negative status. */
int64_t ieb_socket_run(ieb_socket_t socket, int64_t timeout_us);

/* name: udp/HOST[/PORT], tcp/HOST[/PORT], dev/NAME. attempts: probes, 3 s each. */
ieb_status_t ieb_device_open(ieb_socket_t socket, const char *name, ieb_width_t widths, int attempts,
                             ieb_device_t *result);
/* Cycles in flight end with IEB_FAIL. IEB_BUSY while a cycle of it is open. */
ieb_status_t ieb_device_close(ieb_device_t device);
/* The widths agreed on: one IEB_ADDR... and one IEB_DATA... */
ieb_width_t ieb_device_width(ieb_device_t device);
ieb_socket_t ieb_device_socket(ieb_device_t device);
/* How long a cycle may take, in microseconds; 5 s unless set. Counts for devices opened later. */
ieb_status_t ieb_socket_set_timeout(ieb_socket_t socket, uint64_t timeout_us);

/* Operations of a cycle are executed in order; no other master's operation comes between them. */
ieb_status_t ieb_cycle_open(ieb_device_t device, ieb_user_data_t user, ieb_callback_t callback,
                            ieb_cycle_t *result);
/* data may be NULL; else it is written before the cycle's end is reported, and must live until then. A wrong
 * operation is reported when the cycle is closed. */
void ieb_cycle_read(ieb_cycle_t cycle, ieb_address_t address, ieb_format_t format, ieb_data_t *data);
void ieb_cycle_write(ieb_cycle_t cycle, ieb_address_t address, ieb_format_t format, ieb_data_t data);
/* The device's configuration space; always the port's width. */
void ieb_cycle_read_config(ieb_cycle_t cycle, ieb_address_t address, ieb_format_t format, ieb_data_t *data);
void ieb_cycle_write_config(ieb_cycle_t cycle, ieb_address_t address, ieb_format_t format, ieb_data_t data);
/* Ends the cycle's description; the handle is invalid afterwards in any case. A blocking cycle is executed and its
 * status returned. Another one is queued: unless IEB_OK is returned its callback is not called. */
ieb_status_t ieb_cycle_close(ieb_cycle_t cycle);
/* The same without reading the error status: shorter, and bus errors go unnoticed. */
ieb_status_t ieb_cycle_close_silently(ieb_cycle_t cycle);
/* Nothing is sent, no callback is called. */
void ieb_cycle_abort(ieb_cycle_t cycle);
ieb_device_t ieb_cycle_device(ieb_cycle_t cycle);

/* NULL behind the last one. */
ieb_operation_t ieb_operation_next(ieb_operation_t operation);
int ieb_operation_is_read(ieb_operation_t operation);
int ieb_operation_is_config(ieb_operation_t operation);
int ieb_operation_had_error(ieb_operation_t operation);
ieb_address_t ieb_operation_address(ieb_operation_t operation);
ieb_data_t ieb_operation_data(ieb_operation_t operation);
ieb_format_t ieb_operation_format(ieb_operation_t operation);

/* A cycle of one operation. */
ieb_status_t ieb_device_read(ieb_device_t device, ieb_address_t address, ieb_format_t format, ieb_data_t *data,
                             ieb_user_data_t user, ieb_callback_t callback);
ieb_status_t ieb_device_write(ieb_device_t device, ieb_address_t address, ieb_format_t format, ieb_data_t data,
                              ieb_user_data_t user, ieb_callback_t callback);

/* What is attached to the bus. */
struct ieb_sdb_device {
  uint64_t first; /* byte addresses as this device is reached */
  uint64_t last;
  uint64_t vendor;
  uint32_t device;
  uint32_t version;
  uint32_t date;         /* digits as hexadecimal ones: 0x20260131 */
  uint32_t bus_specific; /* data widths in bits 3 to 0, 0x80 little-endian */
  char name[20];         /* ends with 0 */
};
/* *count: room in result, afterwards how many there are, which may be more. result may be NULL where it is 0. */
ieb_status_t ieb_sdb_find_by_identity(ieb_device_t device, uint64_t vendor, uint32_t product,
                                      struct ieb_sdb_device *result, int *count);
/* IEB_ADDRESS where the bus names no device. */
ieb_status_t ieb_sdb_find_by_address(ieb_device_t device, ieb_address_t address, struct ieb_sdb_device *result);

/* A slave: functions of the program behind addresses of a bus, on the network for any number of masters. It serves
 * while ieb_slave_run runs, on the thread that called it. One thread at a time for a slave and its handlers;
 * slaves and sockets are independent of each other.
 *
 *     static ieb_status_t get(ieb_user_data_t user, ieb_address_t address, ieb_width_t size, ieb_data_t *data) {
 *       *data = ((uint32_t *)user)[(address - 0x1000) / 4];
 *       return size == IEB_DATA32 ? IEB_OK : IEB_WIDTH;
 *     }
 *     struct ieb_handler handler = {.device = {.first = 0x1000, .last = 0x10ff, .name = "REGS"}, .read = get};
 *     handler.user = registers;
 *     if (ieb_slave_open(IEB_ABI_CODE, "127.0.0.1:60368", IEB_ADDR32 | IEB_DATA32, IEB_OHWR, &slave) != IEB_OK) ...
 *     ieb_slave_attach(slave, &handler);
 *     ieb_slave_run(slave, -1);
 */
typedef struct ieb_slave *ieb_slave_t;

/* Standard Etherbone, or the dialect of LiteEth and LiteX (UDP only, 32 bit, no self-description). */
#define IEB_OHWR 0
#define IEB_LITEETH 1

/* One operation on the bus. address: of its first byte, on the whole bus; size: one IEB_DATA...; data: in the low
 * bits, the byte at the first address most significant. Anything but IEB_OK is a bus error. */
typedef ieb_status_t (*ieb_read_t)(ieb_user_data_t user, ieb_address_t address, ieb_width_t size, ieb_data_t *data);
typedef ieb_status_t (*ieb_write_t)(ieb_user_data_t user, ieb_address_t address, ieb_width_t size, ieb_data_t data);

struct ieb_handler {
  struct ieb_sdb_device device; /* its addresses, and how it is described; bus_specific is not used */
  ieb_user_data_t user;
  ieb_read_t read;   /* NULL: a bus error */
  ieb_write_t write; /* the same */
};

/* address: IP:PORT, for UDP and TCP; port 0 picks one for each. widths: offered widths. The bus describes itself at
 * 0xffff0000 (0xf000 where only 16-bit addresses are offered). */
ieb_status_t ieb_slave_open(uint16_t abi_code, const char *address, ieb_width_t widths, int dialect,
                            ieb_slave_t *result);
ieb_status_t ieb_slave_close(ieb_slave_t slave);
/* What masters open: UDP, then TCP; NULL behind the last. Valid until the slave is closed. */
const char *ieb_slave_name(ieb_slave_t slave, int index);
/* The handler is copied; what user points to must live until it is detached or the slave is closed. IEB_ADDRESS
 * where something else is. */
ieb_status_t ieb_slave_attach(ieb_slave_t slave, const struct ieb_handler *handler);
/* first: the first address of the attached handler. */
ieb_status_t ieb_slave_detach(ieb_slave_t slave, ieb_address_t first);
/* Serves for this many microseconds (negative: forever), or until ieb_slave_stop. Everything but that and
 * ieb_slave_name is IEB_BUSY while it runs: from a handler, too. */
ieb_status_t ieb_slave_run(ieb_slave_t slave, int64_t timeout_us);
/* Ends ieb_slave_run, within 0.1 s; the next one, where none runs. From a handler, a signal handler, any thread. */
void ieb_slave_stop(ieb_slave_t slave);

#ifdef __cplusplus
}
#endif
#endif
