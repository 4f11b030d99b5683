// SPDX-License-Identifier: MIT OR Apache-2.0
// The engine's process may end, hang or write anything. These tests need no engine: other programs are in its place.
import { afterAll, describe, expect, test } from "vitest";
import { displayProblem, startDisplay, XVFB_MISSING } from "../../src/flutter/display.mjs";
import { Engine, EngineError, startEngine } from "../../src/flutter/engine.mjs";
import { answering, exists, FakePrograms } from "./fake-peer.js";

const programs = new FakePrograms();
afterAll(() => programs.remove());

/** A limit that no answer of a fake program reaches. Tests of silent programs set a short one. */
const LIMIT_MS = 60_000;
const start = (code: string, limitMs = LIMIT_MS) =>
  startEngine({ program: programs.program(code), folder: "/nowhere", limitMs });
const failure = async (promise: Promise<unknown>): Promise<EngineError> => {
  const error = await promise.then(
    () => new Error("it did not fail"),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(EngineError);
  return error as EngineError;
};

describe("the engine's process", () => {
  test("fails its start with `ended` when there is no such program", async () => {
    const error = await failure(startEngine({ program: "/no/such/program", folder: "/nowhere" }));
    expect([error.code, error.message]).toEqual(["ended", expect.stringContaining("did not start")]);
  });

  test("fails its start with the reason when it cannot load the engine", async () => {
    const error = await failure(start(answering('send(1, "libgtk-3.so.0: cannot open");')));
    expect([error.code, error.message]).toEqual(["refused", "libgtk-3.so.0: cannot open"]);
  });

  test("fails all its requests with `ended` and the engine's last lines when it crashes", async () => {
    const engine = await start(
      answering(
        'if (request === "c") send(0, ""); else { console.error("a Dart error"); process.kill(process.pid, "SIGSEGV"); }',
      ),
    );
    const { pid } = engine;
    const [first, second] = await Promise.all([
      failure(engine.request(Buffer.from("w"))),
      failure(engine.request(Buffer.from("w"))),
    ]);
    expect([first.code, first.message]).toEqual(["ended", expect.stringMatching(/signal=SIGSEGV.*a Dart error/)]);
    expect(second.code).toBe("ended");
    expect((await failure(engine.request(Buffer.from("c")))).code).toBe("ended");
    await engine.end();
    expect(exists(pid)).toBe(false);
  });

  test("is killed, and fails with `silent`, when it does not answer in time", async () => {
    const engine = await start(answering('if (request === "c") send(0, "");'));
    const { pid } = engine;
    const error = await failure(engine.request(Buffer.from("r"), 1));
    expect([error.code, error.message]).toEqual(["silent", expect.stringContaining("limitMs=1")]);
    await engine.end();
    expect(exists(pid)).toBe(false);
  });

  test.each([
    ["without a request", "writeSync(1, Buffer.from([1, 0, 0, 0, 0, 1, 0, 0, 0, 0]));"],
    ["of no size", "process.stdout.write(Buffer.alloc(4)); process.exitCode = 0; read(1);"],
    ["that is too large", "const size = Buffer.alloc(4); size.writeUInt32LE(0xffffffff); writeSync(1, size); read(1);"],
  ])("is killed when it writes an answer %s", async (_, body) => {
    const engine = new Engine({
      program: programs.program(answering(body)),
      folder: "/",
      display: undefined,
      limitMs: LIMIT_MS,
    });
    const first = await engine.request(Buffer.from("c")).catch((error: unknown) => error);
    const error = first instanceof EngineError ? first : await failure(engine.request(Buffer.from("c")));
    expect([error.code, error.message]).toEqual(["ended", expect.stringContaining("no answer")]);
    await engine.end();
    expect(exists(engine.pid)).toBe(false);
  });

  test("is killed by `end` when a request still runs, and the request fails", async () => {
    const engine = await start(answering('if (request === "c") send(0, "");'));
    const waiting = failure(engine.request(Buffer.from("r")));
    await engine.end();
    expect((await waiting).code).toBe("ended");
    expect(exists(engine.pid)).toBe(false);
  });

  test("ends by itself at the end of its input, and `end` can be called twice", async () => {
    const engine = await start(answering("send(0, request);"));
    expect((await engine.request(Buffer.from("echo"))).toString()).toBe("echo");
    await engine.end();
    await engine.end();
    expect(exists(engine.pid)).toBe(false);
  });

  test("gets the answers of requests that are made at once in their order", async () => {
    const engine = await start(answering("send(0, request);"));
    const answers = await Promise.all(["a", "bb", ""].map((text) => engine.request(Buffer.from(text))));
    expect(answers.map(String)).toEqual(["a", "bb", ""]);
    await engine.end();
  });

  test("refuses an unknown codec without asking the engine", async () => {
    const engine = await start(answering('send(0, "");'));
    await expect(engine.encode("standart", null)).rejects.toThrow("no such codec: codec=standart (standard, json");
    await engine.end();
  });
});

describe("a display", () => {
  const display = (code: string, readyMsMax = LIMIT_MS) => startDisplay(programs.program(code), readyMsMax);

  test("has the name that Xvfb writes, and ends with its process", async () => {
    const { name, end } = await display('require("node:fs").writeSync(3, "42\\n"); setInterval(() => {}, 1e6);');
    expect(name).toBe(":42");
    await end();
  });

  test("is refused with the remedy when there is no Xvfb", async () => {
    await expect(startDisplay("/no/such/Xvfb")).rejects.toThrow(XVFB_MISSING);
    expect(displayProblem(programs.folder)).toBe(XVFB_MISSING);
  });

  test("is refused when Xvfb ends, is not ready in time, or writes no number", async () => {
    await expect(display("process.exit(3);")).rejects.toThrow("Xvfb ended: code=3");
    await expect(display("setInterval(() => {}, 1e6);", 1)).rejects.toThrow("Xvfb was not ready in time: readyMsMax=1");
    await expect(display('require("node:fs").writeSync(3, "none\\n"); setInterval(() => {}, 1e6);')).rejects.toThrow(
      "did not tell the number",
    );
  });

  test("is killed when Xvfb ignores SIGTERM", async () => {
    const code =
      'process.on("SIGTERM", () => {}); require("node:fs").writeSync(3, "7\\n"); setInterval(() => {}, 1e6);';
    const { end } = await startDisplay(programs.program(code), LIMIT_MS, 1);
    await end();
  });
});
