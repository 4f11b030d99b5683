// SPDX-License-Identifier: MIT OR Apache-2.0
// A user's folder for tests of commands that run a user's code. Its name has a space, and it has no packages: the lab's own `clearway` serves
// the files in it.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, test } from "vitest";
import type { LabResults } from "../src/engine/answer.js";
import { builtCli, type Ran, runCli } from "./built-cli.js";

export class UserFolder {
  readonly path = mkdtempSync(path.join(tmpdir(), "clearway user-"));
  readonly cli = builtCli();
  readonly environment = { ...process.env, TMPDIR: path.join(this.path, "tmp"), NO_COLOR: "1" };

  constructor() {
    mkdirSync(path.join(this.path, "tmp"));
    afterAll(() => rmSync(this.path, { recursive: true, force: true }));
  }

  run(...args: string[]): Promise<Ran> {
    return runCli(args, { cwd: this.path, env: this.environment });
  }

  at(...names: string[]): string {
    return path.join(this.path, ...names);
  }

  write(name: string, text: string): void {
    writeFileSync(this.at(name), text);
  }

  results(folder: string): LabResults {
    return JSON.parse(readFileSync(this.at(folder, "results.json"), "utf8")) as LabResults;
  }

  /** Registers the last test of a file. */
  testThatNothingIsLeft(): void {
    test("the commands leave no temporary file", () => {
      expect(readdirSync(this.environment.TMPDIR)).toEqual([]);
    });
  }
}
