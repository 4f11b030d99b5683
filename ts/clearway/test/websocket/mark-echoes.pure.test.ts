// SPDX-License-Identifier: MIT OR Apache-2.0
import { afterEach, expect, test, vi } from "vitest";
import { windowBytesOf } from "../../src/channel/transport/transport.js";
import { markText } from "../../src/websocket/socket.js";
import { SocketTransport } from "../../src/websocket/socket-transport.js";
import { useFakeTimers, useRealTimers } from "../fixtures/fake-timers.js";
import { Unread } from "./unread-socket.js";

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
