// SPDX-License-Identifier: MIT OR Apache-2.0
// Flutter's own engine, where it is installed: its codecs give the same bytes as ours, and the host `flutter` measures it. Where it is not
// installed, the tests are left out, and say why.
import path from "node:path";
import { float64, jsonMethodCodec, standardMessageCodec, standardMethodCodec } from "clearway/channel";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkFlutter } from "../../../../conformance/check.mjs";
import { displayProblem } from "../../src/flutter/display.mjs";
import type { Engine } from "../../src/flutter/engine.mjs";
import { engineProblem, withEngine, withWindow } from "../../src/flutter/open.js";
import { messageOf } from "../../src/flutter/round-trips.js";
import { rowOf } from "../../src/flutter/rows.js";
import type { CellRequest } from "../../src/protocol/message.js";
import { RunnerClient } from "../../src/runner/client.js";
import { flutterOperations } from "../../src/runner/flutter-operations.js";
import { builtLab } from "../built-cli.js";
import { publishedScenarios } from "../published-scenarios.js";
import { exists } from "./fake-peer.js";

const problem = await engineProblem();
const noWindow = problem ?? displayProblem();
if (problem !== undefined) console.error(`tests of Flutter's engine are left out: ${problem}`);
else if (noWindow !== undefined) console.error(`tests of Flutter's channels are left out: ${noWindow}`);

/** Opens an engine for several tests. */
function opened(withIt: typeof withEngine) {
  let close = () => {};
  let closed: Promise<void> = Promise.resolve();
  return {
    open: () =>
      new Promise<Engine>((resolve, reject) => {
        closed = withIt(async (engine) => {
          resolve(engine);
          await new Promise<void>((done) => {
            close = done;
          });
        });
        closed.catch(reject);
      }),
    close: () => {
      close();
      return closed;
    },
  };
}

describe.skipIf(problem !== undefined)("the codecs of Flutter's engine", () => {
  const { open, close } = opened(withEngine);
  let engine: Engine;
  beforeAll(async () => {
    engine = await open();
  });
  afterAll(close);

  test("give the expected answer to every case of conformance/ but those that their limits leave out", async () => {
    const { problems, leftOut } = await checkFlutter();
    expect(problems).toEqual([]);
    // Each reason is one of flutter/limits.mjs. A case more or less is a change of the cases, and not an error.
    expect([...leftOut.keys()]).toContain("a text has a NUL: the engine's texts are C strings");
  });

  test("write the bytes that Clearway's codecs write, and read them back", async () => {
    const value = {
      a: [1, float64(1), "é", null, true],
      b: Float64Array.of(0.1),
      c: Float32Array.of(0.5),
      d: new Uint8Array(300),
    };
    const ours = standardMessageCodec.encode(value);
    expect([...(await engine.encode("standard", value))]).toEqual([...ours]);
    const read = await engine.decode("standard", ours, undefined, float64);
    expect([...standardMessageCodec.encode(read)]).toEqual([...ours]);
    const call = standardMethodCodec.call.encode({ method: "m", args: value });
    expect([...(await engine.encode("standard-method", ["call", "m", value]))]).toEqual([...call]);
    expect(
      await engine.decode("json-method", jsonMethodCodec.reply.encode({ kind: "success", value: 1 }), "reply"),
    ).toEqual(["success", 1n]);
  });

  test("refuse a text with a NUL, which their C strings cannot hold, instead of cutting it", async () => {
    await expect(engine.encode("standard", "a\0b")).rejects.toMatchObject({
      code: "refused",
      message: expect.stringContaining("a text has a NUL"),
    });
    // The engine itself cuts what it reads.
    expect(await engine.decode("standard", standardMessageCodec.encode("a\0b"))).toBe("a");
  });

  test("name what they refuse, and remain usable", async () => {
    await expect(engine.decode("standard", Buffer.of(15))).rejects.toThrow("Unexpected standard codec type 0f");
    await expect(engine.encode("json", new Map([[1, 2]]))).rejects.toThrow("Invalid object key type");
    await expect(engine.encode("standard-method", 5)).rejects.toThrow("the value is no method");
    expect((await engine.encode("json", { a: [1] })).toString()).toBe('{"a":[1]}');
  });

  test.each([
    ["no operation", Buffer.alloc(0), "unknown operation"],
    ["an unknown operation", Buffer.from("z"), "unknown operation"],
    ["an unknown codec", Buffer.from([101, 9, 0]), "unknown codec"],
    ["no value", Buffer.from([101, 0]), "not a value"],
    ["a value that is cut", Buffer.from([101, 0, 11, 255, 255, 255, 255]), "not a value"],
    [
      "a value that is too deep",
      Buffer.concat([Buffer.from([101, 0]), Buffer.alloc(5 * 600, Buffer.of(11, 1, 0, 0, 0))]),
      "not a value",
    ],
    ["bytes after the value", Buffer.from([101, 0, 0, 0]), "bytes follow"],
    ["no batches", Buffer.from([116, 0, 0, 0, 0, 0, 0]), "batches must be"],
    [
      "a channel without a window",
      Buffer.from([114, 0, 3, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 97]),
      "there is no window",
    ],
    ["no messages", Buffer.from([114, 0, 3, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 97]), "count must be"],
    ["too many in flight", Buffer.from([114, 0, 3, 1, 0, 0, 0, 65, 0, 0, 0, 1, 0, 0, 0, 97]), "in flight must be"],
    [
      "a message with a method's codec",
      Buffer.from([114, 1, 4, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 97, 0]),
      "another channel",
    ],
    ["a channel that is cut", Buffer.from([114, 0, 3, 1, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 97]), "channel or method"],
  ])("answer a request with %s by an error, and remain usable", async (_, request, message) => {
    await expect(engine.request(request)).rejects.toMatchObject({
      code: "refused",
      message: expect.stringContaining(message),
    });
    expect(await engine.request(Buffer.from("c"))).toHaveLength(0);
  });
});

