// SPDX-License-Identifier: MIT OR Apache-2.0
// Sends the servers of the demo and of the remote control what any page of any site can make a browser send.
import { get } from "node:http";
import { connect } from "node:net";
import { Readable } from "node:stream";
import { afterAll, describe, expect, test } from "vitest";
import { serveRemoteControl } from "../remote-control/server/app.mjs";
import { drawnScreen } from "../remote-control/server/drawn-screen.mjs";
import { serveDemo } from "./server/app.mjs";

const servers = {
  "the demo": await serveDemo(),
  "the remote control": await serveRemoteControl({ screen: drawnScreen() }),
};
afterAll(() => Promise.all(Object.values(servers).map((each) => each.close())));

/** Asks for a target exactly as given. */
function ask(url: string, path: string, host = new URL(url).host): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    get({ hostname, port, path, headers: { host } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    }).on("error", reject);
  });
}

describe.each(Object.entries(servers))("%s", (_, { url }) => {
  test.each(["//", "///", "//evil.test", "/%", "/%ff", "/missing", "/__proto__", "/../serve.mjs", "*", "http://["])(
    "answers GET %s with a status 4xx, and goes on",
    async (path) => {
      const { status } = await ask(url, path);
      expect(Math.floor(status / 100)).toBe(4);
      expect(await ask(url, "/")).toMatchObject({ status: 200, text: expect.stringContaining("<!doctype html>") });
    },
  );

  test("shows its page to no site whose name leads to this machine", async () => {
    const { port } = new URL(url);
    for (const host of ["evil.test", `evil.test:${port}`, `127.0.0.1.evil.test:${port}`, "127.0.0.1"])
      expect((await ask(url, "/", host)).status, host).toBe(403);
    expect((await ask(url, "/", `localhost:${port}`)).status).toBe(200);
  });
});

describe("the demo", () => {
  test("keeps no file in memory for clients that do not read it", async () => {
    const { port } = new URL(servers["the demo"].url);
    const before = process.memoryUsage().arrayBuffers;
    const clients = Array.from({ length: 12 }, () => connect(Number(port), "127.0.0.1"));
    for (const client of clients) client.write(`GET /file HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
    await Promise.all(clients.map((client) => new Promise((resolve) => client.once("readable", resolve))));
    // The twelve files have 2.4 GB.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(192 << 20);
    for (const client of clients) client.destroy();
  });

  test("refuses a chunk that is larger than the page's chunks", async () => {
    const pieces = function* () {
      for (let sent = 0; sent < 1024; sent++) yield new Uint8Array(1 << 20);
    };
    const body = Readable.toWeb(Readable.from(pieces()));
    const sent = fetch(`${servers["the demo"].url}upload`, { method: "POST", body, duplex: "half" } as RequestInit);
    // The server ends the connection, which may reach the client before the answer.
    const status = await sent.then(
      (response) => response.status,
      () => 413,
    );
    expect(status).toBe(413);
  });
});
