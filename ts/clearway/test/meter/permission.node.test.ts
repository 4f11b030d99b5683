// SPDX-License-Identifier: MIT OR Apache-2.0
// Every host: each version of Node has its own permission model.
import { execFile } from "node:child_process";
import { expect, test } from "vitest";
import type { StallReport } from "../../src/meter/report.js";

const script = `
const { measure } = await import(${JSON.stringify(new URL("../../dist/node/meter.js", import.meta.url).href)});
const { report } = await measure(() => { const end = performance.now() + 200; while (performance.now() < end); });
console.log(JSON.stringify(report));`;
const flag = process.allowedNodeEnvironmentFlags.has("--permission") ? "--permission" : "--experimental-permission";

test.each([
  ["workers", ["--allow-worker"], { watcher: true }],
  ["no workers", [], { watcher: false }],
])(
  "under Node's permission model with %s, a stall is measured without stacks, and the sources say why",
  async (_, allowed, expected) => {
    const args = ["--no-warnings", flag, "--allow-fs-read=*", ...allowed, "--input-type=module", "-e", script];
    const [error, printed] = await new Promise<[Error | null, string]>((resolve) => {
      execFile(process.execPath, args, (failure, stdout, stderr) => resolve([failure, stdout + stderr]));
    });
    expect(error, printed).toBeNull();
    const { sources, stalls } = JSON.parse(printed) as StallReport;
    expect(stalls).toHaveLength(1);
    const source = (name: string) => sources.find((each) => each.name === name);
    expect(source("watcher")?.available).toBe(expected.watcher);
    expect(source("stacks")).toEqual({
      name: "stacks",
      available: false,
      why: "Node's permission model refuses the inspector",
    });
  },
);
