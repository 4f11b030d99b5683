// SPDX-License-Identifier: MIT OR Apache-2.0
import { crc32 } from "node:zlib";

/**
 * Receives one chunk of an upload. Checks the chunk against its header `x-crc32` and discards it.
 *
 * @param {import("node:http").IncomingMessage} request
 * @param {import("node:http").ServerResponse} response
 */
export async function receiveChunk(request, response) {
  let bytes = 0;
  let crc = 0;
  for await (const piece of request) {
    bytes += piece.length;
    crc = crc32(piece, crc);
  }
  const claimed = Number.parseInt(String(request.headers["x-crc32"]), 16);
  if (claimed !== crc) return response.writeHead(422).end(`crc32=${crc.toString(16)} claimed=${claimed.toString(16)}`);
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ bytes }));
}
