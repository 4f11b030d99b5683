// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test, vi } from "vitest";
import type { MessageCodec } from "../../../src/channel/codec/codec.js";
import { standardMessageCodec } from "../../../src/channel/codec/standard.js";
import { binaryCodec } from "../../../src/channel/codec/text.js";
import type { EndpointOptions } from "../../../src/channel/endpoint/options.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import { type ChannelTransport, messageBytes } from "../../../src/channel/transport/transport.js";
import { Op, readFrame, Status, writeFrame } from "../../../src/channel/wire/frame.js";
import { useFakeTimers } from "../../fixtures/fake-timers.js";
import { answerBytes, bare, call, endpoints, text, turn, until, withoutPause } from "./pairs.js";

describe("an endpoint that calls and never reads", () => {
  /** Makes a thousand calls, and returns a count of those that ran. */
  async function flood(
    options: EndpointOptions,
    change?: (transport: ChannelTransport) => ChannelTransport,
    codec: MessageCodec<unknown> = standardMessageCodec,
    bytes = answerBytes,
  ) {
    const made = await bare({ replyBytesMax: 20_000, ...options }, change);
    let ran = 0;
    made.end.messages("m", codec).handle(() => {
      ran++;
      return new Uint8Array(bytes);
    });
    for (let id = 1; id <= 1000; id++) made.there.send(call(id));
    await turn();
    return { ...made, ran: () => ran };
  }

  test("has at most replyBytesMax bytes plus one answer waiting for it, and starts no further handler", async () => {
    const { end, ran } = await flood({});
    const { waitingBytes } = end.stats();
    expect(waitingBytes).toBeGreaterThanOrEqual(20_000);
    expect(waitingBytes).toBeLessThan(20_000 + answerBytes + messageBytes);
    // The waiting answers, and the one that filled the window.
    expect(ran()).toBe(Math.ceil(20_000 / (waitingBytes / (ran() - 1))) + 1);
    await turn();
    expect(end.stats().waitingBytes).toBe(waitingBytes);
  });

  test.each([answerBytes, 1, 0])("is charged for answers of %i raw bytes, each as an object too", async (bytes) => {
    const { end, ran } = await flood({}, undefined, binaryCodec as MessageCodec<unknown>, bytes);
    const { waitingBytes } = end.stats();
    expect(waitingBytes).toBeGreaterThanOrEqual(20_000);
    expect(waitingBytes).toBeLessThan(20_000 + bytes + 2 * messageBytes);
    // Without the charge of an object, all thousand empty answers would wait. Those that fill the window do not wait.
    expect(ran()).toBeLessThan(2 * (20_000 / (bytes + messageBytes)));
  });

  test("receives all answers in order when it reads later", async () => {
    const { end, there, log, statuses } = await flood({});
    there.open(log);
    await log.until(() => statuses().length === 1000);
    expect(statuses().every((status) => status === Status.done)).toBe(true);
    expect(log.frames.slice(1).map((bytes) => readFrame(bytes, [])!.id)).toEqual(
      Array.from({ length: 1000 }, (_, at) => at + 1),
    );
    expect(end.stats()).toMatchObject({ handling: 0, waitingBytes: 0 });
  });

  test("is disconnected with a reason after it has read nothing for stallMs", async () => {
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { end } = await flood({ stallMs: 500 });
    vi.advanceTimersByTime(499);
    await turn();
    expect(end.stats().waitingBytes).toBeGreaterThan(0);
    vi.advanceTimersByTime(1);
    expect(await end.closed).toMatchObject({
      code: "timeout",
      message: expect.stringContaining("the other end has read no answer for 500 ms"),
    });
    expect(end.stats()).toMatchObject({ handling: 0, waitingBytes: 0 });
  });

  test("has stallMs for each MiB of the answer that it is reading", async () => {
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { end } = await flood({ stallMs: 500 }, undefined, binaryCodec as MessageCodec<unknown>, 5 << 19);
    vi.advanceTimersByTime(1499);
    await turn();
    expect(end.stats().waitingBytes).toBeGreaterThan(0);
    vi.advanceTimersByTime(1);
    expect(await end.closed).toMatchObject({
      code: "timeout",
      message: expect.stringContaining("has read no answer for 1500 ms"),
    });
  });

  test("is not disconnected once it reads", async () => {
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { end, there, log, statuses } = await flood({ stallMs: 500 });
    there.open(log);
    await log.until(() => statuses().length === 1000);
    vi.advanceTimersByTime(10_000);
    await turn();
    expect(await Promise.race([end.closed, "open"])).toBe("open");
  });

  test("is not disconnected when it has read within stallMs, although this thread was blocked", async () => {
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { end, there, log, statuses } = await flood({ stallMs: 500 });
    there.open(log);
    // A memory transport reports in a microtask what was read.
    vi.advanceTimersByTime(500);
    await Promise.race([end.closed, log.until(() => statuses().length === 1000)]);
    expect(statuses()).toHaveLength(1000);
  });

  test("is not disconnected while it reads one answer within every stallMs, however long all answers take", async () => {
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { end, there, log, statuses } = await flood({ stallMs: 500 });
    log.onFrame = () => there.pause!();
    there.open(log);
    await log.count(1);
    for (let read = 2; read <= 100; read++) {
      vi.advanceTimersByTime(499);
      there.resume!();
      await log.count(read);
      await turn();
      expect(end.stats().waitingBytes).toBeGreaterThan(0);
    }
    log.onFrame = undefined;
    there.resume!();
    await log.until(() => statuses().length === 1000);
    expect(statuses()).toEqual(Array(1000).fill(Status.done));
    vi.advanceTimersByTime(10_000);
    await turn();
    expect(await Promise.race([end.closed, "open"])).toBe("open");
  });

  test("is refused further calls while callsMax answers wait", async () => {
    const { end, there, log, statuses, ran } = await flood({ callsMax: 10 }, withoutPause);
    // One answer has left and filled the window.
    expect([ran(), end.stats().handling]).toEqual([11, 10]);
    there.open(log);
    await log.until(() => statuses().length === 1000);
    expect(statuses().filter((status) => status === Status.busy)).toHaveLength(989);
    expect([ran(), end.stats().handling]).toEqual([11, 0]);
  });

  test("has few of its posts kept over a transport that cannot be paused, because an empty one takes memory, too", async () => {
    const { end, there, log, statuses } = await flood({}, withoutPause);
    let ran = 0;
    end.messages("posts").handle(() => {
      ran++;
      return undefined;
    });
    const before = statuses().length;
    for (let n = 0; n < 10_000; n++) there.send(writeFrame({ op: Op.post, name: text.encode("posts") }));
    there.open(log);
    await log.until(() => statuses().length > before && end.stats().waitingBytes === 0);
    expect(ran).toBeLessThanOrEqual(Math.ceil(20_000 / messageBytes));
  });

  test("is disconnected at once when it keeps calling over a transport that cannot be paused", async () => {
    const { end, there } = await flood({ callsMax: 10 }, withoutPause);
    for (let id = 2000; id < 12_000; id++) there.send(call(id));
    expect(await end.closed).toMatchObject({
      code: "timeout",
      message: expect.stringContaining("reads no answers and goes on calling"),
    });
  });
});

