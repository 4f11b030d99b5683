// SPDX-License-Identifier: MIT OR Apache-2.0
import { type AddressInfo, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../src/request/clock.js";
import { serveWith } from "../src/serve/serve-tasks.js";

test("a server whose module cannot be loaded leaves no connection behind, also one that is still being made", async () => {
  let greet: (socket: Socket) => void = () => {};
  const greeted = new Promise<Socket>((resolve) => {
    greet = resolve;
  });
  const listener = createServer((socket) => {
    socket.on("data", (bytes) => {
      if (bytes.includes("PING")) socket.write("PONG\r\n");
    });
    greet(socket);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void listener.close());
  const servers = `nats://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const source = new URL("./fixtures/absent.tasks.ts", import.meta.url);
  const options = { servers, module: "absent", pool: { size: 1 }, onError: () => {} };
  await expect(serveWith(source, options, systemClock)).rejects.toMatchObject({ name: "ClearwayError" });
  const socket = await greeted;
  const closed = new Promise((resolve) => socket.once("close", resolve));
  // The client has waited for this.
  socket.write('INFO {"server_id":"x","version":"2.10.0","proto":1,"max_payload":1048576}\r\n');
  await closed;
});
