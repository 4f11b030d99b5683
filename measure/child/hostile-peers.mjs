// SPDX-License-Identifier: MIT OR Apache-2.0
// node measure/child/hostile-peers.mjs PORT KIND COUNT: runs COUNT misbehaving peers against the server on that loopback port, until its
// parent kills it or disconnects. Sends "on" to its parent when all peers misbehave.
import { connect } from "node:net";
import { source } from "../source.mjs";

const { Peer, callFrame } = await source("ts/clearway/test/channel/hostile/peer.ts");
const { webSocket } = await source("ts/clearway/test/channel/hostile/carriers.ts");
const [port, kind, count] = process.argv.slice(2);

function open() {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), "127.0.0.1", () => resolve(new Peer(socket, webSocket)));
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
process.on("disconnect", () => process.exit(0));
setInterval(() => {}, 1 << 30);