describe("an endpoint that closes", () => {
  test("stops waiting when its waiting answers have left", async () => {
    const { end, there, log, statuses } = await bare();
    end.messages("m").handle(() => new Uint8Array(answerBytes));
    for (let id = 1; id <= 3; id++) there.send(call(id));
    await turn();
    expect(end.stats().handling).toBe(2);
    const closed = end.close({ timeoutMs: Number.POSITIVE_INFINITY });
    there.open(log);
    await closed;
    expect(statuses()).toEqual([Status.done, Status.done, Status.done]);
  });

  test("sends the answer of its last handler first, also if the transport has no room", async () => {
    const { end, there, log, statuses } = await bare();
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    end.messages("m").handle(async () => {
      await gate;
      return new Uint8Array(answerBytes);
    });
    for (let id = 1; id <= 2; id++) there.send(call(id));
    await turn();
    const closed = end.close({ timeoutMs: Number.POSITIVE_INFINITY });
    open();
    await turn();
    there.open(log);
    await closed;
    await log.end();
    expect(statuses()).toEqual([Status.done, Status.done]);
  });
});

describe("an endpoint that terminates itself", () => {
  test("handles no further frames that its transport had already received", async () => {
    const { end, there } = await bare({ callsMax: 100 });
    let ran = 0;
    end.messages("m").handle(() => {
      ran++;
      end.terminate();
      return undefined;
    });
    // The transport keeps delivering frames that arrived before the end, because its other end closed first.
    for (let id = 1; id <= 50; id++) there.send(call(id));
    there.close();
    await turn();
    expect([ran, end.stats().handling]).toEqual([1, 0]);
  });
});

