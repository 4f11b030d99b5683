// SPDX-License-Identifier: MIT OR Apache-2.0
import { crc32 } from "node:zlib";
import { readBody, refuse, serveLocally } from "../../scripts/local-server.mjs";

/** Each request has one chunk of the upload. */
const chunkBytesMax = 16 * 1024 * 1024;

/** Starts a server that receives uploads. It counts the received bytes and refuses a chunk with a wrong CRC-32. */
export async function startInbox() {
  let receivedBytes = 0;
  const { url, close } = await serveLocally(
    async ({ request }, response) => {
      const chunk = await readBody(request, chunkBytesMax);
      if (chunk === "too large") return refuse(response, 413);
      if (chunk === "incomplete") return;
      if (crc32(chunk).toString(16) !== request.headers["x-crc32"]) return response.writeHead(422).end("wrong CRC-32");
      receivedBytes += chunk.length;
      response.end();
    },
    { methods: ["POST"] },
  );
  return { url, receivedBytes: () => receivedBytes, close };
}
