// SPDX-License-Identifier: Apache-2.0
// A driver without a GPU: the functions of libcuda.so that the launcher calls, and the kernels as threads of the
// host, a thread a warp. The launcher, the lines and the kernels' source are the real ones.
#include "lanes.h"
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

// Reads of a line that is half copied: a copy waits for one, whatever the machine's threads do.
static std::atomic<const volatile unsigned *> halfway{nullptr};
static std::atomic<unsigned> read_halfway{0};
static inline U watched_peek(const volatile unsigned *line) {
  const bool half = halfway == line;
  const U read = peek(line);
  if (half) read_halfway++;
  return read;
}
#define peek watched_peek
#include "rings.cu"
#undef peek
#include "events.cu"

static std::vector<std::thread> threads;
static std::atomic<int> running{0};
// Streams: of kernels, and of copies beside them. What is captured runs when its graph is launched.
static int kernels, copies, streams;
static bool capturing;
using Work = std::vector<std::function<void()>>;
static Work captured;
static void now_or_later(std::function<void()> work) { capturing ? captured.push_back(work) : work(); }
static const char *const NAMES[] = {"rings_serve", "rings_batch", "taubin_batch", "events_steps", "events_order", "events_write"};

extern "C" {
int cuInit(unsigned) { return std::getenv("FAKE_CUDA_ERROR") ? 100 : 0; }
int cuDeviceGetCount(int *count) { return *count = std::getenv("FAKE_CUDA_EMPTY") ? 0 : 1, 0; }
int cuDeviceGet(int *device, int) { return *device = 0, 0; }
int cuDeviceGetName(char *name, int length, int) { return std::strncpy(name, "threads of the host", length), 0; }
int cuDevicePrimaryCtxRetain(void **context, int) { return *context = &running, 0; }
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
int cuCtxSetCurrent(void *) { return 0; }
int cuMemHostAlloc(void **made, size_t bytes, unsigned) { return *made = std::aligned_alloc(128, (bytes + 127) / 128 * 128), 0; }
int cuMemHostGetDevicePointer_v2(U64 *made, void *host, unsigned) { return *made = (U64)host, 0; }
int cuMemFreeHost(void *memory) { return std::free(memory), 0; }
int cuMemAlloc_v2(U64 *made, size_t bytes) { return *made = (U64)std::malloc(bytes), 0; }
int cuMemFree_v2(U64 memory) { return std::free((void *)memory), 0; }
int cuMemcpyHtoD_v2(U64 to, const void *from, size_t bytes) { return std::memcpy((void *)to, from, bytes), 0; }
int cuMemcpyDtoH_v2(void *to, U64 from, size_t bytes) { return std::memcpy(to, (void *)from, bytes), 0; }
// Last word first: the number and the check of a line are there before its event. The first copy to a kernel that
// serves stops there, until the kernel has read the line so (or ten seconds are over: then the test fails).
int cuMemcpyHtoDAsync_v2(U64 to, const void *from, size_t bytes, void *) {
  now_or_later([=] {
    auto out = (volatile unsigned *)to;
    for (size_t at = bytes / 4; at-- > 0;) {
      out[at] = ((const volatile unsigned *)from)[at];
      if (at != SEQUENCE || running == 0 || read_halfway > 0) continue;
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
      halfway = out;
      while (read_halfway == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      halfway = nullptr;
    }
  });
  return 0;
}
int cuMemcpyDtoHAsync_v2(void *to, U64 from, size_t bytes, void *) {
  return now_or_later([=] { std::memcpy(to, (void *)from, bytes); }), 0;
}
int cuDeviceGetAttribute(int *value, int which, int) {
  return *value = which == 101 && std::getenv("FAKE_CUDA_COHERENT") ? 1 : 0, 0;
}
int cuMemAllocManaged(U64 *made, size_t bytes, unsigned) { return *made = (U64)std::malloc(bytes), 0; }
int cuMemAdvise(U64, size_t, int, int) { return 0; }
int cuMemPrefetchAsync(U64, size_t, int, void *) { return std::getenv("FAKE_CUDA_FULL") ? 2 : 0; }
int cuStreamBeginCapture_v2(void *, int) { return captured.clear(), capturing = true, 0; }
int cuStreamEndCapture(void *, void **made) { return capturing = false, *made = new Work(captured), 0; }
int cuGraphInstantiateWithFlags(void **made, void *graph, unsigned long long) {
  return *made = new Work(*(Work *)graph), 0;
}
int cuGraphLaunch(void *exec, void *) {
  for (auto &work : *(Work *)exec) work();
  return 0;
}
int cuGraphDestroy(void *graph) { return delete (Work *)graph, 0; }
int cuGraphExecDestroy(void *exec) { return delete (Work *)exec, 0; }
int cuModuleLoadData(void **made, const void *image) {
  *made = &threads;
  return std::memcmp(image, "fake", 4) == 0 ? 0 : 200;
}
int cuModuleUnload(void *) { return 0; }
int cuModuleGetFunction(void **made, void *, const char *name) {
  for (auto &known : NAMES)
    if (std::strcmp(name, known) == 0) return *made = (void *)&known, 0;
  return 500;
}
int cuStreamCreate(void **made, unsigned) { return *made = streams++ % 2 ? &copies : &kernels, 0; }
int cuStreamDestroy_v2(void *) { return 0; }
int cuStreamQuery(void *) { return running ? 600 : 0; }
int cuStreamSynchronize(void *stream) {
  if (stream == &copies) return 0;
  for (auto &one : threads) one.join();
  threads.clear();
  return 0;
}
int cuLaunchKernel(void *function, unsigned blocks, unsigned, unsigned, unsigned lanes, unsigned, unsigned, unsigned,
                   void *, void **given, void **) {
  auto word = [&](int at) { return *(unsigned *)given[at]; };
  auto at = [&](int at) { return *(unsigned **)given[at]; };
  const unsigned warps = blocks * lanes / LANES;
  if (*(const char **)function == NAMES[1]) {
    auto tables = at(0), results = at(2);
    auto records = *(unsigned short **)given[1];
    const unsigned events = word(3);
    now_or_later([=] { host_rings_batch(tables, records, results, events); });
    return 0;
  }
  auto longer = [&](int at) { return *(U64 *)given[at]; };
  auto doubles = [&](int at) { return *(double **)given[at]; };
  if (*(const char **)function == NAMES[3]) {
    if (blocks * lanes < word(5)) return 1;
    return host_events_steps(at(0), longer(1), longer(2), doubles(3), at(4), word(5)), 0;
  }
  if (*(const char **)function == NAMES[4])
    return host_events_order(at(0), doubles(1), at(2), at(3), at(4), word(5), word(6)), 0;
  if (*(const char **)function == NAMES[5]) {
    if (blocks * lanes < word(8)) return 1;
    auto records = *(unsigned short **)given[5];
    host_events_write(at(0), longer(1), longer(2), doubles(3), at(4), records, at(6), longer(7), word(8));
    if (std::getenv("FAKE_CUDA_FLIP")) records[35 * 7 + 3] ^= 1;
    return 0;
  }
  if (*(const char **)function != NAMES[0]) return 98;
  running = (int)warps;
  auto words = at(0), control = at(1), events = at(2), results = at(3), report = at(4);
  const unsigned lines = word(5);
  const U64 watchdog = *(U64 *)given[6];
  for (unsigned warp = 0; warp < warps; warp++)
    threads.emplace_back([=] {
      host_rings_serve(words, control, events, results, report, lines, watchdog, warp, warps);
      running--;
    });
  return 0;
}
int cuGetErrorName(int error, const char **name) {
  *name = error == 100 ? "CUDA_ERROR_NO_DEVICE" : error == 200 ? "CUDA_ERROR_INVALID_IMAGE" : nullptr;
  return 0;
}
}
