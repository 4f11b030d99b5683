// SPDX-License-Identifier: MIT OR Apache-2.0
// Tests the local servers of the scenarios, the clients of the measured workers, and the search for the server of remote calls.
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LocalServer, refuse, serveLocally } from "../../../scripts/local-server.mjs";
import { EchoConnection } from "../src/isolate/echo-client.js";
import { FeedClient } from "../src/isolate/feed-client.js";
import { studentsUrl } from "../src/isolate/fetch.js";
import { fetchStudents } from "../src/isolate/student.js";
import { findServer, remoteProblem } from "../src/remote/open.js";
import { answerFixture, startFeed } from "../src/runner/fixture-http.js";

const listen = async (server: net.Server) => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
};

describe("the HTTP fixture", () => {
  let server: LocalServer;
  let url = "";
  beforeAll(async () => {
    server = await serveLocally((asked, response) => {
      if (!answerFixture(asked, response, new Uint8Array(3))) refuse(response, 404);
    });
    url = `http://127.0.0.1:${server.port}`;
  });
  afterAll(() => server.close());

  test("serves as many students as asked, also when it is asked again", async () => {
    for (const rows of [1, 3, 3, 2, 4, 5, 6, 1]) {
      const students = await fetchStudents(studentsUrl(url, rows));
      expect(students).toHaveLength(rows);
      expect(students.at(-1)).toEqual({ rollNum: rows, name: `student ${rows}` });
    }
  });

  test.each(["0", "2000001", "-1", "1e3", "", "1&rows=2"])("refuses rows=%s", async (rows) => {
    expect((await fetch(`${url}/students?rows=${rows}`)).status).toBe(404);
    await expect(fetchStudents(`${url}/students?rows=${rows}`)).rejects.toThrow("the fixture server answered 404");
  });
});

test("the HTTP fixture makes no more bodies while clients read none of the kept ones", async () => {
  const server = await serveLocally((asked, response) => answerFixture(asked, response, new Uint8Array(0)));
  const rows = [500_001, 500_002, 500_003, 500_004];
  const unread = [];
  for (const each of rows) {
    const socket = net.connect(server.port, "127.0.0.1");
    socket.write(`GET /students?rows=${each} HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`);
    await once(socket, "readable");
    unread.push(socket);
  }
  expect((await fetch(`${server.url}students?rows=7`)).status).toBe(503);
  for (const socket of unread) socket.destroy();
  await server.close();
});

describe("the HTTP/2 feed", () => {
  const server = startFeed();
  let url = "";
  let client: FeedClient;
  beforeAll(async () => {
    url = `http://127.0.0.1:${await listen(server as unknown as net.Server)}`;
    client = await FeedClient.open(url);
  });
  afterAll(async () => {
    client.close();
    await new Promise<void>((done) => server.close(() => done()));
  });

  test("arrives in chunks of the wanted size, the last one shorter, each with memory of its own", async () => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of client.receive(250_000, 65_536)) chunks.push(chunk);
    expect(chunks.map(({ length }) => length)).toEqual([65_536, 65_536, 65_536, 53_392]);
    expect(new Set(chunks.map(({ buffer }) => buffer)).size).toBe(4);
    expect(chunks.every((chunk) => chunk.every((byte) => byte === 7))).toBe(true);
  });

  test("is counted by the server when it is sent", async () => {
    async function* chunks() {
      for (let i = 0; i < 5; i++) yield new Uint8Array(100_000).fill(i);
    }
    expect(await client.send(chunks())).toBe(500_000);
    expect(client.open).toBe(true);
  });

  test("ends when its reader leaves, and the connection stays usable", async () => {
    for await (const chunk of client.receive(8 << 20, 65_536)) {
      expect(chunk).toHaveLength(65_536);
      break;
    }
    expect(await client.send((async function* () {})())).toBe(0);
  });

  test.each([
    [400, { ":path": "/feed?bytes=0&chunk=1" }],
    [400, { ":path": "/feed?bytes=1&chunk=99999999" }],
    [400, { ":path": "/feed?bytes=x&chunk=1" }],
    [400, { ":path": "/feed" }],
    [404, { ":path": "/other" }],
    [404, { ":path": "//" }],
    [405, { ":path": "/feed?bytes=1&chunk=1", ":method": "HEAD" }],
    [403, { ":path": "/feed?bytes=1&chunk=1", ":authority": "evil.test" }],
  ])("refuses with status %i %o without a body", async (status, request) => {
    const { default: http2 } = await import("node:http2");
    const session = http2.connect(url);
    const stream = session.request(request);
    const [headers] = (await once(stream, "response")) as [{ ":status": number }];
    expect(headers[":status"]).toBe(status);
    stream.resume();
    await once(stream, "close");
    session.close();
  });
});

describe("a connection to the echo server", () => {
  test("rejects the open question when the server closes it", async () => {
    const server = net.createServer((socket) => socket.once("data", () => socket.end()));
    const connection = await EchoConnection.open(await listen(server));
    await expect(connection.ask(1)).rejects.toThrow("the server closed the connection");
    expect(connection.open).toBe(false);
    await new Promise((done) => server.close(done));
  });
});

// What a measurement of remote calls needs.

describe("what is missing", () => {
  const none = () => undefined;
  test.each([
    [["piscina"], /^piscina is not installed: npm install --save-dev piscina@\d+\.\d+\.\d+$/],
    [
      ["clearway-nats", "piscina"],
      /^clearway-nats and piscina are not installed: npm install --save-dev clearway-nats@\d\S+ piscina@\d\S+$/,
    ],
    [[], /^nats-server is not installed: scripts\/setup\.sh nats, apt-get install nats-server, or https:/],
  ])("is named with the command that installs it: %j", (packages, message) => {
    expect(remoteProblem(packages, none, () => false)).toMatch(message);
  });

  test("is nothing when packages and server are there", () => {
    expect(
      remoteProblem(
        ["a"],
        () => "/usr/bin/nats-server",
        () => true,
      ),
    ).toBeUndefined();
  });

  test("is searched in the folders of the path", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "clearway-remote-"));
    writeFileSync(path.join(folder, "nats-server"), "");
    expect(findServer(`/none:${folder}`)).toBe(path.join(folder, "nats-server"));
    rmSync(folder, { recursive: true });
  });
});
