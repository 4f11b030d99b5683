// SPDX-License-Identifier: MIT OR Apache-2.0
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Worker } from "node:worker_threads";
import { describe, expect, onTestFinished, test } from "vitest";
import { builtUrl, reasonOf, testPool } from "../fixtures/pools.js";

type Native = typeof import("../fixtures/native.tasks.js");

/** Makes a pool of one worker, which is inside native code until the test has finished. */
async function blocked() {
  const folder = mkdtempSync(join(tmpdir(), "clearway-native-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  let exit: Promise<unknown> | undefined;
  process.once("worker", (worker: Worker) => {
    exit = once(worker, "exit");
  });
  const pool = testPool<Native>(builtUrl("native"), { graceMs: 1, processes: false });
  const abort = new AbortController();
  const started = join(folder, "started");
  const call = reasonOf(pool.with({ signal: abort.signal }).call.wait(started));
  // The thread waits in native code for the process that writes this file.
  await expect.poll(() => existsSync(started)).toBe(true);
  const pid = Number(readFileSync(started, "utf8"));
  let waits = true;
  const free = (): void => {
    if (waits) process.kill(pid, "SIGKILL");
    waits = false;
  };
  onTestFinished(free);
  return { pool, call, abort, free, exit };
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

  test("other code hears the end of its thread, also after the pool has ended", async () => {
    const { pool, free, exit } = await blocked();
    await pool.terminate();
    free();
    await exit;
  });

  test("terminate() settles, and the call fails", async () => {
    const { pool, call } = await blocked();
    await pool.terminate();
    expect((await call).code).toBe("pool-terminated");
  });
});
