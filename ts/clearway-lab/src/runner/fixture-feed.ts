// SPDX-License-Identifier: MIT OR Apache-2.0
// The HTTP/2 fixture, without TLS: GET /feed?bytes=N&chunk=M sends N bytes in chunks, and POST /feed counts the bytes of its body.
import http2 from "node:http2";

/** Maximum number of bytes of a feed, and of a chunk. */
const FEED_BYTES_MAX = 1 << 30;
const CHUNK_BYTES_MAX = 16 << 20;

/** Returns the server. The caller listens, and closes it. */
export function startFeed(): http2.Http2Server {
  const server = http2.createServer();
  server.on("stream", (stream, headers) => {
    // A client that ends its process resets its streams.
    stream.on("error", () => stream.destroy());
    const url = new URL(String(headers[":path"]), "http://feed");
    const [bytes, chunk] = ["bytes", "chunk"].map((name) => Number(url.searchParams.get(name)));
    if (url.pathname !== "/feed") stream.respond({ ":status": 404 }, { endStream: true });
    else if (headers[":method"] === "POST") answerUpload(stream);
    else if (!isSize(bytes, FEED_BYTES_MAX) || !isSize(chunk, CHUNK_BYTES_MAX))
      stream.respond({ ":status": 400 }, { endStream: true });
    else send(stream, bytes, chunk);
  });
  return server;
}

function isSize(value: number | undefined, max: number): value is number {
  return Number.isInteger(value) && value! > 0 && value! <= max;
}

/** Sends the feed under the stream's back-pressure. */
function send(stream: http2.ServerHttp2Stream, bytes: number, chunk: number): void {
  stream.respond({ ":status": 200, "content-length": bytes });
  const full = new Uint8Array(chunk).fill(7);
  let sent = 0;
  const more = () => {
    while (sent < bytes) {
      const part = full.subarray(0, Math.min(chunk, bytes - sent));
      sent += part.length;
      if (!stream.write(part)) {
        stream.once("drain", more);
        return;
      }
    }
    stream.end();
  };
  more();
}

function answerUpload(stream: http2.ServerHttp2Stream): void {
  let receivedBytes = 0;
  stream.on("data", (part: Buffer) => {
    receivedBytes += part.length;
  });
  stream.on("end", () => {
    stream.respond({ ":status": 200, "content-type": "application/json" });
    stream.end(JSON.stringify({ receivedBytes }));
  });
}
