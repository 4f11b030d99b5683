// SPDX-License-Identifier: MIT OR Apache-2.0

import { beforeEach, describe, expect, test, vi } from "vitest";
import { afterMessages } from "#host";
import { type CloseReason, closeCodes, windowBytesOf } from "../../src/channel/transport/transport.js";
import {
  closeStatus,
  MarkedWindow,
  markText,
  offeredToken,
  offers,
  readMark,
  readStatus,
  type WebSocketClass,
} from "../../src/websocket/socket.js";
import { SocketTransport } from "../../src/websocket/socket-transport.js";
import { webSocketTransport } from "../../src/websocket.js";
import { useFakeTimers } from "../fixtures/fake-timers.js";
import fc from "../fixtures/fast-check.js";
import { Unread } from "./unread-socket.js";

beforeEach(() => useFakeTimers());

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

test("echoes of marks to an endpoint that never reads are bounded by the window, and the last echo leaves when there is room", async () => {
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

/** A fake WebSocket that opens on demand. */
class Socket extends EventTarget {
  static last: Socket;
  binaryType = "blob";
  readyState = 0;
  bufferedAmount = 0;
  sent: unknown[] = [];

  constructor(
    readonly url: string,
    protocols: string[],
  ) {
    super();
    this.protocol = protocols[0] ?? "";
    Socket.last = this;
  }

  readonly protocol: string;

  open(): void {
    this.readyState = 1;
    this.dispatchEvent(new Event("open"));
  }

  send(message: unknown): void {
    this.sent.push(message);
  }

  close(): void {
    this.readyState = 3;
  }
}

function opening() {
  const reasons: CloseReason[] = [];
  const transport = webSocketTransport("ws://127.0.0.1:1/", {
    WebSocket: Socket as unknown as WebSocketClass,
    openMs: 100,
  });
  transport.open({ frame: () => {}, drained: () => {}, closed: (reason) => reasons.push(reason) });
  return { transport, reasons, socket: Socket.last };
}

/** Settles when the messages that wait have been read. */
const turn = () => new Promise<void>(afterMessages);

describe("a WebSocket that connects", () => {
  test("times out when it is not open after openMs", async () => {
    const { reasons } = opening();
    await vi.advanceTimersByTimeAsync(99);
    expect(reasons).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await turn();
    expect(reasons).toMatchObject([{ code: "timeout" }]);
  });

  test("stays open when it has opened within openMs, although this thread was blocked and read that later", async () => {
    const { reasons, socket } = opening();
    vi.advanceTimersByTime(100);
    socket.open();
    await turn();
    expect(reasons).toEqual([]);
  });

  test("has no time limit once it is open, and leaves no timer behind", async () => {
    const { transport, reasons, socket } = opening();
    await vi.advanceTimersByTimeAsync(99);
    socket.open();
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(60_000);
    transport.send(new Uint8Array(3));
    expect(socket.sent).toEqual([new Uint8Array(3)]);
    expect(reasons).toEqual([]);
  });
});

describe("a WebSocket whose other end does not finish its close", () => {
  /** Opens a WebSocket, and returns the reasons of its end, and the time that this takes after `act`. */
  async function ended(act: (made: ReturnType<typeof opening>) => void) {
    const made = opening();
    made.socket.open();
    act(made);
    await vi.advanceTimersByTimeAsync(4999);
    expect(made.reasons).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(vi.getTimerCount()).toBe(0);
    return made.reasons;
  }

  test("ends after 5 s when the other end has broken the protocol", async () => {
    const error = { code: "WS_ERR_UNEXPECTED_RSV_2_3", message: "RSV2 and RSV3 must be clear" };
    const reasons = await ended(({ socket }) => socket.dispatchEvent(Object.assign(new Event("error"), { error })));
    expect(reasons).toMatchObject([{ code: "protocol", message: error.message }]);
  });

  test("ends 5 s after a frame that it can no longer send", async () => {
    const reasons = await ended(({ socket, transport }) => {
      socket.readyState = 2;
      for (let n = 0; n < 3; n++) transport.send(new Uint8Array(3));
    });
    expect(reasons).toMatchObject([{ code: "lost", message: "the connection broke" }]);
  });
});

// The smallest messages that there are, from a peer that ignores the window, while this end reads none. An empty message takes as much memory
// as 128 bytes of a large one.
const empty = new Uint8Array(0);
const limits = { frameBytesMax: 1 << 16, windowBytes: 1 << 10 };
/** Number of empty messages that take as much memory as the largest frame and a full window of empty frames. */
const most = (limits.frameBytesMax + 16 * limits.windowBytes) / 128;

class Pausable extends Unread {
  paused = false;
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
  }
}

async function held(socket: Unread) {
  const transport = new SocketTransport(socket as never, limits);
  const told = { frames: 0, closed: "" };
  transport.open({
    frame: () => told.frames++,
    closed: ({ code }: { code: string }) => {
      told.closed = code;
    },
  } as never);
  await vi.advanceTimersByTimeAsync(0);
  transport.pause();
  return { transport, told };
}

describe("an end that does not read, and a peer that sends empty messages", () => {
  test("pauses the socket in time, and delivers all of them later", async () => {
    const socket = new Pausable();
    const { transport, told } = await held(socket);
    let sent = 0;
    for (; !socket.paused; sent++) socket.arrives(empty.buffer);
    expect(sent).toBe(most);
    transport.resume();
    await vi.advanceTimersByTimeAsync(0);
    expect({ paused: socket.paused, ...told }).toEqual({ paused: false, frames: most, closed: "" });
  });

  test("ends the connection if the socket cannot be paused", async () => {
    const socket = new Unread();
    const { told } = await held(socket);
    let sent = 0;
    for (; socket.closes === 0; sent++) socket.arrives(empty.buffer);
    expect(sent).toBe(2 * most + 1);
    expect(told.frames).toBe(0);
  });

  test("takes a whole window of empty frames from a peer that keeps to it", async () => {
    const socket = new Pausable();
    await held(socket);
    for (let sent = 0; sent < limits.windowBytes / 8; sent++) socket.arrives(empty.buffer);
    expect(socket.paused).toBe(false);
  });
});
