// SPDX-License-Identifier: MIT OR Apache-2.0
// The HTTP server of everything that the project serves on loopback: pages, files, fixtures. Every web page that is open on this machine
// can send it requests, and so can every program.
import { createReadStream, realpathSync, statSync } from "node:fs";
import { createServer, STATUS_CODES } from "node:http";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** A browser opens six connections for each page. */
const CONNECTIONS_MAX = 256;
/** Ends a connection on which nothing moves, for example because the client reads nothing. */
const IDLE_MS_MAX = 120_000;

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".htm": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".map": "application/json; charset=utf-8",
  ".txt": "text/plain; charset=utf-8",
  ".ts": "text/plain; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".avif": "image/avif",
  ".ico": "image/x-icon",
  ".wasm": "application/wasm",
  ".woff": "font/woff",
  ".woff2": "font/woff2",
  ".mp4": "video/mp4",
  ".webm": "video/webm",
};

/**
 * Returns the content type for the name of a file.
 *
 * @param {string} name
 */
export function typeOf(name) {
  return TYPES[path.extname(name).toLowerCase()] ?? "application/octet-stream";
}

/**
 * Serves HTTP on 127.0.0.1. Calls `answer` for each request that has a permitted method, names this server in its header Host, and has a
 * path that can be decoded; refuses the others with a status 4xx. Ends a connection that sends a request before the answer to another. If `answer` throws or rejects, the client gets status 500 or the end of
 * its connection, and `onError` gets the error.
 *
 * @param {import("./local-server.d.mts").Answer} answer
 * @param {import("./local-server.d.mts").LocalServerOptions} [options]
 * @returns {Promise<import("./local-server.d.mts").LocalServer>}
 */
