// SPDX-License-Identifier: MIT OR Apache-2.0
// The HTTP/2 fixture, without TLS: GET /feed?bytes=N&chunk=M sends N bytes in chunks, and POST /feed counts the bytes of its body.
import http2 from "node:http2";

/** Maximum number of bytes of a feed, and of a chunk. */
const FEED_BYTES_MAX = 1 << 30;
const CHUNK_BYTES_MAX = 16 << 20;

/** The sent bytes. All streams share them, because a client may open any number of streams and read none. */
const full = new Uint8Array(CHUNK_BYTES_MAX).fill(7);

/** Returns the server. The caller listens on 127.0.0.1, and closes it. */
export function startFeed(): http2.Http2Server {
  const server = http2.createServer();
  server.on("stream", (stream, headers) => {
    // A client that ends its process resets its streams.
    stream.on("error", () => stream.destroy());
    const refuse = (status: number) => stream.respond({ ":status": status }, { endStream: true });
    const [path, query] = String(headers[":path"]).split("?", 2);
    const asked = new URLSearchParams(query);
    const [bytes, chunk] = ["bytes", "chunk"].map((name) => Number(asked.get(name)));
    // A client may reset its stream before it is answered.
    if (stream.destroyed) return;
    const { localPort } = stream.session?.socket ?? {};
    if ((headers[":authority"] ?? headers.host) !== `127.0.0.1:${localPort}`) refuse(403);
    else if (path !== "/feed") refuse(404);
    else if (headers[":method"] === "POST") answerUpload(stream);
    else if (headers[":method"] !== "GET") refuse(405);
    else if (!isSize(bytes, FEED_BYTES_MAX) || !isSize(chunk, CHUNK_BYTES_MAX)) refuse(400);
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
  let sent = 0;
  const more = () => {
    while (sent < bytes && !stream.destroyed) {
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
    if (stream.destroyed) return;
    stream.respond({ ":status": 200, "content-type": "application/json" });
    stream.end(JSON.stringify({ receivedBytes }));
  });
}
