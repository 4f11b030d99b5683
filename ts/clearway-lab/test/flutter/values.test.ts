// SPDX-License-Identifier: MIT OR Apache-2.0
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { float64 } from "clearway/channel";
import { describe, expect, test } from "vitest";
import { compilePeer, dartRelease, findFlutter } from "../../src/flutter/install.mjs";
import { rowOf } from "../../src/flutter/rows.js";
import { NoSuchValueError, readValue, valueBytes } from "../../src/flutter/values.mjs";
import { publishedScenarios } from "../published-scenarios.js";

describe("the values of a frame", () => {
  test.each<[string, unknown, unknown]>([
    ["null", null, null],
    ["booleans", [true, false], [true, false]],
    ["whole numbers as int64", [7, -1, 2 ** 53 - 1], [7n, -1n, 2n ** 53n - 1n]],
    ["other numbers as float64", [0.5, -0, 2 ** 53, Number.NaN], [0.5, -0, 2 ** 53, Number.NaN]],
    ["a forced float64", float64(1), 1],
    ["integers of 64 bits", [-(2n ** 63n), 2n ** 63n - 1n], [-(2n ** 63n), 2n ** 63n - 1n]],
    ["texts, with a byte order mark", "\ufeffé☺😂", "\ufeffé☺😂"],
    ["bytes", Uint8Array.of(0, 255), Uint8Array.of(0, 255)],
    ["a part of a buffer", new Int32Array([1, 2, 3]).subarray(1), Int32Array.of(2, 3)],
    ["int64 lists", BigInt64Array.of(-1n), BigInt64Array.of(-1n)],
    ["float lists", [Float32Array.of(0.5), Float64Array.of(0.1)], [Float32Array.of(0.5), Float64Array.of(0.1)]],
    [
      "maps with any keys",
      new Map<unknown, unknown>([
        [1, "a"],
        [null, []],
      ]),
      new Map<unknown, unknown>([
        [1n, "a"],
        [null, []],
      ]),
    ],
    [
      "objects as maps",
      { a: 1, b: {} },
      new Map<string, unknown>([
        ["a", 1n],
        ["b", new Map()],
      ]),
    ],
  ])("carry %s", (_, value, read) => {
    const bytes = valueBytes(value);
    expect(readValue(bytes)).toEqual({ value: read, end: bytes.length });
  });

  test("refuse integers beyond 64 bits, and what is no value", () => {
    expect(() => valueBytes(2n ** 63n)).toThrow(NoSuchValueError);
    expect(() => valueBytes([undefined])).toThrow("the engine has no type for a undefined");
  });

  test("refuse bytes that are cut at any place, or have an unknown tag", () => {
    const bytes = valueBytes(["text", { a: [1, 2.5] }, Uint8Array.of(1)]);
    for (let size = 0; size < bytes.length; size++)
      expect(() => readValue(bytes.subarray(0, size))).toThrow(RangeError);
    expect(() => readValue(Buffer.from([13, 0, 0, 0, 0]))).toThrow("no such tag: tag=13");
  });
});

describe("the installed app", () => {
  const here = new URL("../..", import.meta.url).pathname;
  const linux = { platform: "linux" as const, arch: "x64" as const };

  test("is said to be missing, with the remedy", () => {
    expect(findFlutter("/no/such/package", { ...linux, env: {} }).problem).toMatch(
      /not installed: in a clone of Clearway's repository run scripts\/setup\.sh flutter/,
    );
    const env = { CLEARWAY_FLUTTER: "/no/app" };
    expect(findFlutter(here, { ...linux, env }).problem).toMatch(
      /CLEARWAY_FLUTTER names a folder without lib\/lib.*\/no\/app/,
    );
    expect(findFlutter(here, { platform: "darwin", arch: "arm64", env: {} }).problem).toMatch(
      "this is darwin on arm64",
    );
  });

  test("needs a C compiler, and says so", () => {
    expect(compilePeer(here, "/no/such/cc")).toEqual({ problem: expect.stringContaining("no C compiler") });
    expect(compilePeer(here, "false")).toEqual({
      problem: expect.stringContaining("could not compile native/flutter"),
    });
  });

  test("has the release of Dart that its engine names, or none", () => {
    const folder = mkdtempSync(join(tmpdir(), "clearway-engine-"));
    try {
      const release = (text: string) => {
        writeFileSync(join(folder, "engine.so"), text);
        return dartRelease(folder, "engine.so");
      };
      expect(release('\0x\x003.6.2 (stable) (Wed) on "linux_x64"')).toBe("3.6.2");
      expect(release("no release")).toBeUndefined();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe("the messages of channel-flutter", () => {
  const scenario = publishedScenarios().find(({ name }) => name === "channel-flutter")!;

  test("exist for every set of parameters of the scenario", () => {
    for (const { params } of scenario.sets)
      expect(rowOf(params).method === undefined).toBe(params["channel"] === "message");
  });

  test("are refused with the existing ones when there is no such message", () => {
    const params = { channel: "method", codec: "json", payload: "null" };
    expect(() => rowOf(params)).toThrow(
      /no such message: channel=method codec=json payload=null \(message, string, small;/,
    );
    expect(() => rowOf({ channel: "method" })).toThrow("the parameter must be text: codec=undefined");
  });
});
