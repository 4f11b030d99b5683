// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { CloseReason } from "../../src/channel/transport/transport.js";
import type { WebSocketClass } from "../../src/websocket/socket.js";
import { webSocketTransport } from "../../src/websocket.js";
import { useFakeTimers, useRealTimers } from "../fixtures/fake-timers.js";

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
