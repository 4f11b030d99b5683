// SPDX-License-Identifier: MIT OR Apache-2.0
// Measures how much eight misbehaving peers slow down an honest client of a channel server. Also measures how much memory one such peer
// costs the server. Server and peers are processes of hostile-child.mjs.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { connect } from "clearway/channel";
import { webSocketTransport } from "clearway/channel/websocket";
import WebSocket from "ws";

const child = fileURLToPath(new URL("hostile-child.mjs", import.meta.url));
const kinds = ["never reads", "fills its places", "announces and waits", "says nothing"];
const rounds = 6;
const calls = 3000;
const warmUp = 3000;

/**
 * Yields two figures for each kind of peer. The first is an honest client's p99 with eight such peers divided by its p99 without them, one
 * ratio per round. The second is the growth of the server's peak memory through one such peer, in MiB. Takes about 50 s.
 */
export async function* hostilePeers() {
  for (const kind of kinds) {
    const samples = await withServer(async (_server, port, echo) => {
      const ratios = [];
      for (let round = 0; round < rounds; round++) {
        const alone = await p99(echo, calls);
        await attacked(port, kind, 8, async () => ratios.push((await p99(echo, calls)) / alone));
      }
      return ratios;
    });
    const name = `an honest client's p99 beside eight peers over its p99 alone: each ${kind}`;
    yield { name, unit: "ratio", sense: "at most", limit: 2, samples };

    const grown = await withServer(async (server, port, echo) => {
      const before = await peakOf(server);
      await attacked(port, kind, 1, () => p99(echo, calls));
      return ((await peakOf(server)) - before) / (1 << 20);
    });
    yield {
      name: `memory of a server for a peer that ${kind}`,
      unit: "MiB",
      sense: "at most",
      limit: 64,
      samples: [grown],
    };
  }
}

/** Starts a server. Calls `act` with the server, its port and a warm channel of a client. Returns the result of `act`. */
async function withServer(act) {
  const server = fork(child, ["server"], { execArgv: ["--expose-gc"] });
  try {
    const [{ url }] = await once(server, "message");
    const endpoint = await connect(webSocketTransport(url, { WebSocket }));
    const echo = endpoint.messages("echo");
    await p99(echo, warmUp);
    const found = await act(server, new URL(url).port, echo);
    endpoint.terminate();
    return found;
  } finally {
    server.kill("SIGKILL");
  }
}

/** Calls `act` while `count` peers misbehave. */
async function attacked(port, kind, count, act) {
  const peers = fork(child, ["peers", port, kind, `${count}`]);
  try {
    const failed = new AbortController();
    peers.once("exit", (code) => failed.abort(new Error(`the peers ended: exit status ${code}`)));
    await once(peers, "message", { signal: failed.signal });
    await act();
  } finally {
    if (peers.kill("SIGKILL")) await once(peers, "exit");
  }
}

async function peakOf(server) {
  server.send("memory");
  const [{ peakBytes }] = await once(server, "message");
  return peakBytes;
}

/** Returns the 99th percentile of `count` consecutive calls, in milliseconds. */
async function p99(echo, count) {
  const took = new Float64Array(count);
  for (let at = 0; at < count; at++) {
    const from = performance.now();
    await echo.send(at);
    took[at] = performance.now() - from;
  }
  return took.sort()[Math.floor(count * 0.99)];
}
