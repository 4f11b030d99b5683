// SPDX-License-Identifier: MIT OR Apache-2.0
import { beforeEach, describe, expect, test, vi } from "vitest";
import { outcome } from "../../../src/channel/endpoint/outcome.js";
import { Early } from "../../../src/channel/endpoint/request-router.js";
import { dispose } from "../../../src/globals.js";
import { useFakeTimers } from "../../fixtures/fake-timers.js";
import { endpoints, rejection } from "./pairs.js";

beforeEach(() => useFakeTimers());

const wires = ["clearway", "plain"] as const;
const turn = () => vi.advanceTimersByTimeAsync(1);

describe.each(wires)("messages that arrive before their handler, on the %s wire,", (wire) => {
  test("wait for the handler, in order", async () => {
    const { a, b } = await endpoints(undefined, { wire });
    const calls = [1, 2, 3].map((n) => a.messages("late").send(n));
    await turn();
    const got: unknown[] = [];
    b.messages("late").handle((n) => {
      got.push(n);
      return n;
    });
    calls.push(a.messages("late").send(4));
    expect(await Promise.all(calls)).toEqual([1, 2, 3, 4]);
    expect(got).toEqual([1, 2, 3, 4]);
    a.terminate();
  });

  test("come before a later one that arrives in the tick in which the handler is registered", async () => {
    const { a, b } = await endpoints(undefined, { wire });
    const first = a.messages("late").send(1);
    await turn();
    const got: unknown[] = [];
    const second = a.messages("late").send(2);
    b.messages("late").handle((n) => {
      got.push(n);
      return n;
    });
    expect(await Promise.all([first, second])).toEqual([1, 2]);
    expect(got).toEqual([1, 2]);
    a.terminate();
  });

  test("are answered without a handler when earlyMs has passed", async () => {
    const { a, b } = await endpoints(undefined, { wire, earlyMs: 100 });
    const call = outcome(a.methods("never").call("x"));
    await vi.advanceTimersByTimeAsync(99);
    expect(b.stats().handling).toBe(1);
    await vi.advanceTimersByTimeAsync(2);
    // On the plain wire, an end cannot distinguish a missing handler from a missing method.
    expect(await call).toMatchObject({ kind: wire === "plain" ? "not-implemented" : "no-handler" });
    expect(b.stats().handling).toBe(0);
    a.terminate();
  });

  test("are answered without a handler at once when this end closes", async () => {
    const { a, b } = await endpoints(undefined, { wire, earlyMs: 1000 });
    let finish = (): void => {};
    b.messages("slow").handle(() => new Promise((resolve) => (finish = () => resolve(1))));
    const slow = a.messages("slow").send(0);
    await turn();
    const closed = b.close();
    const late = outcome(a.methods("never").call("x"));
    await turn();
    expect(b.stats().handling).toBe(1);
    finish();
    await turn();
    await closed;
    expect(await slow).toBe(1);
    expect(await late).toMatchObject({ kind: wire === "plain" ? "not-implemented" : "no-handler" });
  });

  test("are answered without a handler at once when earlyMs is 0", async () => {
    const { a } = await endpoints(undefined, { wire, earlyMs: 0 });
    expect(await outcome(a.methods("never").call("x"))).toMatchObject({
      kind: wire === "plain" ? "not-implemented" : "no-handler",
    });
    a.terminate();
  });

  test("lose the oldest of them when there are too many", async () => {
    const { a, b } = await endpoints(undefined, { wire, early: 2 });
    const calls = [1, 2, 3].map((n) => outcome(a.methods("late").call("echo", n)));
    expect(await calls[0]).toMatchObject({ kind: wire === "plain" ? "not-implemented" : "dropped" });
    await turn();
    b.methods("late").handle({ echo: (n) => n });
    expect((await Promise.all(calls)).map((each) => ("value" in each ? each.value : each.kind))).toEqual([
      wire === "plain" ? "not-implemented" : "dropped",
      2,
      3,
    ]);
    a.terminate();
  });

  test("do not run when they were cancelled", async () => {
    if (wire === "plain") return;
    const { a, b } = await endpoints(undefined, { wire });
    const controller = new AbortController();
    const call = rejection(a.methods("late").call("x", null, { signal: controller.signal }));
    const stream = a.events("late events").listen();
    await turn();
    controller.abort();
    await call;
    await stream.return();
    await turn();
    let ran = 0;
    b.methods("late").handle(() => ran++);
    b.events("late events").serve(() => void ran++);
    await turn();
    expect([ran, b.stats().handling, b.stats().serving]).toEqual([0, 0, 0]);
    a.terminate();
  });

  test("go to a new handler after the first is disposed", async () => {
    const { a, b } = await endpoints(undefined, { wire });
    const first = b.messages("m").handle(() => "first");
    expect(await a.messages("m").send(1)).toBe("first");
    first[dispose]();
    const call = a.messages("m").send(2);
    await turn();
    b.messages("m").handle(() => "second");
    first[dispose]();
    expect(await call).toBe("second");
    expect(await a.messages("m").send(3)).toBe("second");
    a.terminate();
  });
});