export async function serveLocally(answer, options = {}) {
  const { port: wanted = 0, methods = ["GET", "HEAD"], keepAliveMs = 5_000, onError = () => {} } = options;
  const { connectionsMax = CONNECTIONS_MAX } = options;
  const hosts = new Set();
  const answering = new WeakSet();
  const server = createServer({ keepAliveTimeout: keepAliveMs }, async (request, response) => {
    // A client may go at any time.
    request.on("error", () => {});
    response.on("error", () => {});
    // No browser sends a request before it has the answer to the one before. Answers to 200 such requests would be made at the same time.
    const { socket } = request;
    if (answering.has(socket)) return socket.destroy();
    answering.add(socket);
    response.once("close", () => answering.delete(socket));
    try {
      // A page of another site may have the name of its own site resolved to this machine. The browser then takes the answer for its own.
      if (!hosts.has(request.headers.host?.toLowerCase())) return refuse(response, 403);
      if (!methods.includes(request.method)) return refuse(response, 405);
      const asked = askedBy(request);
      if (asked === undefined) return refuse(response, 404);
      await answer(asked, response);
    } catch (error) {
      if (response.headersSent) response.destroy();
      else refuse(response, 500);
      if (!request.destroyed) onError(error);
    }
  });
  server.maxConnections = connectionsMax;
  server.setTimeout(IDLE_MS_MAX);
  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(wanted, "127.0.0.1", () => resolve(undefined));
  });
  // The system may refuse a new connection, for example when too many files are open. The others go on.
  server.removeAllListeners("error").on("error", () => {});
  const { port } = server.address();
  for (const name of ["127.0.0.1", "localhost"]) {
    hosts.add(`${name}:${port}`);
    if (port === 80) hosts.add(name);
  }
  return {
    port,
    url: `http://127.0.0.1:${port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve(undefined));
        server.closeAllConnections();
      }),
  };
}

/** Returns the decoded path and the query, or undefined for a target that is no path. Does not resolve dots. */
function askedBy(request) {
  const target = request.url ?? "";
  const at = target.indexOf("?");
  const encoded = at < 0 ? target : target.slice(0, at);
  if (!encoded.startsWith("/")) return undefined;
  try {
    const decoded = decodeURIComponent(encoded);
    return { request, method: request.method, path: decoded, query: at < 0 ? "" : target.slice(at + 1) };
  } catch {
    return undefined;
  }
}

/**
 * Refuses a request with a status and its name, and ends the connection: the client may still be sending a body.
 *
 * @param {import("node:http").ServerResponse} response
 * @param {number} status
 */
export function refuse(response, status) {
  const text = STATUS_CODES[status] ?? "";
  const headers = { "content-type": "text/plain; charset=utf-8", "content-length": text.length, connection: "close" };
  response.writeHead(status, headers).end(text);
}

/**
 * Sends a file below `folder`, in parts that the client takes. Refuses with 404 what is not a regular file, hidden files, and links that
 * lead out of the folder. A folder whose path ends with a slash has the file index.html.
 *
 * @param {string} folder
 * @param {string} name the path of the file, below the folder
 * @param {import("node:http").ServerResponse} response
 * @param {import("node:http").OutgoingHttpHeaders} [headers]
 */
export async function sendFile(folder, name, response, headers = {}) {
  const found = findFile(folder, name);
  if (found === undefined) return refuse(response, 404);
  const { file, bytes } = found;
  response.writeHead(200, { "content-type": typeOf(file), "content-length": bytes, ...headers });
  // Reads no more than announced if the file grows meanwhile.
  if (response.req.method === "HEAD" || bytes === 0) response.end();
  else await flow(createReadStream(file, { end: bytes - 1 }), response);
}

/**
 * Sends the pieces of a body, each when the client has taken the earlier ones. Calls the iterator's `return` if the client goes.
 *
 * @param {Iterable<Uint8Array> | AsyncIterable<Uint8Array>} pieces
 * @param {import("node:http").ServerResponse} response
 * @param {import("node:http").OutgoingHttpHeaders} headers with a content-length, if it is known
 */
export async function sendPieces(pieces, response, headers) {
  response.writeHead(200, headers);
  if (response.req.method === "HEAD") response.end();
  else await flow(Readable.from(pieces, { objectMode: true, highWaterMark: 1 }), response);
}

/** Pipes a body. A client that goes is no error. */
async function flow(body, response) {
  try {
    await pipeline(body, response);
  } catch (error) {
    if (error.code !== "ERR_STREAM_PREMATURE_CLOSE" && error.code !== "ECONNRESET") throw error;
  }
}

/** Returns the file of a path below `folder`, or undefined if it is not a visible regular file there. */
function findFile(folder, name) {
  const parts = name.split("/").filter((part) => part !== "");
  if (parts.some((part) => part.startsWith(".") || part.includes("\\") || part.includes("\0"))) return undefined;
  try {
    const root = realpathSync(folder);
    const file = realpathSync(path.join(root, ...parts));
    if (file !== root && !isInside(root, file)) return undefined;
    const stats = statSync(file);
    if (stats.isDirectory()) return name.endsWith("/") ? findFile(folder, `${name}index.html`) : undefined;
    return stats.isFile() ? { file, bytes: stats.size } : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns whether a real path lies in a folder.
 *
 * @param {string} root
 * @param {string} file
 */
export function isInside(root, file) {
  const relative = path.relative(root, file);
  return relative !== "" && relative !== ".." && !relative.startsWith(`..${path.sep}`) && !path.isAbsolute(relative);
}

/**
 * Reads the body of a request. Settles when the body is complete, larger than `bytesMax`, or when its connection ended. Never rejects.
 * Keeps at most `bytesMax` and one chunk in memory. The caller owns the returned bytes.
 *
 * @param {import("node:http").IncomingMessage} request
 * @param {number} bytesMax
 * @returns {Promise<Buffer | "too large" | "incomplete">}
 */
export function readBody(request, bytesMax) {
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) return Promise.resolve("too large");
  return new Promise((settle) => {
    const chunks = [];
    let bytes = 0;
    request.on("data", (chunk) => {
      bytes += chunk.length;
      if (bytes <= bytesMax) chunks.push(chunk);
      else {
        chunks.length = 0;
        request.pause();
        settle("too large");
      }
    });
    request.once("end", () => settle(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
    request.once("error", () => settle("incomplete"));
    request.once("close", () => settle("incomplete"));
  });
}
