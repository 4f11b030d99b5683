// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the built command `clearway jank` on a script, as a user does.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";
import type { FoundStall, JankReport } from "../../src/jank/record.js";
import { builtLab } from "../built-cli.js";

export const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
// The folder is inside the package, so that Node resolves its dependencies.
export const scripts = here("./scripts/");
export let scratch: string;

beforeAll(() => {
  scratch = mkdtempSync(path.join(tmpdir(), "clearway-jank-"));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the command. Calls `heard` with what it has written to stderr so far. Resolves when the script has ended too, because the script
 * holds the other end of stderr.
 */
export function jank(
  args: string[],
  env: Record<string, string> = {},
  heard?: (stderr: string, send: (signal: NodeJS.Signals) => void) => void,
  node = process.execPath,
): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(node, [path.join(builtLab(), "cli.js"), "jank", ...args], {
      cwd: scratch,
      env: { ...process.env, NO_COLOR: "1", ...env },
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
      heard?.(stderr, (signal) => child.kill(signal));
    });
    child.on("close", (code) => resolve({ code: code ?? -1, stdout, stderr }));
  });
}

export async function measured(args: string[], node?: string): Promise<Ended & { report: JankReport }> {
  const ended = await jank(["--json", ...args], {}, undefined, node);
  return { ...ended, report: JSON.parse(ended.stdout) as JankReport };
}

export const stallIn = ({ subjects }: JankReport, functionName: string): FoundStall | undefined =>
  subjects[0]!.runs[0]!.stalls.find(({ cause }) =>
    [cause.place?.functionName, cause.original?.functionName].includes(functionName),
  );
