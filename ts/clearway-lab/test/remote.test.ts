// SPDX-License-Identifier: MIT OR Apache-2.0
// The family `remote`: its driver with a fake, and its mechanisms with real servers and processes.
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { measureCalls, remoteParamsOf } from "../src/remote/measure.js";
import { findServer, remoteProblem } from "../src/remote/programs.js";
import { RunnerClient } from "../src/runner/client.js";
import { loadScenarios } from "../src/scenario/load.js";
import { builtLab } from "./built-lab.js";

const PARAMS = { processes: 1, payloadBytes: 8, warmUpMs: 1, calls: 20, inFlight: 5, callsInFlight: 50 };

describe("measuring remote calls", () => {
  test("times calls one at a time, then many in flight, and divides by their number", async () => {
    let [now, most] = [0, 0];
    const remote = {
      async call(bytes: Uint8Array) {
        most = Math.max(most, ++now);
        await new Promise((turn) => setImmediate(turn));
        now--;
        return bytes.slice();
      },
    };
    const { samples, values, result } = await measureCalls(remote, PARAMS);
    expect(result).toEqual({ equal: true });
    expect(samples["roundTrip"]?.ns).toHaveLength(20);
    expect(most).toBe(5);
    const { callsPerSecond, perCall, callerCpu } = values;
    expect([callsPerSecond?.unit, perCall?.unit, callerCpu?.unit]).toEqual(["events/s", "us", "us"]);
    expect(callsPerSecond!.value * perCall!.value).toBeCloseTo(1e6, 3);
  });

  test("detects an answer that differs, in the first call or the last", async () => {
    const short = { call: async (bytes: Uint8Array) => bytes.subarray(1) };
    expect((await measureCalls(short, PARAMS)).result).toEqual({ equal: false });
    let calls = 0;
    const late = { call: async (bytes: Uint8Array) => (++calls < 100 ? bytes : bytes.slice().fill(1)) };
    const { result } = await measureCalls(late, { ...PARAMS, callsInFlight: 500 });
    expect(result).toEqual({ equal: false });
  });

  test("refuses parameters that are missing", () => {
    expect(remoteParamsOf(PARAMS)).toEqual(PARAMS);
    expect(() => remoteParamsOf({ ...PARAMS, inFlight: "many" })).toThrow(
      "the parameter must be a number: inFlight=many",
    );
  });
});

describe("what is missing", () => {
  const find = (name: string) => (name === "nats-server" ? undefined : `/usr/bin/${name}`);
  test.each([
    [["bullmq"], /^bullmq is not installed: npm install bullmq$/],
    [["a", "b"], /^a and b are not installed: npm install a b$/],
    [[], /^nats-server is not installed: scripts\/setup\.sh nats, apt-get install nats-server, or https:/],
  ])("is named with the command that installs it: %j", (packages, message) => {
    expect(remoteProblem("nats-server", packages, find, () => false)).toMatch(message);
  });

  test("is nothing when packages and server are there", () => {
    expect(remoteProblem("redis-server", ["bullmq"], find, () => true)).toBeUndefined();
    expect(remoteProblem(undefined, [], find, () => true)).toBeUndefined();
  });

  test("is searched in the folders of the path", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "clearway-remote-"));
    writeFileSync(path.join(folder, "redis-server"), "");
    expect(findServer("redis-server", `/none:${folder}`)).toBe(path.join(folder, "redis-server"));
    rmSync(folder, { recursive: true });
  });
});

describe("the mechanisms of the family remote", () => {
  const temporary = mkdtempSync(path.join(tmpdir(), "clearway-remote-"));
  let runner: RunnerClient;
  beforeAll(() => {
    const program = path.join(builtLab(), "runner-node.js");
    runner = new RunnerClient({ command: process.execPath, args: [program], env: { TMPDIR: temporary } });
  });
  afterAll(async () => {
    await runner.close();
    rmSync(temporary, { recursive: true, force: true });
  });

  const scenarios = loadScenarios().filter(({ family }) => family === "remote");

  test("are those of the scenarios", async () => {
    const { mechanisms } = await runner.describe();
    for (const { name, mechanisms: wanted } of scenarios)
      expect(mechanisms.filter(({ scenario }) => scenario === name).map(({ mechanism }) => mechanism)).toEqual(
        wanted.map((each) => each.name),
      );
  });

  test.each(
    scenarios.flatMap(({ name, mechanisms }) =>
      mechanisms.map((each) => [`${name}/${each.name}`, name, each.name] as const),
    ),
  )(
    "call worker processes and end them with their server, or say what is missing: %s",
    async (_, scenario, mechanism) => {
      const { mechanisms } = await runner.describe();
      const { unavailable } = mechanisms.find((each) => each.scenario === scenario && each.mechanism === mechanism)!;
      if (unavailable !== undefined) {
        expect(unavailable).toMatch(/is not installed: (npm install|scripts\/setup\.sh)/);
        return;
      }
      const request = { family: "remote", scenario, mechanism, expected: { equal: true } };
      for (const params of [PARAMS, { ...PARAMS, processes: 2, payloadBytes: 300_000 }]) {
        const { values } = await runner.measure({ ...request, params }, 100_000);
        expect(Object.keys(values)).toEqual(expect.arrayContaining(["callsPerSecond", "perCall", "callerCpu"]));
      }
      // The fixture's folder stays until the runner ends.
      expect(readdirSync(temporary).filter((name) => /nats|redis/.test(name))).toEqual([]);
    },
  );
});
