// SPDX-License-Identifier: MIT OR Apache-2.0
// A plain HTTP server in each worker process, and a client that keeps its connections open and takes the servers in turn. Node only.
import { once } from "node:events";
import http from "node:http";
import type { AddressInfo } from "node:net";
import type { RemoteKind } from "./kind.js";

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
    const server = http.createServer((request, response) => {
      collect(request).then(
        (bytes) => response.end(bytes),
        () => response.destroy(),
      );
    });
    server.keepAliveTimeout = 60_000;
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
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
