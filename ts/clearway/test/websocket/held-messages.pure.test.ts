// SPDX-License-Identifier: MIT OR Apache-2.0
// The smallest messages that there are, from a peer that ignores the window, while this end reads none. An empty message takes as much memory
// as 128 bytes of a large one.
import { afterEach, describe, expect, test, vi } from "vitest";
import { SocketTransport } from "../../src/websocket/socket-transport.js";
import { useFakeTimers, useRealTimers } from "../fixtures/fake-timers.js";
import { Unread } from "./unread-socket.js";

afterEach(() => useRealTimers());

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
