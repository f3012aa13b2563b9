// SPDX-License-Identifier: Apache-2.0
// A model by hand: two counters, a probe, a trigger. Macros break it in ways the loader must refuse.
#include <cstdint>
#include <cstdio>
#include <cstring>

#ifndef ABI
#define ABI 3
#endif
#ifndef SUM_WIDTH
#define SUM_WIDTH 64
#endif
#ifndef SUM_DIR
#define SUM_DIR 1
#endif
#ifndef INFO
#ifdef TRACE
#define INFO "{\"probes\":[\"Fifth\",\"Tenth\"],\"trace\":\"fst\",\"unknown\":1}"
#else
#define INFO "{\"probes\":[\"Fifth\",\"Tenth\"],\"trace\":\"none\",\"unknown\":1}"
#endif
#endif

struct port_t {
  const char *name;
  uint32_t width;
  uint32_t dir;
};

struct desc_t {
  uint32_t abi;
  const char *top;
  const char *source_hash;
  const char *info_json;
  uint32_t num_ports;
  const port_t *ports;
};

static const port_t ports[] = {
    {"clk_i", 1, 0},          {"slow_clk_i", 1, 0},     {"rst_ni", 1, 0},
    {"time_ns_i", 64, 0},     {"cfg_step_i", 3, 0},     {"trigger_i", 1, 0},
    {"probe_o", 2, 1},        {"probe_tag_o", 16, 1},   {"status_cycles_o", 32, 1},
    {"status_sum_o", SUM_WIDTH, SUM_DIR},               {"status_slow_o", 16, 1},
    {"status_time_ns_o", 64, 1},                        {"idle_o", 1, 1},
};

#ifndef NUM_PORTS
#define NUM_PORTS (sizeof(ports) / sizeof(ports[0]))
#endif

struct model_t {
  uint8_t clk, slow_clk, rst_n, step, trigger, probe, idle;
  uint16_t probe_tag, slow;
  uint32_t cycles;
  uint64_t time, sum, shown;
  uint8_t last_clk, last_slow, last_trigger;
  uint32_t awake;
  uint64_t evaluated;
  char trace[1024];
};

extern "C" {

const desc_t *isthmus_describe() {
#ifdef NULL_DESCRIPTION
  return nullptr;
#endif
  static const desc_t desc = {
      ABI,
#ifdef NULL_TOP
      nullptr,
#else
      "counter",
#endif
      "0123", INFO, NUM_PORTS,
#ifdef NULL_PORTS
      nullptr
#else
      ports
#endif
  };
  return &desc;
}

void *isthmus_create(const char *trace) {
#ifdef NULL_MODEL
  return nullptr;
#endif
  model_t *m = new model_t();
  if (trace) strncpy(m->trace, trace, sizeof(m->trace) - 1);
  return m;
}

void *isthmus_port(void *model, uint32_t index) {
#ifdef NULL_STORAGE
  return nullptr;
#endif
  model_t *m = static_cast<model_t *>(model);
  void *const storage[] = {&m->clk,     &m->slow_clk, &m->rst_n,     &m->time,   &m->step,
                           &m->trigger, &m->probe,    &m->probe_tag, &m->cycles, &m->sum,
                           &m->slow,    &m->shown,    &m->idle};
  return storage[index];
}

const char *isthmus_error(void *) { return "counter.sv:7: did not converge"; }

int32_t isthmus_eval(void *model, uint64_t) {
  model_t *m = static_cast<model_t *>(model);
  m->evaluated++;
#ifdef FAILS_AT
  if (m->evaluated >= FAILS_AT) return 1;
#endif
  const bool rises = m->clk && !m->last_clk;
  const bool slow_rises = m->slow_clk && !m->last_slow;
  m->last_clk = m->clk;
  m->last_slow = m->slow_clk;
  if (!m->rst_n) {
    m->cycles = 0;
    m->sum = 0;
    m->slow = 0;
    m->awake = 0;
    m->probe = 0;
  } else {
    const bool counting =
#ifdef IDLE_AFTER
        m->awake < IDLE_AFTER;
#else
        true;
#endif
    if (slow_rises && counting) m->slow++;
    if (rises) {
      if (m->trigger && !m->last_trigger) m->awake = 0;
      m->last_trigger = m->trigger;
      m->probe = 0;
      if (counting) {
        m->awake++;
        m->cycles++;
        m->sum += m->step;
        m->shown = m->time;
        m->probe = (m->cycles % 5 == 0) | (m->cycles % 10 == 0) << 1;
        m->probe_tag = (m->cycles & 0xff) * 0x0101;
      }
    }
  }
#ifdef IDLE_AFTER
  m->idle = m->rst_n && m->awake >= IDLE_AFTER && m->trigger == m->last_trigger && !m->probe;
#endif
  return 0;
}

int32_t isthmus_edge(void *model, uint64_t time) { return isthmus_eval(model, time); }

void isthmus_destroy(void *model) {
  model_t *m = static_cast<model_t *>(model);
  if (m->trace[0]) {
    if (FILE *file = fopen(m->trace, "w")) {
      fprintf(file, "evaluated %llu times\n", static_cast<unsigned long long>(m->evaluated));
      fclose(file);
    }
  }
  delete m;
}
}
