// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, describe, expect, test, vi } from "vitest";
import { closeCodes, windowBytesOf } from "../../src/channel/transport/transport.js";
import {
  closeStatus,
  MarkedWindow,
  markText,
  offeredToken,
  offers,
  readMark,
  readStatus,
} from "../../src/websocket/socket.js";
import { SocketTransport } from "../../src/websocket/socket-transport.js";
import { useFakeTimers, useRealTimers } from "../fixtures/fake-timers.js";
import fc from "../fixtures/fast-check.js";
import { Unread } from "./unread-socket.js";

describe("marks", () => {
  test("are text that parses to its contents, and no other text does", () => {
    expect(readMark(markText("taken", Number.MAX_SAFE_INTEGER))).toEqual({
      kind: "taken",
      total: Number.MAX_SAFE_INTEGER,
    });
    for (const text of ["", "mark", "mark -1", "mark 1 ", "mark 1e3", "took 1", "mark 12345678901234567", "mark 1\n"])
      expect(readMark(text)).toBe(undefined);
  });

  test("always let a sender continue: at any window size, there is room when all marks have returned", () => {
    const sizes = fc.array(fc.nat(5000), { minLength: 1 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10_000 }), sizes, fc.array(fc.boolean()), (windowBytes, frames, echoes) => {
        const window = new MarkedWindow(windowBytes);
        const marks: number[] = [];
        let drains = 0;
        const echo = (): void => {
          const mark = marks.shift();
          if (mark !== undefined && window.taken(mark)) drains++;
        };
        let wasFull = 0;
        for (const [index, bytes] of frames.entries()) {
          const before = window.full;
          const mark = window.sent(bytes + 8);
          if (mark !== undefined) marks.push(mark);
          if (!before && window.full) wasFull++;
          if (echoes[index]) echo();
        }
        while (marks.length > 0) echo();
        expect(window.full).toBe(false);
        expect(drains).toBe(wasFull);
      }),
    );
  });

  test("that were never sent are refused", () => {
    const window = new MarkedWindow(100);
    expect(window.taken(5)).toBe(undefined);
    expect(window.sent(50)).toBe(50);
    expect([window.taken(51), window.taken(50), window.taken(50)]).toEqual([undefined, false, undefined]);
  });
});

describe("close codes", () => {
  test("are valid for a browser, and map each reason to itself at the other endpoint", () => {
    for (const code of closeCodes) {
      const [status, text] = closeStatus({ code, message: `because of ${code}` });
      expect(status === 1000 || (status >= 3000 && status < 5000)).toBe(true);
      expect(readStatus(status, text)).toMatchObject({ code, message: `because of ${code}` });
    }
  });

  test("have a long reason cut between characters", () => {
    const [, text] = closeStatus({ code: "closed", message: "🙂".repeat(100) });
    expect(text).toBe("🙂".repeat(30));
  });

  test.each([
    [1001, "closed"],
    [1006, "lost"],
    [1008, "refused"],
    [1009, "too-large"],
    [1011, "failed"],
    [3999, "closed"],
  ])("map %i from a foreign endpoint to %s, with the number in the detail", (status, code) => {
    expect(readStatus(status, "")).toMatchObject({ code, detail: { closeCode: status } });
  });
});

describe("a token", () => {
  test("is offered as a subprotocol, and read from it", () => {
    expect(offers("a-b_c.d~e+f")).toEqual(["clearway.channel.1", "clearway.token.a-b_c.d~e+f"]);
    expect(offeredToken(offers("secret"))).toBe("secret");
    expect(offeredToken(offers(undefined))).toBe(undefined);
  });

  test("is refused without being shown when it cannot be in a header", () => {
    for (const token of ["", "a b", "a,b", "ä", "secret/", "x".repeat(3000)])
      expect(() => offers(token)).toThrow(/^token must be .*: token="string of \d+"$/);
  });
});

afterEach(() => useRealTimers());

test("echoes of marks to an endpoint that never reads are bounded by the window, and the last echo leaves when there is room", async () => {
  useFakeTimers();
  const socket = new Unread();
  const windowBytes = 1024;
  const transport = new SocketTransport(socket as never, { frameBytesMax: 1 << 20, windowBytes });
  let frames = 0;
  transport.open({ frame: () => frames++, closed: () => expect.unreachable() } as never);
  await vi.advanceTimersByTimeAsync(0);
  const frame = new Uint8Array(1);
  let total = 0;
  for (let n = 0; n < 10_000; n++) {
    socket.arrives(frame.buffer);
    total += windowBytesOf(frame, []);
    socket.arrives(markText("mark", total));
  }
  expect(frames).toBe(10_000);
  expect(socket.bufferedAmount).toBeLessThan(windowBytes + 64);
  const before = socket.sent.length;
  socket.bufferedAmount = 0;
  await vi.advanceTimersByTimeAsync(10);
  expect(socket.sent.slice(before)).toEqual([markText("taken", total)]);
  expect(vi.getTimerCount()).toBe(0);
});
