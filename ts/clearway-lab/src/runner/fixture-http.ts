// SPDX-License-Identifier: MIT OR Apache-2.0
// The two HTTP fixtures. The fixture server and the page's server both have them, because a page may only fetch from its own origin.
import type { IncomingMessage, ServerResponse } from "node:http";

/** Answers a request for a fixture. Returns whether the request was for one. */
export function answerFixture(request: IncomingMessage, response: ServerResponse, image: Uint8Array): boolean {
  const headers = { "cache-control": "no-store", "cross-origin-resource-policy": "same-origin" };
  if (request.method === "GET" && request.url === "/image") {
    response.writeHead(200, { ...headers, "content-type": "application/octet-stream", "content-length": image.length });
    response.end(image);
    return true;
  }
  if (request.method === "POST" && request.url === "/upload") {
    let receivedBytes = 0;
    request.on("data", (chunk: Buffer) => (receivedBytes += chunk.length));
    request.on("end", () => {
      response.writeHead(200, { ...headers, "content-type": "application/json" });
      response.end(JSON.stringify({ receivedBytes }));
    });
    return true;
  }
  return false;
}
