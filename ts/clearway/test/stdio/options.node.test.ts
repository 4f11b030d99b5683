// SPDX-License-Identifier: MIT OR Apache-2.0
import { spawn } from "node:child_process";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { childTransport, parentTransport, streamTransport } from "../../src/stdio/stdio-transport.js";
import { optionSuite, refusalOf } from "../fixtures/option-suite.js";

const limits = [
  ["frameBytesMax must be a whole number from 1 to 2147483647: frameBytesMax=0", { frameBytesMax: 0 }],
  ['windowBytes="5"', { windowBytes: "5" }],
] as const;
const shared = { typo: ["windowBites", "windowBytes"], option: "frameBytesMax", bad: limits } as const;
const streams = () => ({ readable: new PassThrough(), writable: new PassThrough() });

optionSuite({
  ...shared,
  name: "streamTransport",
  act: (options) => streamTransport(streams(), options as never).close(),
});

optionSuite({
  ...shared,
  name: "childTransport",
  act: (options) => {
    const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "pipe", "ignore"] });
    try {
      childTransport(child, options as never);
    } finally {
      child.kill();
    }
  },
});

describe("an argument that is not an option", () => {
  test.each<[shown: string, act: () => unknown]>([
    ["streams must be an object: streams=undefined", () => streamTransport(undefined as never)],
    ["streams must be an object: streams=5", () => streamTransport(5 as never)],
    ["streams must be an object with readable and writable", () => streamTransport({} as never)],
    [
      "streams.readable must be a readable stream: streams.readable=5",
      () => streamTransport({ ...streams(), readable: 5 as never }),
    ],
    [
      "streams.writable must be a writable stream: streams.writable=null",
      () => streamTransport({ ...streams(), writable: null as never }),
    ],
    ["(the nearest is writable)", () => streamTransport({ ...streams(), writeable: new PassThrough() } as never)],
    ["child must be a ChildProcess: child=null", () => childTransport(null as never)],
    ["child must be a ChildProcess: child=[object]", () => childTransport({} as never)],
    ["options must be an object: options=5", () => parentTransport(5 as never)],
    ["(the nearest is windowBytes): window=5", () => parentTransport({ window: 5 } as never)],
  ])("is refused with its value: %s", async (shown, act) => {
    const reason = await refusalOf(act);
    expect(reason.code).toBe("invalid-argument");
    expect(reason.message).toContain(shown);
  });
});
