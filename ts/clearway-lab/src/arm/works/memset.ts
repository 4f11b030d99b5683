// SPDX-License-Identifier: MIT OR Apache-2.0
// Native code fills memory that was filled before: JavaScript's own through a plugin, and C's own in C alone.
import { allBytesAre } from "../../memory/measure.js";
import { loadPlain } from "../../native/peers.js";
import { openPlugin } from "../../native/plugin.js";
import { type OpenArm, timedSync, type Work } from "../work.js";

const SIZES = { "64 KB": 1 << 16, "8 MB": 1 << 23 };
/** Bytes that a run fills. A fill of 64 KB takes a few microseconds. */
const RUN_BYTES = 1 << 20;

const works = (work: (bytes: number, calls: number) => Work): Record<string, Work> =>
  Object.fromEntries(Object.entries(SIZES).map(([name, bytes]) => [name, work(bytes, Math.max(1, RUN_BYTES / bytes))]));

export const clearway: OpenArm = async () => {
  const plugin = await openPlugin();
  const channel = plugin.channel("memset/shared");
  return {
    works: works((bytes, calls) => {
      const memory = plugin.lend(new Uint8Array(bytes));
      const value = new Uint8Array([1]);
      const fill = () => channel.call(value, [memory]);
      fill();
      if (!allBytesAre(memory.bytes, 1)) throw new Error(`the plugin did not fill the memory: bytes=${bytes}`);
      return timedSync(fill, calls);
    }),
    close: () => plugin.close(),
  };
};

/** The loop and the clock are in C, too. */
export const c: OpenArm = async () => {
  const { library } = await loadPlain();
  const allocate = library.func("lab_hold", "void *", ["size_t"]);
  const fill = library.func("lab_timed_fill", "double", ["void *", "size_t", "int", "size_t"]);
  const holds = library.func("lab_holds", "int", ["void *", "size_t", "int"]);
  return {
    works: works((bytes, calls) => {
      const memory = allocate(bytes) as unknown;
      if (memory === null) throw new Error(`no memory: bytes=${bytes}`);
      fill(memory, bytes, 1, 1);
      if (holds(memory, bytes, 1) !== 1) throw new Error(`the memory was not filled: bytes=${bytes}`);
      return { calls, run: (costsNs) => void costsNs.push(fill(memory, bytes, 1, calls) as number) };
    }),
    close: () => {},
  };
};
