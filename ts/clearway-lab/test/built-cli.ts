// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the built command as a user does.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { builtLab } from "./built-lab.js";

export const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The environment of a lab that measures the test's own scenario with the test's own runner. */
export const TESTED = { CLEARWAY_LAB_RUNNER: here("./fake-runner.mjs"), CLEARWAY_LAB_SCENARIOS: here("./scenarios") };

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

export class BuiltCli {
  readonly program = path.join(builtLab(), "cli.js");
  /** The folder in which the command runs. Its name has a space. */
  readonly scratch = mkdtempSync(path.join(tmpdir(), "clearway cli-"));

  run(args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
    return new Promise((resolve) => {
      const options = { cwd: this.scratch, env: { ...process.env, ...env } };
      execFile(process.execPath, [this.program, ...args], options, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : ((error as { code?: number }).code ?? -1), stdout, stderr });
      });
    });
  }

  path(...names: string[]): string {
    return path.join(this.scratch, ...names);
  }

  remove(): void {
    rmSync(this.scratch, { recursive: true, force: true });
  }
}
