// SPDX-License-Identifier: MIT OR Apache-2.0
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { childTransport, parentTransport, streamTransport } from "../../src/stdio.js";
import { Log, pattern } from "../channel/transports/contract.js";
import { optionSuite, refusalSuite } from "../fixtures/option-suite.js";
import { socketPair } from "./socket-pair.js";

const program = fileURLToPath(new URL("./peer.child.mjs", import.meta.url));
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

function start(way: string, limits = {}) {
  const child = spawn(process.execPath, [program, way], { stdio: ["pipe", "pipe", "pipe"] });
  children.push(child);
  const before = listeners(child);
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    said += text;
  });
  const transport = childTransport(child, limits);
  const log = new Log();
  transport.open(log);
  return { child, transport, log, said: () => said, added: () => listeners(child) - before };
}

/** Counts the listeners on a child and its streams. */
function listeners(child: ChildProcess): number {
  return [child, child.stdin!, child.stdout!].reduce(
    (sum, emitter) => emitter.eventNames().reduce((names, name) => names + emitter.listenerCount(name), sum),
    0,
  );
}

describe("a channel to a child process", () => {
  test("carries frames of every size in both directions", async () => {
    const { transport, log } = start("echo");
    const sizes = [0, 1, 100, 65_536, 3_000_000, 5];
    for (const size of sizes) transport.send(pattern(size, size));
    await log.count(sizes.length);
    expect(log.frames.map((frame) => Buffer.compare(frame, pattern(frame.length, frame.length)))).toEqual([
      0, 0, 0, 0, 0, 0,
    ]);
    expect(log.frames.map(({ length }) => length)).toEqual(sizes);
  });

  test("lets the child exit by itself when the parent closes it, and leaves no listener", async () => {
    const { child, transport, log, said, added } = start("ready");
    await log.count(1);
    transport.close({ code: "closed", message: "that was all" });
    expect(await log.end()).toEqual({ code: "closed", message: "that was all" });
    expect(await once(child, "close")).toEqual([0, null]);
    expect(said()).toBe("closed: closed: that was all\n");
    expect(added()).toBeLessThanOrEqual(0);
  });

  test("reports the child's reason after the child's last frame", async () => {
    const { child, log, added } = start("say goodbye");
    expect(await log.end()).toEqual({ code: "failed", message: "no work left", detail: { jobs: 0 } });
    expect(log.frames).toHaveLength(1);
    await once(child, "close");
    expect(added()).toBeLessThanOrEqual(0);
  });

  test("reports the child's exit status after its last frame", async () => {
    const { child, log, added } = start("exit 3");
    expect(await log.end()).toEqual({
      code: "lost",
      message: "the process exited with status 3",
      detail: { exitCode: 3 },
    });
    expect(log.frames).toEqual([new Uint8Array([1])]);
    if (!child.stdin?.closed) await once(child.stdin!, "close");
    expect(added()).toBeLessThanOrEqual(0);
  });

  test("reports the signal that killed the child, and stays closed after another send", async () => {
    const { child, transport, log } = start("ready");
    await log.count(1);
    child.kill("SIGKILL");
    expect(await log.end()).toEqual({
      code: "lost",
      message: "the process was killed by SIGKILL",
      detail: { signal: "SIGKILL" },
    });
    expect(transport.send(pattern(10))).toBe(false);
    transport.close();
  });

  test("reports the child's death while many frames are in flight to it", async () => {
    const { child, transport, log } = start("deaf and dumb");
    while (transport.send(pattern(60_000)));
    child.kill("SIGTERM");
    expect(await log.end()).toMatchObject({ code: "lost", detail: { signal: "SIGTERM" } });
  });

  test("closes with the printed text when the child prints to its standard output", async () => {
    const { log, said, child } = start("print");
    expect(await log.end()).toMatchObject({
      code: "protocol",
      message: expect.stringContaining('"3 files compiled\\n"'),
    });
    expect(log.frames).toHaveLength(1);
    await once(child, "close");
    expect(said()).toMatch(/^closed: protocol: something that is no frame, at byte 9/);
  });

  test("refuses a frame over its limit as soon as the frame is announced", async () => {
    const { log } = start("announce", { frameBytesMax: 1000 });
    expect(await log.end()).toEqual({
      code: "too-large",
      message: "a frame of 2147483648 bytes; the transport takes 1000 at most",
    });
  });

  test("drops an incomplete frame when the child dies", async () => {
    const { log } = start("half a frame");
    expect(await log.end()).toMatchObject({ code: "lost", detail: { exitCode: 0 } });
    expect(log.frames).toEqual([]);
  });

  test("fails with the reason when the program does not exist", async () => {
    const child = spawn("./no-such-program", { stdio: ["pipe", "pipe", "inherit"] });
    const log = new Log();
    childTransport(child).open(log);
    expect(await log.end()).toMatchObject({ code: "failed", cause: { code: "ENOENT" } });
  });

  test("delivers the child's frames when it is opened after the child's death", async () => {
    const child = spawn(process.execPath, [program, "exit 3"], { stdio: ["pipe", "pipe", "inherit"] });
    const transport = childTransport(child);
    await once(child, "exit");
    await new Promise((resolve) => setImmediate(resolve));
    const log = new Log();
    transport.open(log);
    expect(await log.end()).toMatchObject({ code: "lost", detail: { exitCode: 3 } });
    expect(log.frames).toEqual([new Uint8Array([1])]);
  });

  test("requires pipes", () => {
    const child = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
    expect(() => childTransport(child)).toThrow(
      'child must be started with stdio: ["pipe", "pipe", "inherit"]: child="no stdin"',
    );
  });
});

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

refusalSuite("an argument that is not an option", [
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
]);

test("a child process counts as part of the same program, and a socket's other endpoint does not", async () => {
  const [one, other] = await socketPair();
  const socket = streamTransport({ readable: one, writable: one });
  const child = spawn(process.execPath, ["-e", ""], { stdio: ["pipe", "pipe", "inherit"] });
  expect([childTransport(child).trusted, socket.trusted]).toEqual([true, false]);
  socket.close();
  other.destroy();
});
