// SPDX-License-Identifier: MIT OR Apache-2.0
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { CloseReason } from "../../src/channel/transport/transport.js";
import { streamTransport } from "../../src/stdio/stdio-transport.js";
import { channelTransportContract } from "../channel/transports/contract.js";
import { socketPair } from "./socket-pair.js";

channelTransportContract("stdio, over sockets", async (wanted) => {
  const [one, other] = await socketPair();
  return {
    a: streamTransport({ readable: one, writable: one }, wanted),
    b: streamTransport({ readable: other, writable: other }, wanted),
    kill: () => other.resetAndDestroy(),
    dispose: () => {
      one.destroy();
      other.destroy();
    },
  };
});

channelTransportContract("stdio, over pairs of streams", (wanted) => {
  const there = new PassThrough();
  const back = new PassThrough();
  return {
    a: streamTransport({ readable: back, writable: there }, wanted),
    b: streamTransport({ readable: there, writable: back }, wanted),
    kill: () => {
      back.end();
      there.destroy();
    },
  };
});

test("a transport that is closed before it is opened tells the other end, and releases its streams", async () => {
  const [one, other] = await socketPair();
  const transport = streamTransport({ readable: one, writable: one });
  const there = new Promise<CloseReason>((closed) => {
    const sink = { frame: () => {}, drained: () => {}, closed };
    streamTransport({ readable: other, writable: other }).open(sink);
  });
  transport.close({ code: "refused", message: "full" });
  expect(await there).toMatchObject({ code: "refused" });
  // The socket was read to its end, and closed.
  if (!one.closed) await once(one, "close");
  const reason = new Promise<CloseReason>((closed) => transport.open({ frame: () => {}, drained: () => {}, closed }));
  expect(await reason).toMatchObject({ code: "refused", message: "full" });
});
