// SPDX-License-Identifier: MIT OR Apache-2.0
// A stall of this thread: when it ends, the timer of a limit runs before the messages that have arrived meanwhile. A memory transport delivers
// in a microtask, so a timer that fires in the turn of a send runs before the message is read, too.
import { beforeEach, describe, expect, test, vi } from "vitest";
import { connect } from "../../../src/channel/endpoint/endpoint.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import { useFakeTimers } from "../../fixtures/fake-timers.js";
import { gate } from "../../fixtures/pools.js";
import { endpoints, endWithTest } from "./pairs.js";

beforeEach(() => useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));

describe.each(["clearway", "plain"] as const)("after a stall of this thread, on the %s wire,", (wire) => {
  /** Makes a call, and returns when its handler runs. `answer` lets the handler answer. */
  async function called(limits: { deadlineMs?: number; timeoutMs?: number } = {}) {
    const { a, b } = await endpoints(undefined, { wire });
    const begun = gate();
    const answer = gate<string>();
    b.messages("m").handle(() => {
      begun.tell();
      return answer.promise;
    });
    const call = a.messages("m").send("question", limits);
    await begun.promise;
    return { a, call, answer: () => answer.tell("answer") };
  }

  test.each(["deadlineMs", "timeoutMs"] as const)("a call that was answered within %s succeeds", async (limit) => {
    const { call, answer } = await called({ [limit]: 10 });
    answer();
    vi.advanceTimersByTime(10);
    expect(await call).toBe("answer");
  });

  test("a call that was answered within the time of close() succeeds", async () => {
    const { a, call, answer } = await called();
    const closed = a.close({ timeoutMs: 10 });
    answer();
    vi.advanceTimersByTime(10);
    expect(await call).toBe("answer");
    await closed;
  });
});

test("an endpoint connects if the other end's hello was sent within helloMs, although this thread was blocked", async () => {
  const [ta, tb] = memoryPair();
  const opened = connect(ta, { helloMs: 10 });
  const there = connect(tb);
  vi.advanceTimersByTime(10);
  endWithTest(await opened, await there);
});
