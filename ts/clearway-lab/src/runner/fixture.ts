// SPDX-License-Identifier: MIT OR Apache-2.0
// Starts the fixture server. If the lab has started one for the whole run, uses that one.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { readLines } from "../protocol/lines.js";
import type { Fixture } from "../protocol/measured.js";

/** The environment variable that gives runners the addresses of the fixtures. */
export const FIXTURE_VARIABLE = "CLEARWAY_LAB_FIXTURE";

export interface RunningFixture {
  fixture: Fixture;
  close(): Promise<void>;
}

export async function startFixture(): Promise<RunningFixture> {
  const given = process.env[FIXTURE_VARIABLE];
  if (given !== undefined) return { fixture: JSON.parse(given) as Fixture, close: async () => {} };
  const program = fileURLToPath(new URL("./fixture-server.js", import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"], detached: true });
  const first = await readLines(child.stdout).next();
  if (first.done) throw new Error("the fixture server exited before it reported its address");
  return {
    fixture: first.value as Fixture,
    close: async () => {
      const exited = once(child, "exit");
      child.stdin.end();
      await exited;
    },
  };
}
