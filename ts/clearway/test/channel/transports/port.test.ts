// SPDX-License-Identifier: MIT OR Apache-2.0
import { describe, expect, test } from "vitest";
import { portTransport } from "../../../src/channel/transport/port-transports.js";
import { type Connected, channelTransportContract } from "./contract.js";

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