describe.skipIf(noWindow !== undefined)("a running Dart program", () => {
  test("gives the expected answer to every message of the scenario, by value and by bytes, several at the same time", async () => {
    const { sets } = publishedScenarios().find(({ name }) => name === "channel-flutter")!;
    await withWindow(async (engine) => {
      for (const { params } of sets)
        for (const asBytes of [false, true]) {
          const { sent, isRight } = messageOf(rowOf(params), asBytes);
          // One alone comes first: the program keeps one message of a channel that it has not opened yet, and drops the others.
          const one = await engine.roundTrips({ ...sent, count: 1, inFlight: 1 });
          const { ns, answer } = await engine.roundTrips({ ...sent, count: 7, inFlight: 3 });
          expect([isRight(one.answer), isRight(answer), isRight(Buffer.of(5))]).toEqual([true, true, false]);
          expect([ns.length, ns.every(Number.isFinite)]).toEqual([7, true]);
        }
    });
  });

  test("fails a message whose answer is none of its codec, and remains usable", async () => {
    await withWindow(async (engine) => {
      const events = { by: "message" as const, codec: "json", channel: "flutter/keyevent", count: 1, inFlight: 1 };
      const key = { type: "keydown", keymap: "linux", toolkit: "gtk", scanCode: 38, keyCode: 97, modifiers: 0 };
      // The program fails at a message that is no event. Its answer then has no bytes, which are no JSON.
      await expect(engine.roundTrips({ ...events, value: "no event" })).rejects.toThrow("not valid JSON");
      expect((await engine.roundTrips({ ...events, value: key })).answer).toEqual(new Map([["handled", false]]));
    });
  });

  test("that does not answer is ended after the limit, and no process is left", async () => {
    let pid: number | undefined;
    const waits = withWindow(async (engine) => {
      pid = engine.pid;
      const unanswered = {
        by: "bytes" as const,
        codec: "binary",
        channel: "nobody",
        bytes: Buffer.of(1),
        count: 1,
        inFlight: 1,
      };
      return engine.roundTrips(unanswered, 50);
    });
    await expect(waits).rejects.toMatchObject({ code: "silent" });
    expect(pid).toBeDefined();
    expect(exists(pid)).toBe(false);
  });

  test("that is killed fails what waits for it, and no process is left", async () => {
    const killed = withWindow(async (engine) => {
      const unanswered = {
        by: "bytes" as const,
        codec: "binary",
        channel: "nobody",
        bytes: Buffer.of(1),
        count: 1,
        inFlight: 1,
      };
      const waiting = engine.roundTrips(unanswered);
      process.kill(engine.pid!, "SIGKILL");
      return waiting;
    });
    await expect(killed).rejects.toMatchObject({ code: "ended", message: expect.stringContaining("signal=SIGKILL") });
  });
});

