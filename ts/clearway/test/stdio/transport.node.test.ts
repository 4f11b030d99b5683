// SPDX-License-Identifier: MIT OR Apache-2.0
import { PassThrough } from "node:stream";
import { streamTransport } from "../../src/stdio/stream-transport.js";
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
