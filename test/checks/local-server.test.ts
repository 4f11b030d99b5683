// SPDX-License-Identifier: MIT OR Apache-2.0
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import {
  type Answer,
  type LocalServer,
  readBody,
  refuse,
  sendFile,
  sendPieces,
  serveLocally,
} from "../../scripts/local-server.mjs";

const folder = mkdtempSync(path.join(tmpdir(), "clearway-server-"));
mkdirSync(path.join(folder, "site/.git"), { recursive: true });
mkdirSync(path.join(folder, "site/js"));
for (const [name, content] of Object.entries({
  "secret.txt": "secret",
  "site/index.html": "page",
  "site/empty.txt": "",
  "site/js/a b.js": "script",
  "site/.env": "secret",
  "site/.git/config": "secret",
}))
  writeFileSync(path.join(folder, name), content);
symlinkSync(path.join(folder, "secret.txt"), path.join(folder, "site/link.txt"));
symlinkSync(folder, path.join(folder, "site/up"));
afterAll(() => rmSync(folder, { recursive: true }));

let server: LocalServer;
let errors: unknown[];
const serve = async (answer: Answer, methods?: string[]): Promise<void> => {
  server = await serveLocally(answer, { onError: (error) => errors.push(error), ...(methods && { methods }) });
};
beforeEach(() => {
  errors = [];
});
afterEach(() => server.close());

/** Sends bytes as they are, and resolves to everything that arrives until the server ends the connection. */
async function exchange(bytes: string): Promise<string> {
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(bytes);
  return text(socket).catch(() => "");
}

const head = (target: string, host = `127.0.0.1:${server.port}`, method = "GET"): string =>
  `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

describe("a local server", () => {
  test.each([
    "//",
    "///",
    "//evil.test/",
    "/\\",
    "/%",
    "/%ff",
    "/%00",
    "/../secret.txt",
    "/%2e%2e/secret.txt",
    "/..%2fsecret.txt",
    "/..%5csecret.txt",
    "/link.txt",
    "/up/secret.txt",
    "/.env",
    "/.git/config",
    "/js",
    "/constructor",
    "/__proto__",
    "?",
    "*",
    "http://127.0.0.1/",
    "http://[/",
    "x",
  ])("answers GET %s with a status 4xx, or as the page, and goes on", async (target) => {
    await serve(({ path: name }, response) => sendFile(path.join(folder, "site"), name, response));
    const answer = await exchange(head(target));
    expect(answer).toMatch(/^HTTP\/1\.1 (4\d\d|200) /);
    expect(answer).not.toContain("secret");
    if (!/^\/+$/.test(target)) expect(answer).toMatch(/^HTTP\/1\.1 4/);
    expect(await exchange(head("/js/a%20b.js?v=1"))).toMatch(/^HTTP\/1\.1 200 [\s\S]*javascript[\s\S]*\r\n\r\nscript$/);
    expect(errors).toEqual([]);
  });

  test("answers bytes that are no request with a status 4xx, and goes on", async () => {
    await serve((_, response) => response.end("page"));
    for (const bytes of [
      "\0\0\0\0",
      "GET / HTTP/9.9\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost\r\n\r\n",
    ])
      expect(await exchange(bytes)).toMatch(/^HTTP\/1\.1 4/);
    expect(await exchange(head("/"))).toContain("page");
  });

  test("answers only requests that name it", async () => {
    await serve((_, response) => response.end("page"));
    const { port } = server;
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`])
      expect(await exchange(head("/", host)), host).toMatch(/^HTTP\/1\.1 200 /);
    for (const host of ["", "127.0.0.1", "localhost", "evil.test", `evil.test:${port}`, `127.0.0.1.evil.test:${port}`])
      expect(await exchange(head("/", host)), host).toMatch(/^HTTP\/1\.1 403 /);
    expect(await exchange("GET / HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1\.1 403 /);
  });

  test("answers only the methods that it permits", async () => {
    await serve((_, response) => response.end("page"));
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PROPFIND"])
      expect(await exchange(head("/", undefined, method)), method).toMatch(/^HTTP\/1\.1 405 /);
    expect(await exchange(head("/", undefined, "HEAD"))).toMatch(/^HTTP\/1\.1 200 [\s\S]*\r\n\r\n$/);
  });

  test("answers with status 500, or ends the connection, when an answer throws or rejects, and goes on", async () => {
    await serve(async ({ path }, response) => {
      if (path === "/late") response.write("begun");
      if (path !== "/") throw new Error(path);
      response.end("page");
    });
    expect(await exchange(head("/early"))).toMatch(/^HTTP\/1\.1 500 [\s\S]*Internal Server Error$/);
    expect(await exchange(head("/late"))).not.toContain("\r\n0\r\n");
    expect(await exchange(head("/"))).toContain("page");
    expect(errors.map((error) => (error as Error).message)).toEqual(["/early", "/late"]);
  });

  test("ends a connection that sends a request before the answer to another, and keeps one that waits for its answers", async () => {
    let asked = 0;
    await serve((_, response) => {
      asked++;
      setImmediate(() => response.end("page"));
    });
    const kept = head("/").replace("close", "keep-alive");
    expect(await exchange(kept.repeat(200))).toBe("");
    expect(asked).toBe(1);
    const socket = connect(server.port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    for (let round = 0; round < 3; round++) {
      socket.write(kept);
      const [answer] = await once(socket, "data");
      expect(String(answer)).toMatch(/^HTTP\/1\.1 200 [\s\S]*page$/);
    }
    expect(asked).toBe(4);
  });

  test("makes a body only as fast as its client reads it, and stops making it when the client goes", async () => {
    const pieces = 4096;
    let made = 0;
    let ended: () => void;
    const end = new Promise<void>((resolve) => {
      ended = resolve;
    });
    function* body() {
      try {
        for (; made < pieces; made++) yield new Uint8Array(65_536);
      } finally {
        ended();
      }
    }
    await serve(({ path }, response) => (path === "/" ? response.end("page") : sendPieces(body(), response, {})));
    const unread = connect(server.port, "127.0.0.1");
    unread.write(head("/body"));
    await once(unread, "readable");
    expect(await exchange(head("/"))).toContain("page");
    unread.destroy();
    await end;
    expect(made).toBeLessThan(pieces);
    expect(errors).toEqual([]);
  });

  test("sends a file that is empty", async () => {
    await serve(({ path: name }, response) => sendFile(path.join(folder, "site"), name, response));
    expect(await exchange(head("/empty.txt"))).toMatch(/content-length: 0\r\n[\s\S]*\r\n\r\n$/);
  });

  test("keeps no body that is larger than its limit", async () => {
    await serve(
      async ({ request }, response) => {
        const body = await readBody(request, 4);
        if (typeof body === "string") refuse(response, 413);
        else response.end(body);
      },
      ["POST"],
    );
    const post = (headers: string, body: string) =>
      exchange(`POST / HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nConnection: close\r\n${headers}\r\n\r\n${body}`);
    expect(await post("Content-Length: 4", "four")).toMatch(/\r\n\r\nfour$|four/);
    expect(await post("Content-Length: 5", "fives")).toMatch(/^HTTP\/1\.1 413 /);
    expect(await post("Transfer-Encoding: chunked", "5\r\nfives\r\n0\r\n\r\n")).toMatch(/^HTTP\/1\.1 413 /);
  });
});
