// SPDX-License-Identifier: MIT OR Apache-2.0
// The tasks of the parts `pools` and `processes`: well-behaved ones, and those that throw, hang, and end their worker.
import { execSync } from "node:child_process";
import { expose, task } from "clearway/worker";
import { replaceGlobals } from "../faults.mjs";

// As they were before `replaces` ran.
const { setTimeout } = globalThis;

const never = () => new Promise(() => {});
const kept = [];

export default expose({
  add: (a, b) => a + b,
  bytes: (length) => new Uint8Array(length).fill(7),
  pid: () => process.pid,
  lengthOf: (bytes) => bytes.byteLength,
  same: (value) => value,
  *numbers(count) {
    for (let at = 0; at < count; at++) yield at;
  },
  async *chunks(count, bytes) {
    for (let at = 0; at < count; at++) yield new Uint8Array(bytes).fill(at);
  },
  async sum(values) {
    let sum = 0;
    for await (const value of values) sum += value;
    return sum;
  },
  async tell(count, callback) {
    for (let at = 0; at < count; at++) await callback(at);
    return count;
  },
  reports: task(async ({ progress }, count) => {
    for (let at = 0; at < count; at++) progress(at);
    return count;
  }),
  hold: task(async ({ signal }) => {
    signal.throwIfAborted();
    await new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    });
  }),
  throws: () => {
    throw new RangeError("on purpose");
  },
  // The following misbehave.
  native: () => {
    execSync("sleep 0.5");
  },
  replaces: replaceGlobals,
  deaf: () => never(),
  spin: () => {
    for (;;);
  },
  exit: () => {
    process.exit(3);
  },
  crash: () => {
    // Later than the loading of the library's modules: Node 20 leaves a file open when a worker ends while it loads one (docs/guide.md).
    setTimeout(() => {
      throw new Error("an uncaught error, on purpose");
    }, 50);
    return never();
  },
  memory: () => {
    for (;;) kept.push(new Array(100_000).fill(0.5));
  },
});
