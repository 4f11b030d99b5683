// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { ringMemory } from "../../../src/channel/transport/channel-ring-port.js";
import { portTransport } from "../../../src/channel/transport/port-transports.js";
import { type Connected, channelTransportContract, Log } from "./contract.js";

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
