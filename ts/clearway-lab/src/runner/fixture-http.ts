// SPDX-License-Identifier: MIT OR Apache-2.0
// The three HTTP fixtures. The fixture server and the page's server both have them, because a page may only fetch from its own origin.
import type { IncomingMessage, ServerResponse } from "node:http";
import { makeStudents } from "../isolate/student.js";

/** Maximum number of students in a body: 2 million are about 90 MB. */
const STUDENTS_MAX = 2_000_000;

/** Returns the number of rows of `GET /students?rows=N`, or undefined for other requests. */
function rowsOf({ method, url = "" }: IncomingMessage): number | undefined {
  const found = method === "GET" ? /^\/students\?rows=(\d{1,7})$/.exec(url) : null;
  const rows = Number(found?.[1]);
  return rows >= 1 && rows <= STUDENTS_MAX ? rows : undefined;
}

/** The last bodies by number of rows. */
const bodies = new Map<number, Buffer>();
const BODIES_MAX = 4;

/** Returns the JSON of students. Keeps the last bodies, so that only the first request pays for making one. */
function studentsBody(rows: number): Buffer {
  const kept = bodies.get(rows);
  if (kept !== undefined) return kept;
  const body = Buffer.from(JSON.stringify(makeStudents(rows)));
  if (bodies.size >= BODIES_MAX) bodies.delete(bodies.keys().next().value!);
  bodies.set(rows, body);
  return body;
}

/** Answers a request for a fixture. Returns whether the request was for one. */
export function answerFixture(request: IncomingMessage, response: ServerResponse, image: Uint8Array): boolean {
  const headers = { "cache-control": "no-store", "cross-origin-resource-policy": "same-origin" };
  if (request.method === "GET" && request.url === "/image") {
    response.writeHead(200, { ...headers, "content-type": "application/octet-stream", "content-length": image.length });
    response.end(image);
    return true;
  }
  const rows = rowsOf(request);
  if (rows !== undefined) {
    const body = studentsBody(rows);
    response.writeHead(200, { ...headers, "content-type": "application/json", "content-length": body.length });
    response.end(body);
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
