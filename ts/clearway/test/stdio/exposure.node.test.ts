// SPDX-License-Identifier: MIT OR Apache-2.0
import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { childTransport, streamTransport } from "../../src/stdio/stream-transport.js";
import { socketPair } from "./socket-pair.js";

test("a child process is a part of the same program; whatever a socket leads to is another", async () => {
  const [one, other] = await socketPair();
  const socket = streamTransport({ readable: one, writable: one });
  const child = spawn(process.execPath, ["-e", ""], { stdio: ["pipe", "pipe", "inherit"] });
  expect([childTransport(child).trusted, socket.trusted]).toEqual([true, false]);
  socket.close();
  other.destroy();
});
