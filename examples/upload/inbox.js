// SPDX-License-Identifier: MIT OR Apache-2.0
import { once } from "node:events";
import { createServer } from "node:http";
import { crc32 } from "node:zlib";

/** Starts a server that receives uploads. It counts the received bytes and refuses a chunk with a wrong CRC-32. */
export async function startInbox() {
  let receivedBytes = 0;
  const server = createServer(async (request, response) => {
    const chunk = Buffer.concat(await request.toArray());
    if (crc32(chunk).toString(16) !== request.headers["x-crc32"]) return response.writeHead(422).end("wrong CRC-32");
    receivedBytes += chunk.length;
    response.end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}/`, receivedBytes: () => receivedBytes, close: () => server.close() };
}
