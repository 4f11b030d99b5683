// SPDX-License-Identifier: MIT OR Apache-2.0
// Loads the same plugin files in Node, on the JVM, in Swift and in C at the same time. README.md describes the steps.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { standardMessageCodec } from "clearway/channel";
import { expect, test } from "vitest";
import { libclearway, plugins } from "../../scripts/native.mjs";
import { program } from "../../scripts/swift.mjs";
import { root } from "../packaging/clean-folder.js";
import { java } from "./java.js";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const addon = join(root, "ts/clearway-native/dist/clearway.node");
const conformance = program("ClearwayConformance");
const steps = join(root, "native/plugins/check/build/plugin-steps");
const jvm = java();

/** The command of each host that this machine has. */
const hosts: Record<string, string[]> = {
  ...(existsSync(addon) ? { node: [process.execPath, here("node.mjs")] } : {}),
  ...(jvm ? { jvm: [...jvm, here("Steps.java")] } : {}),
  ...(conformance && existsSync(libclearway) ? { swift: [...conformance, "plugin"] } : {}),
  ...(existsSync(steps) ? { c: [steps] } : {}),
};

/** Runs a host's program with these steps. Resolves with its answers. */
function answersOf(command: string[], lines: string[]): Promise<string[]> {
  const [program, ...args] = command;
  const env = { ...process.env, CLEARWAY_LIBRARY: libclearway };
  const child = spawn(program as string, args, { stdio: ["pipe", "pipe", "inherit"], env });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  // A program that ends early says why by its answers and its status.
  child.stdin.on("error", () => {});
  child.stdin.end(lines.map((line) => `${line}\n`).join(""));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status) => {
      const answers = output.split("\n").slice(0, -1);
      resolve(status === 0 ? answers : [...answers, `exit status ${status}`]);
    });
  });
}

const hex = (bytes: Uint8Array): string => `x${Buffer.from(bytes).toString("hex")}`;
const value = (given: unknown): string => hex(standardMessageCodec.encode(given as never));
const int32s = (...numbers: number[]): string => hex(new Uint8Array(new Int32Array(numbers).buffer));
const int64s = (...numbers: bigint[]): string => hex(new Uint8Array(new BigInt64Array(numbers).buffer));
const repeated = (byte: string, count: number): string => `x${byte.repeat(count)}`;

/** The hash of the numbers 0 to `count` - 1 as 64-bit integers. */
function hashOfNumbers(count: number): string {
  let hash = 0x811c9dc5;
  const bytes = Buffer.alloc(8);
  for (let number = 0; number < count; number++) {
    bytes.writeBigUInt64LE(BigInt(number));
    for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return (hash >>> 0).toString(16);
}

const [many, map] = [hex(new Uint8Array([12, 254, 184, 11, ...new Array(3000).fill(0)])), value({ a: [1, 2.5, "é"] })];
const frames = value({ width: 64, height: 48, rate: 0 });

/** Each step and its answer. Without an answer, the hosts must agree. */
const example: [step: string, answer?: string][] = [
  ...["call echo", "send echo", "send echo/pool", "send echo/serial", "send echo/back", "send echo/standard"].flatMap(
    (to): [string, string][] => [
      [`${to} ${map}`, map],
      [`${to} null`, "null"],
    ],
  ),
  ["call echo x", "x"],
  ["send echo/pool x", "x"],
  ["send echo/standard/pool x0f", "error invalid-argument"],
  [`send echo/standard/serial ${many}`, many],
  ["call echo/method x07016d00", "x0000"],
  ["call echo/method x0f", "error invalid-argument"],
  [`call echo/json ${hex(Buffer.from('{"method":"m","args":[1,"\\u00e9"]}'))}`, hex(Buffer.from('[[1,"é"]]'))],
  ["call nobody null", "error no-handler"],
  ["send nobody x00", "error no-handler"],
  // The call memset([bytes 1 2 3, 7]).
  ["call memset/method x07066d656d7365740c0208030102030307000000", "x000803070707"],
  [`send memset/held ${int64s(-1n, 5n, 3n)}`, "error too-large"],
  [`attach memset/shared x2a ${repeated("00", 4096)}`, `null ${repeated("2a", 4096)}`],
  [`lend memset/shared x2a${"00".repeat(4999)}`, `null ${repeated("2a", 5000)}`],
  [`lend echo ${repeated("07", 5000)}`, `${repeated("07", 5000)} ${repeated("07", 5000)}`],
  ["send memset/shared x2a", "error released"],
  [
    `attach image/filter ${value({ width: 2, height: 1, filter: "negative" })} x0010ff80ffffffff`,
    "null xffef0080000000ff",
  ],
  [`attach image/filter ${value({ width: 2, height: 1, filter: "grey" })} x0010ff`, "error invalid-argument"],
  [`send frames/pointer ${int32s(5, 30, 20, 1)}`, "null"],
  ["send frames/pointer x00", "error invalid-argument"],
  [`send block ${int32s(1)}`, "null"],
  [`listen sensor ${value({ rate: 0, count: 1000 })} 16 0 8 0`, `1000 events, 24000 bytes, ${hashOfNumbers(1000)}`],
  [
    `listen sensor ${value({ rate: 0, count: 30000 })} 1024 0 8 0`,
    `30000 events, 720000 bytes, ${hashOfNumbers(30000)}`,
  ],
  // The values of the sensor.
  [`listen sensor ${value({ rate: 0, count: 500 })} 1 16 24 0`],
  [`listen sensor ${value({ rate: 0 })} 8 0 8 100`, `100 events, 2400 bytes, ${hashOfNumbers(100)}`],
  [`listen sensor ${value([])} 8 0 8 0`, "error invalid-argument"],
  ["listen nobody null 8 0 8 0", "error no-handler"],
  // The stamp of each frame without its times, and the pixels.
  [`listen frames ${frames} 4 0 24 100`],
  [`listen frames ${frames} 4 64 12288 100`],
];

const misbehave: [step: string, answer?: string][] = [
  ["send garbage/status null", "error bad-answer"],
  ["call reply/twice x61", "x61"],
  ["send reply/thread null", "null"],
  ["listen events/after-end null 4 0 4 0"],
];

const files = ([language, built]: [string, Record<"example" | "misbehave", string>]) =>
  existsSync(built.example) && existsSync(built.misbehave) ? [{ language, built }] : [];

test.for(Object.entries(plugins).flatMap(files))(
  "a plugin file in $language gives Node, the JVM, Swift and C the same answers and as many events",
  { timeout: 600_000 }, // starts four hosts, beside whatever else runs on the machine
  async ({ built }, { skip }) => {
    const names = Object.keys(hosts);
    if (names.length < 2) skip(`only ${names.length} of the four hosts is built`);
    if (names.length < 4) console.error(`plugin hosts: only ${names.join(", ")} are built`);
    const script: [string, string?][] = [
      [`open ${built.example}`, "opened"],
      ...example,
      ["close", "closed"],
      [`open ${built.misbehave}`, "opened"],
      ...misbehave,
      ["close", "closed"],
    ];
    const lines = script.map(([step]) => step);
    const answers = await Promise.all(names.map((name) => answersOf(hosts[name] as string[], lines)));
    const expected = script.map(([step, answer], at) => [step, answer ?? answers[0]?.[at]]);
    for (const [at, name] of names.entries()) {
      const given = lines.map((step, line) => [step, answers[at]?.[line]]);
      expect({ host: name, given, exit: answers[at]?.slice(lines.length) }).toEqual({
        host: name,
        given: expected,
        exit: [],
      });
    }
  },
);
