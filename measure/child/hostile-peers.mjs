// SPDX-License-Identifier: MIT OR Apache-2.0
// node measure/child/hostile-peers.mjs PORT KIND COUNT: so many peers that misbehave against the server on that port of loopback until this process
// is killed. Sends "on" to its parent when all of them do.
import { connect } from "node:net";
import { source } from "../../bench/host/source.mjs";

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
  /** Calls for 100 MB of answers each, and reads nothing. */
  async "never reads"() {
    const peer = (await open()).greet();
    peer.socket.pause();
    for (let id = 1; id <= 10_000; id++) peer.send(callFrame(id, "large"));
  },
  /** Calls and never lets go of its places. */
  async "fills its places"() {
    const peer = (await open()).greet();
    for (let id = 1; id <= 10_000; id++) peer.send(callFrame(id, "held"));
  },
  /** Sends the beginning of the largest message, and no more. */
  async "announces and waits"() {
    const peer = (await open()).greet();
    peer.raw(webSocket.announce(1 << 20)).raw(new Uint8Array((1 << 20) - 1));
  },
  /** Opens the connection and says nothing. */
  async "says nothing"() {
    await open();
  },
};

await Promise.all(Array.from({ length: Number(count) }, kinds[kind]));
process.send("on");
process.on("disconnect", () => process.exit(0));
setInterval(() => {}, 1 << 30);