test("a handler that disposes itself at an early message leaves the others for the next handler", async () => {
  const { a, b } = await endpoints();
  const calls = [1, 2].map((n) => a.messages("late").send(n));
  await turn();
  const first = b.messages("late").handle(() => {
    first[dispose]();
    return "first";
  });
  // Arrives behind the early messages, while the first handler removes itself.
  calls.push(a.messages("late").send(3));
  await turn();
  b.messages("late").handle((n) => `second: ${n}`);
  expect(await Promise.all(calls)).toEqual(["first", "second: 2", "second: 3"]);
});

test("several listens wait for their handler, and the oldest gives up its place when they are too many", async () => {
  const { a, b } = await endpoints(undefined, { early: 2 });
  const streams = ["first", "second", "third"].map((args) => a.events("late").listen(args)[Symbol.asyncIterator]());
  const ends = streams.map((stream) => outcome(stream.next()));
  await turn();
  b.events("late").serve(async function* (args) {
    yield args;
  });
  expect(await Promise.all(ends)).toMatchObject([
    { kind: "dropped" },
    { value: { value: "second" } },
    { value: { value: "third" } },
  ]);
  a.terminate();
});

describe("the buffer of early messages", () => {
  test("has a limit in bytes, and one channel's messages do not evict another's", () => {
    const early = new Early<string>({ each: 4, bytesMax: 100, keptMs: 10 });
    expect(early.add("a", "a1", 60, 0)).toEqual([]);
    expect(early.add("b", "b1", 60, 0)).toEqual(["b1"]);
    expect(early.add("a", "a2", 60, 0)).toEqual(["a1"]);
    expect(early.add("a", "a3", 101, 0)).toEqual(["a3"]);
    expect([early.take("a"), early.take("a")]).toEqual(["a2", undefined]);
    expect(early.add("b", "b2", 100, 0)).toEqual([]);
  });

  test("is searched for the next message once in a turn of its timer, and not for each message", async () => {
    const { a, b } = await endpoints();
    const searches = vi.spyOn(Early.prototype, "nextMs", "get");
    for (let at = 0; at < 100; at++) void a.messages(`late ${at}`).post(at);
    await turn();
    expect(searches).toHaveBeenCalledTimes(1);
    searches.mockRestore();
    b.terminate();
  });

  test("has messages of any number of channels", () => {
    const early = new Early<number>({ each: 1, bytesMax: 1e9, keptMs: 10 });
    for (let at = 0; at < 200_000; at++) early.add(String(at), at, 1, at);
    expect(early.nextMs).toBe(10);
  });

  test("returns expired messages", () => {
    const early = new Early<string>({ each: 4, bytesMax: 100, keptMs: 10 });
    early.add("a", "a1", 1, 0);
    early.add("b", "b1", 1, 5);
    expect([early.nextMs, early.expire(9), early.expire(10), early.nextMs, early.expire(20)]).toEqual([
      10,
      [],
      ["a1"],
      15,
      ["b1"],
    ]);
  });
});
