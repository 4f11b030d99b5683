// SPDX-License-Identifier: MIT OR Apache-2.0
// Serves the page that measures another device, and takes one result from it. Every peer on the network may be hostile.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import http from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { readBody } from "../../../../scripts/local-server.mjs";
import type { Amounts } from "./device/measure-device.js";
import type { PageAnswer, PageResult } from "./device/page-result.js";
import { pageHtml, STYLE } from "./page-html.js";

/** Limits against peers that waste the lab's time and memory. Times are in milliseconds. */
export interface PageLimits {
  /** A result of 9 rounds has about 2 KB. */
  readonly bodyBytesMax: number;
  /** The time for a whole request, and for its headers. Node checks connections every `checkEveryMs`. */
  readonly requestMs: number;
  readonly checkEveryMs: number;
  /** The page needs four requests. After this number of requests, with or without the token, the server ends. */
  readonly requestsMax: number;
  readonly connectionsMax: number;
  /** So that one peer cannot hold all connections. */
  readonly connectionsOfPeerMax: number;
}

export const PAGE_LIMITS: PageLimits = {
  bodyBytesMax: 64 << 10,
  requestMs: 10_000,
  checkEveryMs: 1_000,
  requestsMax: 1_000,
  connectionsMax: 64,
  connectionsOfPeerMax: 12,
};

/** Loads of the page that may still send their result. Loading it more often makes the oldest ones useless. */
const NONCES_MAX = 16;

export interface PageOptions {
  /** The address of this machine to bind: 127.0.0.1, or one of its local network. */
  readonly address: string;
  /** The built file that runs on both devices. */
  readonly script: string;
  readonly amounts: Amounts;
  /** What the page calls this machine. */
  readonly here: string;
  /** Parses and checks a result. Throws an Error if it is wrong. */
  readonly parse: (text: string) => PageResult;
  /** Returns the answer to the page. Throws an Error if the result cannot be used. */
  readonly accept: (result: PageResult) => PageAnswer;
  readonly limits?: PageLimits;
}

export interface ServedPage {
  readonly url: string;
  /** The first valid result. Rejects with a PageEnded if the server ended before. */
  readonly result: Promise<PageResult>;
  /** Ends the server and all connections. `result` rejects if there is none yet. */
  close(why?: string): Promise<void>;
}

/** The server ended without a result. The message says why. */
export class PageEnded extends Error {}

export async function servePage(options: PageOptions): Promise<ServedPage> {
  const limits = options.limits ?? PAGE_LIMITS;
  const token = tokenText(randomBytes(16));
  const nonces = new Set<string>();
  const sockets = new Map<string, number>();
  let host = "";
  let requests = 0;
  let taken: PageResult | undefined;

  let settle: { resolve(result: PageResult): void; reject(error: Error): void };
  const result = new Promise<PageResult>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // The caller may close the server before it waits for the result.
  result.catch(() => {});

  const server = http.createServer(
    {
      maxHeaderSize: 8 << 10,
      headersTimeout: limits.requestMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: limits.checkEveryMs,
      keepAliveTimeout: limits.requestMs,
    },
    (request, response) => {
      response.on("error", () => {});
      if (++requests > limits.requestsMax) {
        void close(`more than ${limits.requestsMax} requests came: another program on this network looks for the page`);
        return;
      }
      // A page of another site may have its name resolved to this machine. All refusals are alike, so that they tell nothing.
      const path = request.headers.host === host ? pathBehind(token, request.url ?? "") : undefined;
      if (path === undefined) return refuse(response, 403);
      if (path === "result" && request.method === "POST") return void takeResult(request, response);
      if (request.method !== "GET") return refuse(response, 405);
      if (path === "") return send(response, "text/html; charset=utf-8", pageHtml({ ...options, nonce: newNonce() }));
      if (path === "device.js") return send(response, "text/javascript; charset=utf-8", options.script);
      if (path === "style.css") return send(response, "text/css; charset=utf-8", STYLE);
      refuse(response, 404);
    },
  );
  server.maxConnections = limits.connectionsMax;
  server.on("connection", (socket: Socket) => {
    const peer = socket.remoteAddress ?? "";
    const count = (sockets.get(peer) ?? 0) + 1;
    sockets.set(peer, count);
    socket.on("error", () => {});
    socket.once("close", () => {
      const left = sockets.get(peer)! - 1;
      if (left === 0) sockets.delete(peer);
      else sockets.set(peer, left);
    });
    if (count > limits.connectionsOfPeerMax) socket.destroy();
  });

  function newNonce(): string {
    const nonce = randomBytes(16).toString("hex");
    nonces.add(nonce);
    if (nonces.size > NONCES_MAX) nonces.delete(nonces.values().next().value!);
    return nonce;
  }

  async function takeResult(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const origin = request.headers.origin;
    if (origin !== undefined && origin !== `http://${host}`) return refuse(response, 403);
    if (request.headers["content-type"] !== "application/json") return refuse(response, 415);
    const body = await readBody(request, limits.bodyBytesMax);
    if (body === "too large") return refuse(response, 413);
    // The peer vanished, or took too long. Node has ended the connection.
    if (body === "incomplete") return;
    let answer: string;
    try {
      const given = options.parse(body.toString("utf8"));
      if (taken !== undefined || !nonces.delete(given.nonce)) return refuse(response, 409);
      answer = JSON.stringify(options.accept(given));
      taken = given;
    } catch {
      return refuse(response, 400);
    }
    nonces.clear();
    // The result counts even if the answer does not arrive.
    response.once("close", () => settle.resolve(taken!));
    send(response, "application/json", answer);
  }

  let closing: Promise<void> | undefined;
  function close(why = "the server was closed"): Promise<void> {
    if (taken === undefined) settle.reject(new PageEnded(why));
    else settle.resolve(taken);
    closing ??= new Promise<void>((done) => {
      server.close(() => done());
      server.closeAllConnections();
    });
    return closing;
  }

  await new Promise<void>((ready, failed) => {
    server.once("error", failed);
    server.listen(0, options.address, ready);
  });
  server.on("error", () => {});
  const { port } = server.address() as AddressInfo;
  host = `${options.address.includes(":") ? `[${options.address}]` : options.address}:${port}`;
  return { url: `http://${host}/${token}/`, result, close };
}

/** 128 bits in 26 letters and digits, which are easy to type: base 32 without i, l, o and u (Crockford). */
function tokenText(bytes: Uint8Array): string {
  const digits = "0123456789abcdefghjkmnpqrstvwxyz";
  let bits = BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
  let text = "";
  for (let at = 0; at < 26; at++) {
    text = digits[Number(bits & 31n)] + text;
    bits >>= 5n;
  }
  return text;
}

/** Returns the path behind the token, or undefined if the token is wrong. Takes the same time for every wrong token. */
function pathBehind(token: string, url: string): string | undefined {
  const [, given = "", path, ...rest] = url.split("/");
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const isRight = timingSafeEqual(digest(token), digest(given));
  return isRight && url.startsWith("/") && path !== undefined && rest.length === 0 ? path : undefined;
}

const HEADERS = {
  // The measurement takes longer than an idle connection is kept, and a result that is sent on a connection just closed would be lost.
  connection: "close",
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};

function send(response: http.ServerResponse, type: string, text: string): void {
  response.writeHead(200, { ...HEADERS, "content-type": type, "content-length": Buffer.byteLength(text) }).end(text);
}

/** Refuses without a body, and ends the connection. */
function refuse(response: http.ServerResponse, status: number): void {
  response.sendDate = false;
  response.writeHead(status, { connection: "close", "content-length": 0 }).end();
}
