// SPDX-License-Identifier: MIT OR Apache-2.0
// The local server of the scenarios: GET /image and /students, POST /upload, two TCP servers that add one, and an
// HTTP/2 server with a feed. It is a separate process, so that it
// does not use the measured thread. It prints one JSON line with its addresses. It ends when its stdin ends.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import net, { type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { refuse, serveLocally } from "../../../../scripts/local-server.mjs";
import { makeImage } from "../isolate/image.js";
import { type Fixture, IDLE_CLOSE_MS } from "../protocol/measured.js";
import { answerFixture, FIXTURE_METHODS, startFeed } from "./fixture-http.js";

/** Size of the file to upload, in bytes. It is large enough for every upload cell. */
const FILE_BYTES = 64 << 20;

const folder = mkdtempSync(path.join(tmpdir(), "clearway-lab-"));
const filePath = path.join(folder, "upload.bin");
writeFileSync(filePath, Buffer.alloc(FILE_BYTES, 7));

const image = makeImage();
const web = await serveLocally(
  (asked, response) => {
    if (!answerFixture(asked, response, image)) refuse(response, 404);
  },
  { methods: FIXTURE_METHODS },
);
const answerEcho = (socket: net.Socket) => {
  socket.setNoDelay(true);
  socket.setEncoding("utf8");
  socket.on("data", (text) => {
    // A client that reads nothing gets no more answers.
    if (!socket.write(String(Number(text) + 1))) socket.pause().once("drain", () => socket.resume());
  });
  socket.on("error", () => socket.destroy());
};
const echo = net.createServer(answerEcho);
const closing = net.createServer((socket) => {
  answerEcho(socket);
  // From its first question on: on a busy machine, a client may need longer for that.
  socket.once("data", () => socket.setTimeout(IDLE_CLOSE_MS, () => socket.end()));
});
const feed = startFeed();

await new Promise<void>((ready) => echo.listen(0, "127.0.0.1", ready));
await new Promise<void>((ready) => closing.listen(0, "127.0.0.1", ready));
await new Promise<void>((ready) => feed.listen(0, "127.0.0.1", ready));
const port = (server: { address(): string | AddressInfo | null }) => (server.address() as AddressInfo).port;
const fixture: Fixture = {
  httpUrl: `http://127.0.0.1:${web.port}`,
  echoPort: port(echo),
  idlePort: port(closing),
  feedUrl: `http://127.0.0.1:${port(feed)}`,
  filePath,
};
process.stdout.write(JSON.stringify(fixture) + "\n");

process.on("SIGINT", () => {});
process.stdin.resume();
process.stdin.on("end", () => {
  rmSync(folder, { recursive: true, force: true });
  process.exit(0);
});
