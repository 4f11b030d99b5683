// SPDX-License-Identifier: MIT OR Apache-2.0
// A plain HTTP server in each worker process, and a client that keeps its connections open and takes the servers in turn. Node only.
import http from "node:http";
import { readBody, refuse, serveLocally } from "../../../../scripts/local-server.mjs";
import type { RemoteKind } from "./kind.js";

/** The caller's agent opens a connection for each call in flight. */
const CONNECTIONS_MAX = 4096;
/** Larger than every measured body. */
const BODY_BYTES_MAX = 64 << 20;

export const httpKind: RemoteKind = {
  durable: false,
  async open(_place, addresses) {
    const agent = new http.Agent({ keepAlive: true });
    let next = 0;
    return {
      call: (bytes) => post(addresses[next++ % addresses.length] as string, bytes, agent),
      async close() {
        agent.destroy();
      },
    };
  },
  async serve() {
    const { url } = await serveLocally(
      async ({ request }, response) => {
        const bytes = await readBody(request, BODY_BYTES_MAX);
        if (bytes === "too large") refuse(response, 413);
        else if (bytes !== "incomplete") response.end(bytes);
      },
      { methods: ["POST"], keepAliveMs: 60_000, connectionsMax: CONNECTIONS_MAX },
    );
    return { address: url };
  },
};

function post(url: string, bytes: Uint8Array, agent: http.Agent): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { method: "POST", agent, headers: { "content-length": bytes.length } });
    request.on("error", reject);
    request.on("response", (response) => collect(response).then(resolve, reject));
    request.end(bytes);
  });
}

function collect(message: http.IncomingMessage): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    message.on("data", (chunk: Buffer) => chunks.push(chunk));
    message.on("error", reject);
    message.on("end", () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
  });
}