describe("two endpoints that both wait for large answers", () => {
  test("receive them, although neither has room for the other's answers", async () => {
    const { a, b } = await endpoints(memoryPair({ windowBytes: 2000 }), { replyBytesMax: 50_000 });
    for (const end of [a, b]) end.methods("m").handle({ large: (size: number) => new Uint8Array(size) });
    const calls = [a, b].flatMap((end) => Array.from({ length: 300 }, () => end.methods("m").call("large", 1500)));
    const answers = (await Promise.all(calls)) as Uint8Array[];
    expect(answers.every(({ length }) => length === 1500)).toBe(true);
    for (const end of [a, b]) expect(end.stats()).toMatchObject({ calls: 0, handling: 0, waitingBytes: 0 });
  });
});

describe("a full endpoint that has given up a call", () => {
  const rows = [
    { what: "the late reply", id: 1, callsAfter: 0 },
    { what: "the reply to a later call", id: 2, callsAfter: 1 },
  ];
  test.each(rows)("reads until $what has arrived", async ({ id, callsAfter }) => {
    let pauses = 0;
    const counted = (under: ChannelTransport): ChannelTransport => ({
      ...withoutPause(under),
      pause: () => {
        pauses++;
        under.pause!();
      },
      resume: () => under.resume!(),
    });
    const { end, there } = await bare({ replyBytesMax: 20_000 }, counted);
    const messages = end.messages("m");
    messages.handle(() => new Uint8Array(answerBytes));
    const controller = new AbortController();
    const givenUp = messages.send(1, { signal: controller.signal });
    controller.abort();
    await expect(givenUp).rejects.toBe(controller.signal.reason);
    const later = Array.from({ length: callsAfter }, () => messages.send(1));
    for (let n = 1; n <= 1000; n++) there.send(call(n));
    await until(() => end.stats().waitingBytes >= 20_000);
    expect(pauses).toBe(0);
    there.send(writeFrame({ op: Op.reply, id }));
    await Promise.all(later);
    await until(() => pauses === 1);
  });
});

