// SPDX-License-Identifier: MIT OR Apache-2.0
// The page's server, as a hostile peer of the network would use it.
import http from "node:http";
import net from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { PAGE_LIMITS, PageEnded, type PageLimits, type ServedPage, servePage } from "../../src/ratio/page-server.js";
import { parseResult } from "../../src/ratio/ratio-file.js";
import { samples } from "./samples.js";

const AMOUNTS = { rounds: 3, batchMs: 1, warmUpMsMax: 1 };
const answer = { ratio: 2, ratioMin: 1, ratioMax: 3, here: "this machine" };

let page: ServedPage;
afterEach(() => page.close());

async function serve(limits: Partial<PageLimits> = {}, accept = () => answer): Promise<void> {
  page = await servePage({
    address: "127.0.0.1",
    script: "export {};",
    amounts: AMOUNTS,
    here: `<b>"this" & that</b>`,
    parse: parseResult,
    accept,
    limits: { ...PAGE_LIMITS, ...limits },
  });
}

interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: string;
}

/** Sends a request. Rejects if the server ends the connection without an answer. */
function ask(path: string, options: http.RequestOptions = {}, body?: string | Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request(new URL(path, page.url), { agent: false, ...options }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks).toString() }),
      );
    });
    request.on("error", reject);
    request.end(body);
  });
}

const JSON_TYPE = { "content-type": "application/json" };
const post = (body: string | Buffer, headers: http.OutgoingHttpHeaders = {}) =>
  ask("result", { method: "POST", headers: { ...JSON_TYPE, ...headers } }, body);

/** Loads the page and returns its nonce. */
async function nonceOf(): Promise<string> {
  return /data-nonce="([0-9a-f]{32})"/.exec((await ask("")).body)![1]!;
}

const resultWith = (nonce: string, changes: object = {}) =>
  JSON.stringify({ nonce, agent: "Mozilla/5.0", cores: 8, samples: samples([1, 2, 3]), ...changes });

/** Whether the server has given its result, or ended. */
async function state(): Promise<"waiting" | "settled"> {
  return Promise.race([
    page.result.then(
      () => "settled" as const,
      () => "settled" as const,
    ),
    Promise.resolve("waiting" as const),
  ]);
}

