// SPDX-License-Identifier: MIT OR Apache-2.0
import type { IncomingMessage } from "node:http";

/**
 * Reads the body of a request. Settles when the body is complete, larger than `bytesMax`, or when its connection ended. Never rejects.
 * Keeps at most `bytesMax` and one chunk in memory.
 */
export function readBody(
  request: IncomingMessage,
  bytesMax: number,
): Promise<{ text: string } | "too large" | "incomplete"> {
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) return Promise.resolve("too large");
  return new Promise((settle) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= bytesMax) chunks.push(chunk);
      else {
        chunks.length = 0;
        request.pause();
        settle("too large");
      }
    });
    request.once("end", () => settle({ text: Buffer.concat(chunks).toString("utf8") }));
    request.once("error", () => settle("incomplete"));
    request.once("close", () => settle("incomplete"));
  });
}
