// SPDX-License-Identifier: MIT OR Apache-2.0
// The HTTP fixtures, and the HTTP/2 server with a feed. The fixture server and the page's server have the first, because a page
// may only fetch from its own origin.

import type { ServerResponse } from "node:http";
import http2 from "node:http2";
import { type Asked, refuse } from "../../../../scripts/local-server.mjs";
import { makeStudents } from "../isolate/student.js";

/** Maximum number of students in a body: 2 million are about 90 MB. */
const STUDENTS_MAX = 2_000_000;

/** Returns the number of rows of `GET /students?rows=N`, or undefined for other requests. */
function rowsOf({ method, path, query }: Asked): number | undefined {
  const found = method === "GET" && path === "/students" ? /^rows=(\d{1,7})$/.exec(query) : null;
  const rows = Number(found?.[1]);
  return rows >= 1 && rows <= STUDENTS_MAX ? rows : undefined;
}

/** The last bodies by number of rows, with the number of responses that still send each. */
const bodies = new Map<number, { readonly json: Buffer; readers: number }>();
const BODIES_MAX = 4;

/**
 * Sends the JSON of students. Keeps the last bodies, so that only the first request pays for making one. Refuses another body while clients
 * still read all kept ones: a client that never reads must not cost memory for each number of rows.
 */
function sendStudents(rows: number, response: ServerResponse, headers: Record<string, string>): void {
  if (!bodies.has(rows) && bodies.size >= BODIES_MAX) {
    const idle = [...bodies].find(([, { readers }]) => readers === 0);
    if (idle === undefined) return refuse(response, 503);
    bodies.delete(idle[0]);
  }
  const body = bodies.get(rows) ?? { json: Buffer.from(JSON.stringify(makeStudents(rows))), readers: 0 };
  bodies.set(rows, body);
  body.readers++;
  response.once("close", () => body.readers--);
  response.writeHead(200, { ...headers, "content-type": "application/json", "content-length": body.json.length });
  response.end(body.json);
}

/** The methods of the fixtures. */
export const FIXTURE_METHODS = ["GET", "HEAD", "POST"];

/** Answers a request for a fixture. Returns whether the request was for one. */
export function answerFixture(asked: Asked, response: ServerResponse, image: Uint8Array): boolean {
  const { request, method, path } = asked;
  const headers = { "cache-control": "no-store", "cross-origin-resource-policy": "same-origin" };
  if (method === "GET" && path === "/image") {
    response.writeHead(200, { ...headers, "content-type": "application/octet-stream", "content-length": image.length });
    response.end(image);
    return true;
  }
  const rows = rowsOf(asked);
  if (rows !== undefined) {
    sendStudents(rows, response, headers);
    return true;
  }
  if (method === "POST" && path === "/upload") {
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

// The HTTP/2 fixture, without TLS: GET /feed?bytes=N&chunk=M sends N bytes in chunks, and POST /feed counts the bytes of its body.

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