describe("an endpoint that calls and cancels at once", () => {
  test("runs at most callsMax handlers at once, also when handlers ignore their signal", async () => {
    const { end, there, log, statuses } = await bare({ callsMax: 4 });
    there.open(log);
    let running = 0;
    let most = 0;
    const waiting: (() => void)[] = [];
    end.messages("m").handle(async () => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => waiting.push(resolve));
      running--;
      return undefined;
    });
    for (let id = 1; id <= 300; id++) {
      there.send(call(id));
      there.send(writeFrame({ op: Op.cancel, id, a: Status.cancelled }));
    }
    await log.until(() => statuses().length === 296);
    expect(statuses().every((status) => status === Status.busy)).toBe(true);
    expect([running, most, end.stats().handling]).toEqual([4, 4, 4]);
    for (const go of waiting.splice(0)) go();
    await until(() => end.stats().handling === 0);
    there.send(call(301));
    await until(() => running === 1);
  });

  test("runs at most callsMax handlers of posts at once", async () => {
    const { end, there } = await bare({ callsMax: 4 });
    let running = 0;
    end.messages("m").handle(() => {
      running++;
      return new Promise(() => {});
    });
    for (let n = 0; n < 300; n++) there.send(writeFrame({ op: Op.post, name: text.encode("m") }));
    await turn();
    expect([running, end.stats().handling]).toEqual([4, 4]);
  });

  test("occupies one call slot with a timed-out handler until the handler ends", async () => {
    useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { end, there, log, statuses } = await bare({ callsMax: 1 });
    there.open(log);
    let go = (): void => {};
    end.messages("m").handle(
      () =>
        new Promise((resolve) => {
          go = () => resolve(1);
        }),
    );
    there.send(writeFrame({ op: Op.call, id: 1, name: text.encode("m"), b: 100 }));
    await turn();
    vi.advanceTimersByTime(100);
    await log.until(() => statuses().length === 1);
    there.send(call(2));
    await log.until(() => statuses().length === 2);
    expect(statuses()).toEqual([Status.timeout, Status.busy]);
    go();
    await turn();
    expect(end.stats().handling).toBe(0);
  });

  test("does not delay close() with the handler of a cancelled call", async () => {
    const { end, there } = await bare();
    end.messages("m").handle(() => new Promise(() => {}));
    there.send(call(1));
    there.send(writeFrame({ op: Op.cancel, id: 1, a: Status.cancelled }));
    await turn();
    await end.close({ timeoutMs: Number.POSITIVE_INFINITY });
    expect(end.stats().handling).toBe(0);
  });
});

describe("a post", () => {
  test("has no time limit, whatever the fields say that only a call uses", async () => {
    const { end, there } = await bare();
    const seen: unknown[] = [];
    end.messages("m").handle((_, { deadlineMs }) => void seen.push(deadlineMs));
    there.send(writeFrame({ op: Op.post, name: text.encode("m"), a: 5, b: 7 }));
    await until(() => seen.length === 1);
    expect(seen).toEqual([undefined]);
  });
});

describe("an early message", () => {
  const rows = [
    { what: "the bytes of attachments", sizes: [10_000] },
    { what: "many empty attachments", sizes: Array<number>(100).fill(0) },
    { what: "the bytes of its channel's name", sizes: [], name: "n".repeat(10_000) },
  ];
  test.each(rows)("is dropped when $what inside its frame exceed earlyBytesMax", async ({ sizes, name = "late" }) => {
    const { there, log, statuses } = await bare({ earlyBytesMax: 10_000, nameBytesMax: 10_000 });
    there.open(log);
    const inlineAttachments = sizes.map((size) => new Uint8Array(size));
    there.send(writeFrame({ op: Op.call, id: 1, name: text.encode(name) }, { inlineAttachments }));
    await log.until(() => statuses().length === 1);
    expect(statuses()).toEqual([Status.dropped]);
  });
});

describe("a cancelled early message", () => {
  test("makes room for others", async () => {
    const { end, there, log, statuses } = await bare({ early: 2 });
    there.open(log);
    there.send(call(1, "late"));
    for (let id = 2; id <= 50; id++) {
      there.send(call(id, "late"));
      there.send(writeFrame({ op: Op.cancel, id, a: Status.cancelled }));
    }
    await turn();
    expect([statuses(), end.stats().handling]).toEqual([[], 1]);
    end.messages("late").handle(() => undefined);
    await log.until(() => statuses().length === 1);
    expect(statuses()).toEqual([Status.done]);
  });

  test("makes room for others when it was a listen", async () => {
    const { end, there, log } = await bare({ early: 2 });
    there.open(log);
    const listen = (id: number, channel: string): void =>
      void there.send(writeFrame({ op: Op.listen, id, name: text.encode(channel), a: 9, b: 9 }));
    there.send(call(1, "late"));
    for (let id = 2; id <= 50; id++) {
      listen(id, "late");
      there.send(writeFrame({ op: Op.stop, id }));
    }
    await turn();
    expect([log.frames.length, end.stats().handling, end.stats().serving]).toEqual([1, 1, 0]);
  });
});
