// SPDX-License-Identifier: MIT OR Apache-2.0
// The contract of an arm: it opens, refuses other work, does its work, and ends. Every arm in Node, in Chromium and on the JVM is tested.
import { pathToFileURL } from "node:url";
import { afterAll, expect, test, vi } from "vitest";
import { browserProblem } from "../../src/browser/open.js";
import { COMPARISONS } from "../../src/engine/comparison.js";
import { FURTHER } from "../../src/engine/limits.js";
import { type ArmHost, Arms, PageOfArm } from "../../src/engine/open-arm.js";
import { koffiProblem } from "../../src/native/peers.js";
import { pluginProblem } from "../../src/native/plugin.js";
import { remoteProblem } from "../../src/remote/open.js";
import { findJvmRunner } from "../../src/runner/runners.js";
import { builtLab } from "../built-cli.js";

const arms = new Arms({}, pathToFileURL(`${builtLab()}/`));
afterAll(() => arms.close());

/** Every arm with the works that comparisons ask it for. */
const asked = new Map<string, { host: ArmHost; arm: string; works: Set<string>; isFresh: boolean }>();
for (const { host, subject, reference, work, warm, isFresh = false } of [...COMPARISONS, ...FURTHER]) {
  for (const arm of [subject, reference]) {
    const key = `${host} ${arm} ${isFresh}`;
    const known = asked.get(key) ?? { host, arm, works: new Set(), isFresh };
    asked.set(key, known);
    // A hundred million rows take ten seconds. Few of them show that the arm works.
    if (arm !== "students-parts") known.works.add(work);
    if (!isFresh) known.works.add(warm?.work ?? work);
  }
}

const hasJvm = typeof findJvmRunner() !== "string";
const hasNative = ((await pluginProblem()) ?? (await koffiProblem())) === undefined;
const hasNats = remoteProblem(["clearway-nats", "@nats-io/jetstream"]) === undefined;

const hasChromium = browserProblem("chromium") === undefined;

/** Whether this machine can open an arm. */
const isHere = ({ host, arm }: { host: ArmHost; arm: string }): boolean =>
  host !== "node"
    ? host === "jvm"
      ? hasJvm
      : hasChromium
    : (hasNative || !/^(memset|native)/.test(arm)) && (hasNats || !arm.startsWith("remote"));

test.each([...asked.values()].filter(isHere))(
  "the arm $arm on $host refuses unknown work, then does its own, and every cost is above zero",
  async (asks) => {
    const { host, arm: name, works, isFresh } = asks;
    const arm = await arms.open(host, name, "free");
    if (!isFresh) {
      await expect(arm.slice("other", 0, 1)).rejects.toThrow(/other/);
      const [work = ""] = works;
      expect((await arm.warm(work, 1, 1)).calls).toBeGreaterThan(0);
    }
    for (const work of works) {
      const { costsNs, calls } = await arm.slice(work, 0, 1);
      expect(costsNs.length, work).toBeGreaterThan(0);
      expect(Math.min(...costsNs), work).toBeGreaterThan(0);
      expect(calls, work).toBeGreaterThan(0);
    }
    await arm.end();
  },
);

test("an unknown arm is refused with the names of the others", async () => {
  await expect(arms.open("node", "pool-none", "free")).rejects.toThrow(/arm=pool-none \(.*pool-clearway/);
});

test("an arm that has ended fails the next request", async () => {
  const arm = await arms.open("node", "codec-clearway", "free");
  await arm.end();
  await expect(arm.slice("both", 0, 1)).rejects.toThrow(/ended/);
  await arm.end();
});

test("an interruption ends an arm in the middle of its work", async () => {
  const arm = await arms.open("node", "codec-clearway", "free");
  const slice = arm.slice("both", 600_000, 1);
  arms.interrupt();
  await expect(slice).rejects.toThrow(/ended/);
  await arm.end();
});

test("an interruption ends an arm in a page that does not answer, and a page that does not close", async () => {
  const ended = vi.fn();
  const never = () => new Promise<never>(() => {});
  const arm = new PageOfArm({ evaluate: never, close: never }, ended);
  const slice = arm.slice("call", 1, 1);
  arm.kill();
  await expect(slice).rejects.toThrow(/ended/);
  vi.useFakeTimers();
  try {
    const silent = arm.slice("call", 1, 1);
    vi.runAllTimers();
    await expect(silent).rejects.toThrow(/did not answer in time: timeoutMs=120000/);
  } finally {
    vi.useRealTimers();
  }
  await arm.end();
  expect(ended).toHaveBeenCalledTimes(1);
});
