// SPDX-License-Identifier: MIT OR Apache-2.0
// The three HTTP fixtures. The fixture server and the page's server both have them, because a page may only fetch from its own origin.
import type { ServerResponse } from "node:http";
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
