// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import { portTransport } from "../../../src/channel/transport/port-transports.js";
import { SendWindow } from "../../../src/channel/transport/transport.js";
import { Log } from "./contract.js";

test("a full window has no room until half of it is acknowledged, and every sent half requests an acknowledgement", () => {
  const window = new SendWindow(100);
  expect([window.sent(40), window.sent(10), window.sent(49), window.room]).toEqual([false, true, false, true]);
  expect([window.sent(1), window.room, window.taken(40), window.room]).toEqual([true, false, false, false]);
  expect([window.taken(10), window.room, window.taken(1000), window.room]).toEqual([true, true, false, true]);
});

test("endpoints with different window sizes do not deadlock", async () => {
  const { port1, port2 } = new MessageChannel();
  const a = portTransport(port1, { windowBytes: 100 });
  const b = portTransport(port2, { windowBytes: 1 << 20 });
  const [atA, atB] = [new Log(), new Log()];
  a.open(atA);
  b.open(atB);
  for (let round = 1; round <= 20; round++) {
    while (a.send(new Uint8Array(30)));
    await atA.until(() => atA.drains === round);
  }
  expect(atB.reasons).toEqual([]);
  a.close();
  await Promise.all([atA.end(), atB.end()]);
});

test("invalid limits, and a port that is not a port, are refused", () => {
  expect(() => memoryPair({ frameBytesMax: 0 })).toThrow("frameBytesMax must be a whole number");
  expect(() => memoryPair({ windowBytes: Number.NaN })).toThrow(
    "windowBytes must be a number, 1 or more: windowBytes=NaN",
  );
  expect(() => portTransport({} as never)).toThrow("port must be a MessagePort or a worker");
});
