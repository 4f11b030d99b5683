// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { globalProblems } from "../../scripts/check/globals.mjs";

const problems = (text: string, path = "ts/clearway/src/pool/pool.ts"): string[] => globalProblems([{ path, text }]);

describe("the check of globals", () => {
  test.each([
    ["a timer", "setTimeout(() => {}, 1);", "setTimeout"],
    ["a timer of globalThis", "globalThis.setTimeout(() => {}, 1);", "setTimeout"],
    ["a global that is passed along", "const timers = { setImmediate };", "setImmediate"],
    ["a new promise", "new Promise(() => {});", "Promise"],
    ["a method of Promise", "Promise.all([]);", "Promise"],
    ["a clock", "performance.now();", "performance"],
    ["the machine's clock", "Date.now();", "Date.now"],
    ["a clock of the process", "process.hrtime();", "process.hrtime"],
    ["a new channel", "new MessageChannel();", "MessageChannel"],
  ])("refuses %s", (_name, text, name) => {
    expect(problems(text)).toEqual([expect.stringContaining(`pool.ts:1: uses the global ${name};`)]);
  });

  test.each([
    ["a type", "let timer: ReturnType<typeof setTimeout>; let value: Promise<void>;"],
    ["an import of the same name", 'import { setTimeout } from "../globals.js"; setTimeout(() => {}, 1);'],
    ["a property of the same name", "loop.setTimeout(1); const loop = { setTimeout: 1 };"],
  ])("allows %s", (_name, text) => {
    expect(problems(text)).toEqual([]);
  });

  test("refuses timers and clocks in remote pools, whose client uses the other globals itself", () => {
    const path = "ts/clearway-nats/src/serve.ts";
    expect(problems("setTimeout(() => {}, 1);", path)).toEqual([expect.stringContaining("from clock.js")]);
    expect(problems("new Promise(() => {});", path)).toEqual([]);
  });

  test("allows everything in the file that captures the globals, and outside the library", () => {
    expect(problems("setTimeout(() => {});", "ts/clearway/src/globals.ts")).toEqual([]);
    expect(problems("setTimeout(() => {});", "ts/clearway-lab/src/run/run.ts")).toEqual([]);
  });
});
