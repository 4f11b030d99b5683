// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { ringMemory } from "../../../src/channel/transport/channel-ring-port.js";
import { memoryPair } from "../../../src/channel/transport/memory.js";
import { Post, portMark } from "../../../src/channel/transport/port-message.js";
import { portTransport } from "../../../src/channel/transport/port-transports.js";
import { SendWindow } from "../../../src/channel/transport/transport.js";
import { Op } from "../../../src/transport/protocol.js";
import { type Connected, channelTransportContract, Log } from "./contract.js";

channelTransportContract("memory", (wanted) => {
  const [a, b] = memoryPair(wanted);
  return { a, b };
});

channelTransportContract("port", (wanted): Connected => {
  const { port1, port2 } = new MessageChannel();
  const ends = { a: portTransport(port1, wanted), b: portTransport(port2, wanted) };
  // Chromium does not notify a port when its other end closes without a close message.
  return "on" in port2 ? { ...ends, kill: () => port2.close() } : ends;
});

describe("a port transport", () => {
  // A frame from a codec may share its buffer with frames for other channels, whose receivers must not see each other's bytes.
  const neighbours = (bytes: number): Uint8Array =>
    new Uint8Array(bytes + 4096)
      .fill(9)
      .subarray(64, 64 + bytes)
      .fill(1);
  const messages = (port: MessagePort, count: number): Promise<unknown[][]> =>
    new Promise((resolve) => {
      const all: unknown[][] = [];
      port.onmessage = ({ data }) => {
        if (data[1] === 0 && all.push(data) === count) resolve(all);
      };
    });

  test.for([16, 2000, 8192])("posts none of the memory around a frame of %i bytes", async (bytes) => {
    const { port1, port2 } = new MessageChannel();
    const received = messages(port2, 2);
    const transport = portTransport(port1);
    transport.open({ frame() {}, drained() {}, closed() {} });
    transport.send(neighbours(bytes));
    transport.send(neighbours(bytes), [new Uint8Array(32)]);
    const arrived = (await received).map((message) => message[3] as Uint8Array);
    for (const { buffer, byteLength } of arrived) expect([buffer.byteLength, byteLength]).toEqual([bytes, bytes]);
    transport.close();
    port2.close();
  });

  test.runIf(typeof SharedArrayBuffer === "function")("posts a copy of a frame that is in shared memory", async () => {
    const { port1, port2 } = new MessageChannel();
    const received = messages(port2, 1);
    const transport = portTransport(port1);
    transport.open({ frame() {}, drained() {}, closed() {} });
    transport.send(new Uint8Array(new SharedArrayBuffer(16)));
    const [message] = await received;
    expect((message as Uint8Array[])[3]?.buffer).toBeInstanceOf(ArrayBuffer);
    transport.close();
    port2.close();
  });
});

const connect = (wanted: object): Connected => {
  const { port1, port2 } = new MessageChannel();
  const ends = {
    a: portTransport(port1, { ...wanted, ring: "offer" }),
    b: portTransport(port2, { ...wanted, ring: "accept" }),
  };
  return "on" in port2 ? { ...ends, kill: () => port2.close() } : ends;
};

// Also runs without shared memory: the transport is then a plain port.
channelTransportContract("port with a ring", connect);
channelTransportContract("port with a ring, from the end that accepts it", (wanted) => {
  const { a, b } = connect(wanted);
  return { a: b, b: a };
});

/** Counts the messages posted to a port. */
function counted(port: MessagePort): { port: MessagePort; posts: () => number } {
  const post = port.postMessage.bind(port);
  let posts = 0;
  port.postMessage = ((message: unknown, transfer: never[]) => {
    posts++;
    post(message, transfer);
  }) as never;
  return { port, posts: () => posts };
}

describe.runIf(typeof SharedArrayBuffer === "function")("the ring of a port", () => {
  test("takes over small frames, and keeps their order relative to frames sent by port", async () => {
    const { port1, port2 } = new MessageChannel();
    const [one, two] = [counted(port1), counted(port2)];
    const a = portTransport(one.port, { ring: "offer" });
    const b = portTransport(two.port, { ring: "accept" });
    const [atA, atB] = [new Log(), new Log()];
    a.open(atA);
    b.open(atB);
    // The first 4 bytes hold the frame's number. Its size decides between ring and port.
    const frame = (n: number, bytes: number): Uint8Array => new Uint8Array(new Uint32Array(bytes / 4).fill(n).buffer);
    let sent = 0;
    for (let round = 0; round < 200; round++) {
      for (const bytes of [16, 400, 16, 600, 16, 8192]) {
        a.send(frame(sent, bytes));
        b.send(frame(sent, bytes));
        sent++;
      }
      await Promise.all([atA.count(sent), atB.count(sent)]);
    }
    for (const { frames } of [atA, atB])
      expect(frames.map(({ buffer, byteOffset }) => new Uint32Array(buffer, byteOffset, 1)[0])).toEqual(
        Array.from({ length: sent }, (_, n) => n),
      );
    // Two of the six are too large for the ring, and each may also need a wake-up message for the other end.
    expect(one.posts()).toBeLessThan(sent);
    a.close();
    await Promise.all([atA.end(), atB.end()]);
  });

  test("that was not negotiated, or whose memory is invalid, closes the transport", async () => {
    for (const [ring, memory] of [
      [undefined, new SharedArrayBuffer(8)],
      ["accept", new SharedArrayBuffer(8)],
      ["accept", 7],
      ["offer", new SharedArrayBuffer(8)],
    ] as const) {
      const { port1, port2 } = new MessageChannel();
      const end = portTransport(port1, ring && { ring });
      const log = new Log();
      end.open(log);
      port2.postMessage(["clearway.channel", 4, memory]);
      expect(await log.end()).toMatchObject({ code: "protocol" });
      port2.close();
    }
  });

  test("reads messages by their slots, whatever properties the array of a hostile end has", async () => {
    const { port1, port2 } = new MessageChannel();
    const end = portTransport(port1, { ring: "accept" });
    const log = new Log();
    end.open(log);
    port2.postMessage([portMark, Post.ring, ringMemory()]);
    const message = [Op.Mark, 1, undefined, undefined, portMark, Post.frames, [1], new Uint8Array([7])];
    port2.postMessage(Object.assign(message, { slice: 1 }));
    await log.count(1);
    expect([...log.frames[0]!]).toEqual([7]);
    end.close();
    port2.close();
  });

  test("closes the transport when the other end offers a second ring", async () => {
    const { port1, port2 } = new MessageChannel();
    const end = portTransport(port1, { ring: "accept" });
    const log = new Log();
    end.open(log);
    for (let offers = 0; offers < 2; offers++) port2.postMessage(["clearway.channel", 4, ringMemory()]);
    expect(await log.end()).toMatchObject({ code: "protocol" });
    port2.close();
  });
});

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
