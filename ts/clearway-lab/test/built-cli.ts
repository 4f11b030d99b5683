// SPDX-License-Identifier: MIT OR Apache-2.0
// Builds the command and runs it as a user does. Each test file has a build of its own, because test files run at the same time.
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** The environment of a lab that measures the test's own scenario with the test's own runner. */
export const TESTED = { CLEARWAY_LAB_RUNNER: here("./fake-runner.mjs"), CLEARWAY_LAB_SCENARIOS: here("./scenarios") };

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

export class BuiltCli {
  readonly program: string;
  /** The folder in which the command runs. Its name has a space. */
  readonly scratch = mkdtempSync(path.join(tmpdir(), "clearway cli-"));

  constructor(name: string) {
    const built = `.cache/${name}`;
    execFileSync(process.execPath, [here("../build.mjs"), "--out", built, "--node-only"]);
    this.program = here(`../${built}/cli.js`);
  }

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
