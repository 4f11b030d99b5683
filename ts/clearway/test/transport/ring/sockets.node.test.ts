// SPDX-License-Identifier: MIT OR Apache-2.0
import { connect, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { builtUrl, testPool } from "../../fixtures/pools.js";

type Ring = typeof import("../../fixtures/ring.tasks.js");

test("a socket is served while a caller makes one call after the other", async () => {
  const server = createServer((socket) => socket.pipe(socket)).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  const socket = connect(port, "127.0.0.1");
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  let echoes = 0;
  socket.on("data", () => {
    if (++echoes < 20) socket.write(".");
  });
  socket.write(".");
  const { call } = testPool<Ring>(builtUrl("ring"));
  while (echoes < 20) expect(await call.echo("x")).toBe("x");
});
