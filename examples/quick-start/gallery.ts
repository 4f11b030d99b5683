// SPDX-License-Identifier: MIT OR Apache-2.0
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Starts a server of photos on loopback. The server counts its connections. */
export async function startGallery() {
  let connections = 0;
  const server = createServer((_, response) => response.end(Buffer.alloc(4096, 90)));
  server.on("connection", () => connections++);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, connections: () => connections, close: () => server.close() };
}
