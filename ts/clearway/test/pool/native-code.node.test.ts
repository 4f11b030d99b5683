// SPDX-License-Identifier: MIT OR Apache-2.0
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { builtUrl, gate, reasonOf, testPool } from "../fixtures/pools.js";

type Native = typeof import("../fixtures/native.tasks.js");

/** Returns the path of a pipe whose readers are inside native code until the test has finished. */
function pipe(): string {
  const folder = mkdtempSync(join(tmpdir(), "clearway-pipe-"));
  const path = join(folder, "pipe");
  execFileSync("mkfifo", [path]);
  onTestFinished(() => {
    // Lets the thread end.
    writeFileSync(path, "");
    rmSync(folder, { recursive: true });
  });
  return path;
}

/** Makes a pool of one worker, which is inside native code. */
async function blocked() {
  const pool = testPool<Native>(builtUrl("native"), { graceMs: 1, processes: false });
  const { promise, tell } = gate();
  const abort = new AbortController();
  const call = reasonOf(pool.with({ onProgress: () => tell(), signal: abort.signal }).call.readPipe(pipe()));
  await promise;
  return { pool, call, abort };
}

describe.runIf(process.platform !== "win32")("while a worker is inside native code", () => {
  test("another one takes its place when its call is cancelled", async () => {
    const { pool, call, abort } = await blocked();
    abort.abort(new Error("enough"));
    expect((await call).message).toBe("enough");
    expect(await pool.call.add(1, 2)).toBe(3);
    await pool.close();
  });

  test("close() with a limit settles, and the call fails", async () => {
    const { pool, call } = await blocked();
    await pool.close({ timeoutMs: 1 });
    expect((await call).code).toBe("pool-closed");
  });

  test("terminate() settles, and the call fails", async () => {
    const { pool, call } = await blocked();
    await pool.terminate();
    expect((await call).code).toBe("pool-terminated");
  });
});
