// SPDX-License-Identifier: MIT OR Apache-2.0
// The reference in C, and the mechanisms without Clearway: koffi and a hand-written addon.

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { loadAddon, loadPlain } from "../native/peers.js";
import { type Mechanism, numberParam, textParam } from "../protocol/measured.js";
import type { Value } from "../protocol/message.js";
import { allBytesAre, countFaults, type Filler, fillMechanism, fillsPerBatch, measuredFills } from "./measure.js";

/** Runs completely in C: the loop, the clock and the memory. */
const reference: Mechanism = async ({ params }) => {
  const { ffi, library } = await loadPlain();
  const run = library.func("lab_reference", "int", [
    "size_t",
    "int",
    "size_t",
    ffi.out(ffi.pointer("double")),
    "size_t",
  ]);
  const ns = new Float64Array(numberParam(params, "repetitions"));
  const bytes = numberParam(params, "bytes");
  const fresh = textParam(params, "memory") === "fresh";
  const batch = fillsPerBatch(bytes, fresh);
  const faults = countFaults();
  const filled = run(bytes, fresh ? 1 : 0, batch, ns, ns.length) === 1;
  const measured = measuredFills(ns, filled, batch, faults() / (ns.length * batch));
  return { ...measured, values: { ...measured.values, ...cacheSizes() } };
};

/**
 * Runs completely in C, with memory from `malloc` for each fill. `fixed` keeps glibc from raising the size from which it maps memory: by
 * default, freeing a block of up to 32 MB raises that size to the block's, and later blocks come from memory that is already mapped.
 */
function allocated(fixed: boolean): Mechanism {
  return async ({ params }) => {
    const { ffi, library } = await loadPlain();
    const run = library.func("lab_malloc", "int", ["size_t", "int", ffi.out(ffi.pointer("double")), "size_t"]);
    const ns = new Float64Array(numberParam(params, "repetitions"));
    const faults = countFaults();
    const filled = run(numberParam(params, "bytes"), fixed ? 1 : 0, ns, ns.length) === 1;
    return measuredFills(ns, filled, 1, faults() / ns.length);
  };
}

/** Makes a filler for `bytes` bytes of JavaScript's own memory. Each call of `fill` gets this memory. */
function arrayFiller(bytes: number, fill: (memory: Uint8Array, value: number) => void): Filler {
  let memory = new Uint8Array(bytes);
  return {
    renew: () => {
      memory = new Uint8Array(bytes);
    },
    fill: (value) => fill(memory, value),
    holds: (value) => allBytesAre(memory, value),
    close: () => {},
  };
}

const nodeApi = fillMechanism((bytes) => {
  const addon = loadAddon();
  return arrayFiller(bytes, (memory, value) => addon.fill(memory, value));
});

const koffiShared = fillMechanism(async (bytes) => {
  const { ffi, library } = await loadPlain();
  const fill = library.func("lab_fill", "void", [ffi.pointer("uint8_t"), "size_t", "int"]);
  return arrayFiller(bytes, (memory, value) => fill(memory, bytes, value));
});

/** JavaScript never reads the buffer. Calls into C request, fill and check it. */
const koffiHeld = fillMechanism(async (bytes) => {
  const { library } = await loadPlain();
  const hold = library.func("lab_hold", "void *", ["size_t"]);
  const release = library.func("lab_release", "void", ["void *", "size_t"]);
  const fill = library.func("lab_fill", "void", ["void *", "size_t", "int"]);
  const holds = library.func("lab_holds", "int", ["void *", "size_t", "int"]);
  let memory: unknown = hold(bytes);
  return {
    release: () => release(memory, bytes),
    renew: () => {
      memory = hold(bytes);
    },
    fill: (value) => fill(memory, bytes, value),
    holds: (value) => holds(memory, bytes, value) === 1,
    close: () => release(memory, bytes),
  };
});

/**
 * Writes the list to C's memory, fills it there, and reads it back as another list. koffi converts each element of the plain array (the
 * naive way). `koffi.inout` would be shorter, but gives wrong elements from 2 MB on (koffi 3.3.4).
 */
const koffiElements = fillMechanism(async (bytes) => {
  const { ffi, library } = await loadPlain();
  const hold = library.func("lab_hold", "void *", ["size_t"]);
  const release = library.func("lab_release", "void", ["void *", "size_t"]);
  const fill = library.func("lab_fill", "void", ["void *", "size_t", "int"]);
  const type = ffi.array("uint8_t", bytes, "Array");
  let memory: unknown = hold(bytes);
  let list: ArrayLike<number> = new Array<number>(bytes).fill(1);
  return {
    release: () => release(memory, bytes),
    renew: () => {
      memory = hold(bytes);
    },
    fill: (value) => {
      ffi.encode(memory, type, list);
      fill(memory, bytes, value);
      list = ffi.decode(memory, type) as ArrayLike<number>;
    },
    holds: (value) => list.length === bytes && allBytesAre(list, value),
    close: () => release(memory, bytes),
  };
});

/** Converts by plain loops, as the authors did: JavaScript's list to the memory that C fills, and back, one element at a time. */
const loop = fillMechanism(async (bytes) => {
  const { ffi, library } = await loadPlain();
  const fill = library.func("lab_fill", "void", [ffi.pointer("uint8_t"), "size_t", "int"]);
  let memory = new Uint8Array(bytes);
  const list = new Uint8Array(bytes).fill(1);
  return {
    renew: () => {
      memory = new Uint8Array(bytes);
    },
    fill: (value) => {
      for (let at = 0; at < bytes; at++) memory[at] = list[at]!;
      fill(memory, bytes, value);
      for (let at = 0; at < bytes; at++) list[at] = memory[at]!;
    },
    holds: (value) => allBytesAre(list, value),
    close: () => {},
  };
});

export const memoryReference: Record<string, Mechanism> = {
  c: reference,
  "c-malloc": allocated(false),
  "c-malloc-mapped": allocated(true),
};
export const memoryAddon: Record<string, Mechanism> = { "node-api": nodeApi };
export const memoryKoffi: Record<string, Mechanism> = {
  loop,
  "koffi-elements": koffiElements,
  "koffi-shared": koffiShared,
  "koffi-held": koffiHeld,
};

// The sizes of the processor's caches, as Linux reports them. A fill becomes slower where the buffer no longer fits one.

const UNITS: Record<string, number> = { "": 1, K: 1 << 10, M: 1 << 20, G: 1 << 30 };

/** Returns the sizes of the caches for data, by names such as `l2Cache`. Returns none where the kernel does not report them. */
export function cacheSizes(folder = "/sys/devices/system/cpu/cpu0/cache"): Record<string, Value> {
  const sizes: Record<string, Value> = {};
  for (const index of indexesIn(folder)) {
    const read = (name: string) => readFileSync(path.join(folder, index, name), "utf8").trim();
    try {
      const [, digits, unit = ""] = /^(\d+)([KMG]?)$/.exec(read("size")) ?? [];
      if (digits === undefined || read("type") === "Instruction") continue;
      sizes[`l${read("level")}Cache`] = { unit: "bytes", value: Number(digits) * (UNITS[unit] ?? 1) };
    } catch {
      // A virtual machine may hide a file of a cache. The other caches are still known.
    }
  }
  return sizes;
}

function indexesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^index\d+$/.test(name));
  } catch {
    return [];
  }
}
