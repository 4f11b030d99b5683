// SPDX-License-Identifier: MIT OR Apache-2.0
import { crc32 } from "node:zlib";
import { refuse } from "../../../scripts/local-server.mjs";

/** The page sends chunks of 32 MiB. */
const chunkBytesMax = 64 * 1024 * 1024;

/**
 * Receives one chunk of an upload. Checks the chunk against its header `x-crc32` and discards it. Keeps nothing of it in memory.
 *
 * @param {import("node:http").IncomingMessage} request
 * @param {import("node:http").ServerResponse} response
 */
export async function receiveChunk(request, response) {
  let bytes = 0;
  let crc = 0;
  // A refusal must not end the connection before it is sent.
  for await (const piece of request.iterator({ destroyOnReturn: false })) {
    bytes += piece.length;
    if (bytes > chunkBytesMax) return refuse(response, 413);
    crc = crc32(piece, crc);
  }
  const claimed = Number.parseInt(String(request.headers["x-crc32"]), 16);
  if (claimed !== crc) return response.writeHead(422).end(`crc32=${crc.toString(16)} claimed=${claimed.toString(16)}`);
  return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ bytes }));
}
