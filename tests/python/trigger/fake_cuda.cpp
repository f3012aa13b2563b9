// SPDX-License-Identifier: Apache-2.0
// A driver without a GPU: the functions of libcuda.so that the launcher calls, and the kernels as threads of the
// host, a thread a warp. The launcher, the lines and the kernels' source are the real ones.
#include "rings.cu"
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

static std::vector<std::thread> threads;
static std::atomic<int> running{0};
static const char *const NAMES[] = {"rings_serve", "rings_batch", "taubin_batch"};

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
int cuStreamCreate(void **made, unsigned) { return *made = &running, 0; }
int cuStreamDestroy_v2(void *) { return 0; }
int cuStreamQuery(void *) { return running ? 600 : 0; }
int cuStreamSynchronize(void *) {
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
    host_rings_batch(at(0), *(unsigned short **)given[1], at(2), word(3));
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
