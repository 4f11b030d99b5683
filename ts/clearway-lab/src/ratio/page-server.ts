// SPDX-License-Identifier: MIT OR Apache-2.0
// Serves the page that measures another device, and takes one result from it. Every peer on the network may be hostile.
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import http from "node:http";
import { type AddressInfo, isIPv4, type Socket } from "node:net";
import os from "node:os";
import { readBody } from "../../../../scripts/local-server.mjs";
import type { Amounts, PageAnswer, PageResult } from "./device/measure-device.js";
import { WORKS } from "./device/works.js";
import { RatioError } from "./ratio-file.js";

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

// Chooses the address of this machine on the local network.

type Interfaces = ReturnType<typeof os.networkInterfaces>;

/** Names of interfaces that programs make for containers and virtual machines. A phone does not reach them. */
const VIRTUAL = /^(docker|br-|veth|virbr|vmnet|vboxnet|lxc|podman|cni|flannel|utun|tun|tap|wg|tailscale|zt)/i;

/**
 * Returns the address to bind. Without `asked`, takes the first private IPv4 address of a real interface. Throws a RatioError that lists the
 * addresses if there is none, or if `asked` is not an address of this machine.
 */
export function networkAddress(asked: string | undefined, interfaces: Interfaces = os.networkInterfaces()): string {
  const all = Object.entries(interfaces).flatMap(([name, infos = []]) =>
    infos
      .filter(({ internal }) => !internal)
      .map(({ address, scopeid }) => ({ name, address, isLink: Boolean(scopeid) })),
  );
  // A link-local IPv6 address needs a zone, which browsers do not accept in an address.
  const usable = all.filter(({ isLink }) => !isLink);
  const list = usable.map(({ name, address }) => `${address} (${name})`).join(", ") || "none";
  if (asked !== undefined) {
    if (usable.some(({ address }) => address === asked)) return asked;
    throw new RatioError(`${asked} is not an address of this machine on a network. Its addresses: ${list}`);
  }
  const found = usable.find(({ name, address }) => !VIRTUAL.test(name) && isPrivate(address));
  if (found !== undefined) return found.address;
  throw new RatioError(
    `no address of a local network was found; name one with --network ADDRESS. This machine's addresses: ${list}`,
  );
}

/** Whether an address is of a local network (RFC 1918, and RFC 3927 without a router). */
export function isPrivate(address: string): boolean {
  if (!isIPv4(address)) return false;
  const [a, b] = address.split(".").map(Number) as [number, number];
  return a === 10 || (a === 172 && b >= 16 && b < 32) || (a === 192 && b === 168) || (a === 169 && b === 254);
}

// The page that measures another device: one document without inline code, readable on a phone.

export interface PageText {
  readonly nonce: string;
  readonly amounts: Amounts;
  /** What the page calls the lab's machine. */
  readonly here: string;
}

export function pageHtml({ nonce, amounts, here }: PageText): string {
  const pieces = WORKS.map(({ title }) => title).join(", ");
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>Clearway: how fast is this device?</title>
<link rel="icon" href="data:,"><link rel="stylesheet" href="style.css"></head>
<body data-nonce="${escaped(nonce)}" data-amounts="${escaped(JSON.stringify(amounts))}"><main>
<h1>How fast is this device?</h1>
<p>Clearway compares this device with <b>${escaped(here)}</b>. The page runs ${WORKS.length} fixed pieces of JavaScript (${escaped(pieces)}) for
some seconds, and measures how long they take.</p>
<p>It sends these times, the name of this browser and its number of cores to the computer that shows this address. Nothing leaves the
local network, and nothing is stored here.</p>
<p>Keep this tab in front, and close other apps. If the tab goes to the background, the page measures that part again.</p>
<button id="start" disabled>Measure this device</button>
<progress id="progress" max="1" value="0" hidden></progress>
<p id="status" role="status"></p>
<table id="times" hidden></table>
<noscript><p>This page measures JavaScript, which is switched off in this browser.</p></noscript>
</main><script type="module" src="device.js"></script></body></html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

export const STYLE = `:root { color-scheme: light dark; --accent: #0a7f66; }
* { box-sizing: border-box; }
body { margin: 0; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 36rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; line-height: 1.25; }
button { font: inherit; font-weight: 600; width: 100%; min-height: 3rem; border: 0; border-radius: 0.5rem; background: var(--accent); color: #fff; }
button:disabled { opacity: 0.5; }
button[hidden], progress[hidden], table[hidden] { display: none; }
progress { width: 100%; height: 1rem; accent-color: var(--accent); }
#status { font-weight: 600; min-height: 3rem; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 0.25rem 0; border-bottom: 1px solid #8884; text-align: left; font-weight: 400; }
td { text-align: right; font-variant-numeric: tabular-nums; }
`;
