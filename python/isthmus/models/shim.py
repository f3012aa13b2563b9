# SPDX-License-Identifier: Apache-2.0
"""Writes the C++ file that puts the model's C ABI (version 3) over Verilator's class."""

from __future__ import annotations

import json
from collections.abc import Sequence

from isthmus.models.bundles import Bundle
from isthmus.models.ports import Elaborated

ABI = 3

_TEMPLATE = """\
// Generated: C ABI version @ABI@ of the model @TOP@.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include "verilated.h"
#include "V@TOP@.h"
#include "V@TOP@___024root.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
#endif

#define ISTHMUS_EXPORT extern "C" __attribute__((visibility("default")))

struct isthmus_port_t { const char *name; uint32_t width; uint32_t dir; };
struct isthmus_desc_t {
  uint32_t abi;
  const char *top;
  const char *source_hash;
  const char *info_json;
  uint32_t num_ports;
  const isthmus_port_t *ports;
};

// What Verilator's eval() calls behind bookkeeping that a model of one thread has no use for.
void V@TOP@___024root___eval(V@TOP@___024root *);

namespace {
const isthmus_port_t kPorts[] = {
@PORTS@
};
const isthmus_desc_t kDesc = {@ABI@, @TOP_STRING@, @HASH_STRING@, @INFO_STRING@, @NUM_PORTS@, kPorts};

// What Verilator's runtime calls when a model cannot go on. Its own would end the whole process.
[[noreturn]] void give_up(const char *file, int line, const char *message) {
  // Without its folder, which is that of the checkout that built the model.
  const std::string path = file ? file : "";
  const std::string name = path.substr(path.rfind('/') + 1);
  throw std::runtime_error((name.empty() ? "" : name + ":" + std::to_string(line) + ": ") + message);
}

// The context outlives the top, and the top outlives its trace: members are destroyed bottom up.
struct Model {
  VerilatedContext context;
  std::unique_ptr<V@TOP@> top;
#if VM_TRACE_FST
  std::unique_ptr<VerilatedFstC> trace;
#endif
  std::string error;
  bool initial = true;
};

// `inputs`: not only clocks have changed since the last evaluation.
int32_t evaluate(Model &model, uint64_t time_ps, bool inputs) {
  if (!model.error.empty()) return 1;
  try {
    model.context.time(time_ps);
#if @GATED@
    model.top->rootp->__VicoFirstIteration = inputs;
#endif
#if VM_TRACE_FST
    // Only this marks what has changed for the waveform.
    model.top->eval();
    if (model.trace) model.trace->dump(time_ps);
#else
    if (model.initial) {
      model.top->eval();
      model.initial = false;
    } else {
      V@TOP@___024root___eval(model.top->rootp);
    }
#endif
  } catch (const std::exception &fault) {
    model.error = fault.what();
    return 1;
  }
  return 0;
}
}  // namespace

void vl_fatal(const char *file, int line, const char *, const char *message) { give_up(file, line, message); }
void vl_stop(const char *file, int line, const char *) { give_up(file, line, "$stop or a failed assertion"); }

ISTHMUS_EXPORT const isthmus_desc_t *isthmus_describe(void) { return &kDesc; }

ISTHMUS_EXPORT void *isthmus_create(const char *trace_path) {
  try {
    auto model = std::make_unique<Model>();
#if VM_TRACE_FST
    if (trace_path) {
      // Verilator's writer does not say that it could not open its file.
      std::FILE *writable = std::fopen(trace_path, "wb");
      if (!writable) return nullptr;
      std::fclose(writable);
      model->context.traceEverOn(true);
    }
#else
    if (trace_path) return nullptr;  // this variant has no trace
#endif
    model->top = std::make_unique<V@TOP@>(&model->context, "top");
#if VM_TRACE_FST
    if (trace_path) {
      model->trace = std::make_unique<VerilatedFstC>();
      model->top->trace(model->trace.get(), 99);
      model->trace->open(trace_path);
    }
#endif
    return model.release();
  } catch (...) {
    return nullptr;
  }
}

ISTHMUS_EXPORT void *isthmus_port(void *handle, uint32_t index) {
  auto &top = *static_cast<Model *>(handle)->top;
  switch (index) {
@STORAGE@
    default: return nullptr;
  }
}

ISTHMUS_EXPORT int32_t isthmus_eval(void *handle, uint64_t time_ps) {
  return evaluate(*static_cast<Model *>(handle), time_ps, true);
}

ISTHMUS_EXPORT int32_t isthmus_edge(void *handle, uint64_t time_ps) {
  return evaluate(*static_cast<Model *>(handle), time_ps, false);
}

ISTHMUS_EXPORT const char *isthmus_error(void *handle) {
  return static_cast<Model *>(handle)->error.c_str();
}

ISTHMUS_EXPORT void isthmus_destroy(void *handle) {
  std::unique_ptr<Model> model(static_cast<Model *>(handle));
  if (!model) return;
  try {
    if (model->error.empty()) model->top->final();
#if VM_TRACE_FST
    if (model->trace) model->trace->close();
#endif
  } catch (const std::exception &) {
    // No caller is left to report it to.
  }
}
"""


def info_json(device: Elaborated, bundles: Sequence[Bundle], trace: str) -> str:
    """The `info_json` of the descriptor."""
    return json.dumps(
        {
            "parameters": dict(device.parameters),
            "bundles": [{"kind": b.kind, "name": b.name, "ports": b.ports} for b in bundles],
            "probes": list(device.probes),
            "trace": trace,
        },
        separators=(",", ":"),
    )


def generate(
    device: Elaborated, bundles: Sequence[Bundle], trace: str, source_hash: str, gated: bool = False
) -> str:
    """The shim's source text; `gated`: as `inputs.gate` found."""
    ports = "\n".join(f"  {{{_c_string(p.name)}, {p.width}, {int(p.is_output)}}}," for p in device.ports)
    storage = "\n".join(
        f"    case {i}: return &top.{p.name}{'' if p.width <= 64 else '[0]'};"
        for i, p in enumerate(device.ports)
    )
    values = {
        "ABI": str(ABI),
        "TOP": device.top,
        "TOP_STRING": _c_string(device.top),
        "HASH_STRING": _c_string(source_hash),
        "INFO_STRING": _c_string(info_json(device, bundles, trace)),
        "GATED": str(int(gated)),
        "NUM_PORTS": str(len(device.ports)),
        "PORTS": ports,
        "STORAGE": storage,
    }
    text = _TEMPLATE
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


def _c_string(text: str) -> str:
    """A C string literal; JSON's escapes of ASCII text are C's."""
    return json.dumps(text)
