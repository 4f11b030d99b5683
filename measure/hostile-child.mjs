// SPDX-License-Identifier: MIT OR Apache-2.0
// node measure/hostile-child.mjs server: serves WebSockets to any client. Sends its URL to its parent, and answers each message of the
// parent with its own peak memory.
// node measure/hostile-child.mjs peers PORT KIND COUNT: runs COUNT misbehaving peers against that server. Sends "on" to its parent when all
// of them misbehave.
import { connect as connectSocket } from "node:net";
import { connect } from "clearway/channel";
import { serveWebSockets } from "clearway/channel/websocket-server";

const [role, ...args] = process.argv.slice(2);
process.on("disconnect", () => process.exit(0));
await (role === "server" ? serve() : misbehave(...args));

async function serve() {
  const answerBytes = 10_000;

  const server = await serveWebSockets({ token: false }, async (transport) => {
    const end = await connect(transport, { onError() {} });
    end.messages("echo").handle((value) => value);
    end.messages("large").handle(() => new Uint8Array(answerBytes));
    end.messages("held").handle(() => new Promise(() => {}));
    await end.closed;
  });

  process.on("message", () => {
    globalThis.gc();
    // maxRSS is in kibibytes. It is the peak of this process since its start.
    process.send({ peakBytes: process.resourceUsage().maxRSS * 1024 });
  });
  process.send({ url: server.url });
}

async function misbehave(port, kind, count) {
  const { source } = await import("./source.mjs"); // not in the server, whose memory is measured
  const { Peer, callFrame, webSocket } = await source("ts/clearway/test/channel/hostile/carriers.ts");

  function open() {
    return new Promise((resolve, reject) => {
      const socket = connectSocket(Number(port), "127.0.0.1", () => resolve(new Peer(socket, webSocket)));
      socket.once("error", reject);
    });
  }

  const kinds = {
    /** Requests 100 MB of answers and reads nothing. */
    async "never reads"() {
      const peer = (await open()).greet();
      peer.socket.pause();
      for (let id = 1; id <= 10_000; id++) peer.send(callFrame(id, "large"));
    },
    /** Makes calls that never end. They use up the number of open calls that a peer may have. */
    async "fills its places"() {
      const peer = (await open()).greet();
      for (let id = 1; id <= 10_000; id++) peer.send(callFrame(id, "held"));
    },
    /** Sends the largest message except for its last byte. */
    async "announces and waits"() {
      const peer = (await open()).greet();
      peer.raw(webSocket.announce(1 << 20)).raw(new Uint8Array((1 << 20) - 1));
    },
    /** Opens the connection and sends nothing. */
    async "says nothing"() {
      await open();
    },
  };

  await Promise.all(Array.from({ length: Number(count) }, kinds[kind]));
  process.send("on");
  setInterval(() => {}, 1 << 30);
}
