// SPDX-License-Identifier: MIT OR Apache-2.0
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FolderServer, serveFolder } from "../../src/jank/page-run.js";

let folder: string;
let server: FolderServer;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "clearway-jank-"));
  mkdirSync(path.join(folder, "site/js"), { recursive: true });
  mkdirSync(path.join(folder, "site/.git"));
  const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);
  write("secret.txt", "secret");
  write("site/my page.html", "page");
  write("site/js/app.js", "script");
  write("site/js/index.html", "index");
  write("site/.env", "secret");
  write("site/.git/config", "secret");
  symlinkSync(path.join(folder, "secret.txt"), path.join(folder, "site/link.txt"));
  symlinkSync(folder, path.join(folder, "site/up"));
  server = await serveFolder(path.join(folder, "site/my page.html"));
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Asks with the path exactly as given: `fetch` would resolve its dots. */
function ask(
  address: string,
  options: http.RequestOptions = {},
): Promise<{ status: number; text: string; type: string }> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    http
      .request({ hostname, port, path: address, ...options }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => {
          text += part;
        });
        response.on("end", () =>
          resolve({ status: response.statusCode!, text, type: String(response.headers["content-type"]) }),
        );
      })
      .on("error", reject)
      .end();
  });
}

describe("the server of a local page", () => {
  test("is on the loopback address, and serves the page and what is below its folder", async () => {
    expect(new URL(server.url).hostname).toBe("127.0.0.1");
    expect(await ask(new URL(server.url).pathname)).toMatchObject({
      status: 200,
      text: "page",
      type: "text/html; charset=utf-8",
    });
    expect(await ask("/js/app.js?v=1")).toMatchObject({
      status: 200,
      text: "script",
      type: "text/javascript; charset=utf-8",
    });
    expect(await ask("/js/")).toMatchObject({ status: 200, text: "index" });
  });

  test.each([
    "/../secret.txt",
    "/js/../../secret.txt",
    "/%2e%2e/secret.txt",
    "/..%2fsecret.txt",
    "/..%5csecret.txt",
    "/js%00/app.js",
    "/link.txt",
    "/up/secret.txt",
    "/.env",
    "/.git/config",
    "/js",
    "/missing.js",
    "/%",
    "//etc/passwd",
  ])("refuses %s", async (address) => {
    expect(await ask(address)).toMatchObject({ status: 404, text: "Not Found" });
  });

  test("refuses other methods and other names of the host", async () => {
    expect(await ask("/js/app.js", { method: "POST" })).toMatchObject({ status: 405 });
    expect(await ask("/js/app.js", { method: "HEAD" })).toMatchObject({ status: 200, text: "" });
    expect(await ask("/js/app.js", { headers: { host: "rebound.test" } })).toMatchObject({ status: 403 });
  });
});