describe.skipIf(noWindow !== undefined)("the runner of the host flutter", () => {
  let runner: RunnerClient;
  beforeAll(() => {
    runner = new RunnerClient({ command: process.execPath, args: [path.join(builtLab(), "runner-flutter.js")] });
  });
  afterAll(() => runner.close());
  const scenarios = publishedScenarios().filter(({ hosts }) => hosts?.includes("flutter"));
  const cells = scenarios.flatMap(({ name, family, mechanisms, expected, sets }) =>
    mechanisms.map((each): [string, CellRequest] => {
      const { params } = sets[0]!;
      const few = "messages" in params ? { ...params, messages: 5 } : { ...params, batches: 3 };
      return [`${name}/${each.name}`, { family, scenario: name, mechanism: each.name, params: few, expected }];
    }),
  );

  test("describes itself, and has every mechanism of its scenarios", async () => {
    const { runtime, mechanisms, ...facts } = await runner.describe();
    expect(facts).toMatchObject({ protocol: 1, host: "flutter", fresh: "process" });
    expect(runtime).toMatch(/^Flutter's engine, Dart \d+\.\d+\.\d+; Node v/);
    expect(mechanisms.map(({ scenario, mechanism }) => `${scenario}/${mechanism}`).sort()).toEqual(
      cells.map(([name]) => name).sort(),
    );
    expect(mechanisms.filter(({ unavailable }) => unavailable !== undefined)).toEqual([]);
  });

  test.each(cells)("measures %s, whose result is right", async (_, cell) => {
    const { samples, values, result } = await runner.measure(cell, 60_000);
    expect(result).toEqual({ equal: true });
    if (cell.scenario === "codec-flutter") expect(values["messageBytes"]?.value).toBeGreaterThan(1500);
    else expect([samples["roundTrip"]?.n, samples["roundTripOfThree"]?.n]).toEqual([5, 5]);
  });

  test("gets the right answer to every message of the experiments from Clearway's worker, too", async () => {
    const { sets, family, expected } = scenarios.find(({ name }) => name === "channel-flutter")!;
    for (const { params } of sets) {
      const cell = {
        family,
        scenario: "channel-flutter",
        mechanism: "clearway",
        params: { ...params, messages: 2 },
        expected,
      };
      expect((await runner.verify(cell, 60_000)).result).toEqual({ equal: true });
    }
  });

  test("answers an unknown mechanism, message or value with an error, and remains usable", async () => {
    const [, cell] = cells[0]!;
    const refused = (change: Partial<CellRequest>) => runner.measure({ ...cell, ...change }, 60_000);
    await expect(refused({ mechanism: "flutter-enigne" })).rejects.toThrow(
      /no such mechanism.*flutter-engine, clearway/,
    );
    await expect(refused({ scenario: "stream" })).rejects.toThrow(/no such mechanism.*codec-flutter, channel-flutter/);
    await expect(refused({ params: { value: "3 KB", batches: 1 } })).rejects.toThrow("no such payload: payload=3 KB");
    await expect(refused({ params: { value: "null", batches: 0 } })).rejects.toThrow("batches must be 1 to 1000000");
    await expect(refused({ expected: { equal: false } })).rejects.toThrow("the work gave a wrong result");
    await expect(runner.probe({ name: "start", params: {} }, 60_000)).rejects.toThrow("this host has no probes");
    const usable = { ...cell, mechanism: "clearway" };
    expect((await runner.verify(usable, 60_000)).verified).toBe(true);
  });
});

describe("the host flutter where the engine does not load", () => {
  beforeAll(() => {
    process.env["CLEARWAY_FLUTTER"] = "/no/app";
    return () => {
      delete process.env["CLEARWAY_FLUTTER"];
    };
  });

  test("describes the engine's mechanisms as unavailable, with the remedy, and has Clearway's", async () => {
    const { mechanisms } = await flutterOperations.describe();
    const reasonOf = (name: string) => mechanisms.find(({ mechanism }) => mechanism === name)?.unavailable;
    expect(reasonOf("flutter-engine")).toMatch(
      /CLEARWAY_FLUTTER names a folder|Flutter's engine is a program for Linux/,
    );
    expect(reasonOf("clearway")).toBeUndefined();
  });

  test("refuses to measure them with the same reason", async () => {
    const cell = {
      family: "channel",
      scenario: "codec-flutter",
      mechanism: "flutter-engine",
      expected: { equal: true },
    };
    await expect(flutterOperations.measure({ ...cell, params: { value: "null", batches: 3 } })).rejects.toThrow(
      /Flutter/i,
    );
  });
});
