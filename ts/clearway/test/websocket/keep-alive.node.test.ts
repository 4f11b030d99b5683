// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, describe, expect, test, vi } from "vitest";
import { webSocketTransport } from "../../src/websocket.js";
import { useFakeTimers, useRealTimers } from "../fixtures/fake-timers.js";
import { Unread } from "./unread-socket.js";

afterEach(() => useRealTimers());

/** A socket like those of the package `ws`, whose other end does what the test says. */
class Pinged extends Unread {
  pings = 0;
  isPaused = false;
  ended = false;
  readonly #heard = new Map<string, () => void>();
  on(type: string, listener: () => void): void {
    this.#heard.set(type, listener);
  }
  hears(type: "ping" | "pong"): void {
    this.#heard.get(type)?.();
  }
  ping(): void {
    this.pings++;
  }
  terminate(): void {
    this.ended = true;
  }
}

function connected(socket: Unread, options: { pingMs?: number } = {}) {
  useFakeTimers();
  const transport = webSocketTransport(socket, options);
  const closed: unknown[] = [];
  transport.open({ frame: () => {}, drained: () => {}, closed: (reason: unknown) => closed.push(reason) } as never);
  return { transport, closed };
}

describe("a client whose server has become silent", () => {
  test("closes with `lost` when nothing has arrived for an interval after a ping", async () => {
    const socket = new Pinged();
    const { closed } = connected(socket);
    await vi.advanceTimersByTimeAsync(29_999);
    expect({ pings: socket.pings, closed }).toEqual({ pings: 1, closed: [] });
    await vi.advanceTimersByTimeAsync(1);
    expect(closed).toEqual([{ code: "lost", message: "no answer to a ping within 15000 ms" }]);
    expect({ ended: socket.ended, timers: vi.getTimerCount() }).toEqual({ ended: true, timers: 0 });
  });

  test.each<[string, (socket: Pinged) => void]>([
    ["a pong", (socket) => socket.hears("pong")],
    ["a ping", (socket) => socket.hears("ping")],
    ["a message", (socket) => socket.arrives(new ArrayBuffer(1))],
  ])("stays connected while %s arrives within each interval", async (_, arrive) => {
    const socket = new Pinged();
    const { closed } = connected(socket, { pingMs: 100 });
    for (let n = 0; n < 50; n++) {
      await vi.advanceTimersByTimeAsync(99);
      arrive(socket);
      await vi.advanceTimersByTimeAsync(1);
    }
    expect({ pings: socket.pings, closed }).toEqual({ pings: 50, closed: [] });
  });

  test("waits while its own socket is paused, because it reads no answer then", async () => {
    const socket = new Pinged();
    const { closed } = connected(socket, { pingMs: 100 });
    socket.isPaused = true;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(closed).toEqual([]);
    socket.isPaused = false;
    await vi.advanceTimersByTimeAsync(200);
    expect(closed).toHaveLength(1);
  });

  test("has no timer if its socket cannot ping, as in a browser", () => {
    connected(new Unread());
    expect(vi.getTimerCount()).toBe(0);
  });
});