describe("the page", () => {
  test("is at a random port of the given address, behind a token of 128 bits", async () => {
    await serve();
    const first = new URL(page.url);
    expect(first.hostname).toBe("127.0.0.1");
    expect(first.pathname).toMatch(/^\/[0-9a-hjkmnp-tv-z]{26}\/$/);
    await page.close();
    await serve();
    expect(new URL(page.url).pathname).not.toBe(first.pathname);
  });

  test("has no inline code, forbids other sources, and escapes its texts", async () => {
    await serve();
    const { status, headers, body } = await ask("");
    expect(status).toBe(200);
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; script-src 'self';/);
    expect(headers).toMatchObject({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
    expect(body).toContain("&#60;b&#62;&#34;this&#34; &#38; that&#60;/b&#62;");
    expect(body).not.toMatch(/<b>"this"|<script>|<style>| on[a-z]+=/);
    expect(body).toContain("Nothing leaves the\nlocal network");
    expect((await ask("device.js")).body).toBe("export {};");
    expect((await ask("style.css")).headers["content-type"]).toBe("text/css; charset=utf-8");
  });

  test("takes one result, answers with the ratio, and tells it to the lab", async () => {
    await serve();
    const nonce = await nonceOf();
    const { status, body } = await post(resultWith(nonce));
    expect([status, JSON.parse(body)]).toEqual([200, answer]);
    expect(await page.result).toMatchObject({ nonce, agent: "Mozilla/5.0", cores: 8 });
  });
});

describe("a peer without the token", () => {
  test.each([
    ["another token", "/0123456789abcdefghjkmnpqrs/"],
    ["no token", "/"],
    ["the names of files", "/device.js"],
    ["a longer token", "x"],
    ["a path above", "/../../etc/passwd"],
    ["an encoded path", "/%2e%2e/%2e%2e/etc/passwd"],
    ["a very long path", `/${"a".repeat(4000)}/`],
  ])("learns nothing with %s", async (_, path) => {
    await serve();
    const target = path === "x" ? `${new URL(page.url).pathname.slice(0, -1)}x/` : path;
    for (const method of ["GET", "POST", "OPTIONS", "DELETE"]) {
      const { status, headers, body } = await ask(target, { method });
      expect({ status, body, headers }).toEqual({
        status: 403,
        body: "",
        headers: { connection: "close", "content-length": "0" },
      });
    }
  });

  test.each([
    ["the name of another site", () => "evil.example"],
    ["another name of this machine", () => `localhost:${new URL(page.url).port}`],
    ["no port", () => "127.0.0.1"],
    ["another port", () => "127.0.0.1:1"],
    ["an address in a list", () => `${new URL(page.url).host}, evil.example`],
  ])("learns nothing with a Host of %s, even with the token", async (_, host) => {
    await serve();
    const { status, body } = await ask("", { headers: { host: host() } });
    expect({ status, body }).toEqual({ status: 403, body: "" });
  });

  test("ends the server with a reason after too many requests", async () => {
    await serve({ requestsMax: 3 });
    for (let request = 0; request < 3; request++) expect((await ask("/x/")).status).toBe(403);
    await expect(ask("/x/")).rejects.toThrow();
    await expect(page.result).rejects.toThrow("more than 3 requests came");
    await expect(ask("")).rejects.toThrow("ECONNREFUSED");
  });

  test("cannot hold more than its connections", async () => {
    await serve({ connectionsOfPeerMax: 2 });
    const { port, hostname } = new URL(page.url);
    const held = [1, 2].map(() => net.connect(Number(port), hostname));
    await Promise.all(held.map((socket) => new Promise((done) => socket.once("connect", done))));
    const refused = net.connect(Number(port), hostname);
    refused.on("error", () => {});
    await new Promise((done) => refused.once("close", done));
    for (const socket of held) socket.destroy();
    await Promise.all(held.map((socket) => new Promise((done) => socket.once("close", done))));
  });

  test("is disconnected if it sends nothing, or headers without an end", async () => {
    await serve({ requestMs: 100, checkEveryMs: 20 });
    const { port, hostname } = new URL(page.url);
    for (const text of ["", "GET / HTTP/1.1\r\nHost: x\r\nx-slow: "]) {
      const socket = net.connect(Number(port), hostname);
      socket.on("error", () => {});
      socket.resume();
      socket.write(text);
      await new Promise((done) => socket.once("close", done));
    }
    expect(await state()).toBe("waiting");
  });

  test("is refused before its headers take much memory", async () => {
    await serve();
    const { status } = await ask("", { headers: { "x-long": "a".repeat(20_000) } });
    expect(status).toBe(431);
  });
});

describe("a peer with the token", () => {
  test.each<[string, (nonce: string) => string]>([
    ["malformed JSON", () => "{"],
    ["no JSON", () => ""],
    ["null", () => "null"],
    ["NaN as a time", (nonce) => resultWith(nonce).replace("[1,2,3]", "[1,NaN,3]")],
    ["a time of 0", (nonce) => resultWith(nonce, { samples: samples([0, 1]) })],
    ["another version of the work", (nonce) => resultWith(nonce, { samples: { ...samples([1, 1]), worksVersion: 2 } })],
    ["a prototype", (nonce) => `{"__proto__":{"nonce":"${nonce}"}}`],
    ["deep nesting", () => "[".repeat(30_000)],
  ])("is refused with %s, and can send a right result afterwards", async (_, bodyOf) => {
    await serve();
    const nonce = await nonceOf();
    const { status, body } = await post(bodyOf(nonce));
    expect({ status, body }).toEqual({ status: 400, body: "" });
    expect(await state()).toBe("waiting");
    expect((await post(resultWith(nonce))).status).toBe(200);
    expect((await page.result).nonce).toBe(nonce);
  });

  test("is refused with a nonce that its page did not get", async () => {
    await serve();
    await nonceOf();
    for (const nonce of ["", "0".repeat(32), "__proto__"]) expect((await post(resultWith(nonce))).status).toBe(409);
    expect(await state()).toBe("waiting");
  });

  test("cannot send two results for one nonce, nor a second one for another", async () => {
    await serve();
    const [first, second] = [await nonceOf(), await nonceOf()];
    // Both requests are complete except for their last byte, so that both are open when the first one counts.
    const open = [first, second, first].map((nonce) => {
      const text = resultWith(nonce);
      const headers = { ...JSON_TYPE, "content-length": text.length };
      const request = http.request(new URL("result", page.url), { method: "POST", agent: false, headers });
      const status = new Promise<number | string>((done) => {
        request.on("response", (response) => done(response.resume().statusCode!));
        request.on("error", () => done("ended"));
      });
      request.write(text.slice(0, -1));
      return { status, finish: () => request.end(text.slice(-1)) };
    });
    open[0]!.finish();
    expect(await open[0]!.status).toBe(200);
    for (const { finish } of open.slice(1)) finish();
    for (const { status } of open.slice(1)) expect([409, "ended"]).toContain(await status);
    expect((await page.result).nonce).toBe(first);
    for (const nonce of [second, await nonceOf()]) expect((await post(resultWith(nonce))).status).toBe(409);
  });

  test("makes old nonces useless if it loads the page too often", async () => {
    await serve();
    const first = await nonceOf();
    for (let load = 0; load < 16; load++) await nonceOf();
    expect((await post(resultWith(first))).status).toBe(409);
  });

  test.each([
    ["an announced length", { "content-length": String(65 << 10) }],
    ["chunks", { "transfer-encoding": "chunked" }],
  ])("is refused with a body that is too large, by %s", async (_, headers) => {
    await serve();
    const body = Buffer.alloc(65 << 10, " ");
    // The server may end the connection before it has read everything.
    const status = await post(body, headers).then(
      (given) => given.status,
      () => 413,
    );
    expect(status).toBe(413);
    expect(await state()).toBe("waiting");
  });

  test.each([
    ["another site's origin", { origin: "http://evil.example" }, 403],
    ["an opaque origin", { origin: "null" }, 403],
    ["another type", { "content-type": "text/plain" }, 415],
  ])("is refused with %s", async (_, headers, expected) => {
    await serve();
    expect((await post(resultWith(await nonceOf()), headers)).status).toBe(expected);
    expect(await state()).toBe("waiting");
  });

  test("is refused other methods and names", async () => {
    await serve();
    expect((await ask("other")).status).toBe(404);
    expect((await ask("result")).status).toBe(404);
    expect((await ask("", { method: "PUT" })).status).toBe(405);
    expect((await ask("result/more")).status).toBe(403);
  });

  test("is disconnected if its body does not end", async () => {
    await serve({ requestMs: 100, checkEveryMs: 20 });
    const { port, hostname, host, pathname } = new URL(page.url);
    const socket = net.connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.resume();
    socket.write(
      `POST ${pathname}result HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{`,
    );
    await new Promise((done) => socket.once("close", done));
    expect(await state()).toBe("waiting");
  });

  test("may vanish in the middle of its result, and a page loaded again is measured", async () => {
    await serve();
    const { port, hostname, host, pathname } = new URL(page.url);
    const socket = net.connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.write(
      `POST ${pathname}result HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{`,
      () => socket.resetAndDestroy(),
    );
    await new Promise((done) => socket.once("close", done));
    expect((await post(resultWith(await nonceOf()))).status).toBe(200);
  });

  test("has sent its result even if it does not wait for the answer", async () => {
    await serve();
    const nonce = await nonceOf();
    const request = http.request(new URL("result", page.url), { method: "POST", agent: false, headers: JSON_TYPE });
    request.on("error", () => {});
    request.on("response", (response) => response.destroy());
    request.end(resultWith(nonce));
    expect((await page.result).nonce).toBe(nonce);
  });

  test("is refused times that give no ratio", async () => {
    await serve({}, () => {
      throw new RangeError("no ratio");
    });
    expect((await post(resultWith(await nonceOf()))).status).toBe(400);
    expect(await state()).toBe("waiting");
  });
});

describe("the end", () => {
  test("rejects the result with its reason, and leaves no connection", async () => {
    await serve();
    const { port, hostname } = new URL(page.url);
    const idle = net.connect(Number(port), hostname);
    idle.on("error", () => {});
    await new Promise((done) => idle.once("connect", done));
    const gone = new Promise((done) => idle.once("close", done));
    await page.close("nobody came");
    await expect(page.result).rejects.toThrow(new PageEnded("nobody came"));
    await gone;
    await expect(ask("")).rejects.toThrow("ECONNREFUSED");
    await page.close();
  });

  test("is an error of the start if the address is not of this machine", async () => {
    await serve();
    const options = { script: "", amounts: AMOUNTS, here: "", parse: parseResult, accept: () => answer };
    await expect(servePage({ ...options, address: "203.0.113.1" })).rejects.toThrow("EADDRNOTAVAIL");
  });
});
