// SPDX-License-Identifier: MIT OR Apache-2.0
import { move, type PoolOptions } from "clearway";
import { callback } from "clearway/callback";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { cloneReadsStacks } from "../fixtures/capabilities.js";
import { builtUrl, testPool } from "../fixtures/pools.js";

type Slow = typeof import("../fixtures/slow.tasks.js");

const pools = (options: PoolOptions = { warnings: true }) =>
  testPool<Slow>(builtUrl("slow"), { name: "images", ...options });

const inNode = typeof process === "object" && typeof process.versions?.node === "string";

/**
 * Makes calls until the code that watches the pool is loaded, and has warned. Returns the warnings that contain `text`. A busy machine may
 * make other copies slow, too.
 */
async function warnedBy(call: () => Promise<unknown>, seen: string[], text: string): Promise<string[]> {
  const found = () => seen.filter((each) => each.includes(text));
  await expect
    .poll(async () => {
      await call();
      return found().length;
    })
    .toBeGreaterThan(0);
  // A second warning would be a mistake.
  await call();
  await call();
  return found();
}

/** Returns the warnings of this test, as they are printed: `[code] text`. */
function warnings(): string[] {
  const seen: string[] = [];
  const spy = inNode
    ? vi.spyOn(process, "emitWarning").mockImplementation((text, options) => {
        seen.push(`[${(options as { code: string }).code}] ${(options as { type: string }).type}: ${text}`);
      })
    : vi.spyOn(console, "warn").mockImplementation((text) => void seen.push(text));
  onTestFinished(() => spy.mockRestore());
  return seen;
}

const big = 2 ** 21;

/** An error that takes 60 ms to copy. */
const slowError = (): Error =>
  Object.defineProperty(new Error("slow"), "stack", {
    get() {
      const untilMs = performance.now() + 60;
      while (performance.now() < untilMs);
      return "Error: slow";
    },
  });

describe("a pool warns once", () => {
  test("of a large argument that is copied, and names the task, the bytes and move()", async () => {
    const seen = warnings();
    const { call } = pools();
    expect(await call.length(move(new Uint8Array(big)))).toBe(big);
    const found = await warnedBy(() => call.length(new Uint8Array(big)), seen, "COPIED");
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(
      /^\[CLEARWAY_ARGUMENT_COPIED\] ClearwayWarning: An argument of length\(\) was copied: 2\.0 MiB/,
    );
    expect(found[0]).toContain('length(move(value)). The pool "images" says this once');
  });

  test.runIf(cloneReadsStacks)("of a result that takes long to copy", async () => {
    const seen = warnings();
    const { call } = pools();
    const found = await warnedBy(() => call.slow(), seen, "The result");
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(
      /^\[CLEARWAY_SLOW_COPY\] ClearwayWarning: The result of slow\(\) took \d+ ms to copy in the/,
    );
    expect(found[0]).toContain("Return a table of records");
  });

  test.runIf(cloneReadsStacks)("of arguments that take long to copy", async () => {
    const seen = warnings();
    const { call } = pools();
    expect(await warnedBy(() => call.take([slowError(), "x".repeat(2 ** 19)]), seen, "The arguments")).toEqual([
      expect.stringContaining("The arguments of take() took"),
    ]);
  });
});

test("a pool names the call that a callback makes to its own worker, and that can therefore never run", async () => {
  const seen = warnings();
  const made = pools({ warnings: true, size: 1 });
  // The code that watches the pool is loaded then.
  await warnedBy(() => made.call.length(new Uint8Array(big)), seen, "COPIED");
  const asked = made.call.ask(callback(() => made.call.add(1, 2)));
  const ended = expect(asked).rejects.toMatchObject({ code: "pool-terminated" });
  await expect
    .poll(() => seen.find((each) => each.includes("DEADLOCK")))
    .toMatch(
      /^\[CLEARWAY_DEADLOCK\] ClearwayWarning: A call of add\(\) has waited for a second for a worker that waits for a callback of ask\(\)/,
    );
  await made.terminate();
  await ended;
});

test("with a concurrency of 2, a callback may call its own worker", async () => {
  const { call } = pools({ size: 1, concurrency: 2 });
  expect(await call.ask(callback(() => call.add(1, 2)))).toBe(3);
});

test("a pool does not warn of a small value, however long a busy machine takes to copy it", async () => {
  const seen = warnings();
  const { call } = pools();
  for (let n = 0; n < 3; n++) {
    await call.slowAndSmall();
    await call.take([slowError(), "short"]);
  }
  // The code that watches the pool is loaded now.
  await warnedBy(() => call.length(new Uint8Array(big)), seen, "COPIED");
  await call.slowAndSmall();
  await call.take([slowError(), "short"]);
  await call.length(new Uint8Array(1));
  expect(seen.filter((each) => each.includes("SLOW_COPY"))).toEqual([]);
});

test("a pool with the option false, and a pool of small calls, print no warning", async () => {
  const seen = warnings();
  const silent = pools({ warnings: false });
  await silent.call.length(new Uint8Array(big));
  await silent.call.slow();
  await silent.close();
  expect(seen).toEqual([]);
  const small = pools();
  expect(await small.call.length(new Uint8Array(100))).toBe(100);
  expect(await small.call.length(move(new Uint8Array(big)))).toBe(big);
  await small.close();
  expect(seen.filter((each) => each.includes("COPIED"))).toEqual([]);
});

test.runIf(inNode)("a pool in production prints no warning, unless it has the option", async () => {
  vi.stubEnv("NODE_ENV", "production");
  onTestFinished(() => void vi.unstubAllEnvs());
  const seen = warnings();
  const quiet = pools({});
  await quiet.call.length(new Uint8Array(big));
  await quiet.call.slow();
  await quiet.close();
  expect(seen).toEqual([]);
  const asked = pools();
  expect(await warnedBy(() => asked.call.slow(), seen, "The result")).toHaveLength(1);
});
