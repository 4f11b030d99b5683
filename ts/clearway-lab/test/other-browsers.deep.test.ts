// SPDX-License-Identifier: MIT OR Apache-2.0
// Firefox and WebKit as hosts of the lab: its runner and its engine, from the built package.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { browserProblem } from "../src/browser/open.js";
import type { LabResults } from "../src/engine/answer.js";
import type { Params } from "../src/protocol/message.js";
import { RunnerClient } from "../src/runner/client.js";
import { loadScenarios } from "../src/scenario/scenario.js";

// Pages need the whole build; `builtLab()` is without them.
const dist = (name: string) => fileURLToPath(new URL(`../dist/${name}`, import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), "clearway-hosts-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(["firefox", "webkit"] as const)("the host %s", (host) => {
  const having = test.skipIf(browserProblem(host) !== undefined);

  having("describes itself, and carries out the scenarios of a page", async () => {
    const runner = new RunnerClient({
      ...{ command: process.execPath, args: [dist("runner-browser.js")], env: { CLEARWAY_LAB_HOST: host } },
    });
    try {
      const { mechanisms, crossOriginIsolated, clockStepUs } = await runner.describe();
      // WebKitGTK has no shared memory, also in isolated pages.
      expect(crossOriginIsolated).toBe(host === "firefox");
      const moved = mechanisms.find(({ mechanism }) => mechanism === "web-streams-transferred");
      expect(moved?.unavailable !== undefined).toBe(host === "webkit");
      expect(clockStepUs).toBeGreaterThan(0);
      const loads: [string, Params][] = [
        ["crossing", { direction: "to the worker", bytes: 5000, crossings: 2 }],
        ["fetch-json", { rows: 50 }],
        ["growing-queue", { warmUpMs: 10, count: 50, payloadBytes: 8, receiver: "idle", perSecond: 0, loop: "closed" }],
      ];
      for (const [name, params] of loads) {
        const { family, expected } = loadScenarios().find((each) => each.name === name)!;
        const mechanism = mechanisms.find((each) => each.scenario === name && /^clearway/.test(each.mechanism))!;
        const cell = { family, expected, scenario: name, mechanism: mechanism.mechanism, params };
        expect((await runner.verify(cell, 120_000)).verified).toBe(true);
      }
    } finally {
      await runner.close(60_000);
    }
  });

  having("answers a question of the lab", async () => {
    const args = ["lab", `call-${host}`, "--time", "300", "--json", "--out", path.join(folder, host)];
    const results = await new Promise<LabResults>((resolve, reject) =>
      execFile(process.execPath, [dist("cli.js"), ...args], (error, stdout) =>
        error === null ? resolve(JSON.parse(stdout)) : reject(error),
      ),
    );
    expect(results.answers).toHaveLength(1);
    expect(results.answers[0]).toMatchObject({ host });
    expect(results.answers[0]!.failed).toBeUndefined();
    expect(results.answers[0]!.pairs.length).toBeGreaterThan(0);
    expect(results.build[host]).toMatch(/^\d/);
  });
});
