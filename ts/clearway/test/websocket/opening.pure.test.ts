// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { CloseReason } from "../../src/channel/transport/transport.js";
import type { WebSocketClass } from "../../src/websocket/socket.js";
import { SocketTransport } from "../../src/websocket/socket-transport.js";
import { webSocketTransport } from "../../src/websocket.js";
import { useFakeTimers, useRealTimers } from "../fixtures/fake-timers.js";
import { Unread } from "./unread-socket.js";

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

beforeEach(() => useFakeTimers());
// The smallest messages that there are, from a peer that ignores the window, while this end reads none. An empty message takes as much memory
// as 128 bytes of a large one.
afterEach(() => useRealTimers());

function opening() {
  const reasons: CloseReason[] = [];
  const transport = webSocketTransport("ws://127.0.0.1:1/", {
    WebSocket: Socket as unknown as WebSocketClass,
    openMs: 100,
  });
  transport.open({ frame: () => {}, drained: () => {}, closed: (reason) => reasons.push(reason) });
  return { transport, reasons, socket: Socket.last };
}

describe("a WebSocket that connects", () => {
  test("times out when it is not open after openMs", async () => {
    const { reasons } = opening();
    await vi.advanceTimersByTimeAsync(99);
    expect(reasons).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(reasons).toMatchObject([{ code: "timeout" }]);
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
  useFakeTimers();
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
