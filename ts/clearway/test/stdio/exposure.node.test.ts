// SPDX-License-Identifier: MIT OR Apache-2.0
import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { childTransport, streamTransport } from "../../src/stdio/stdio-transport.js";
import { socketPair } from "./socket-pair.js";

test("a child process counts as part of the same program, and a socket's other endpoint does not", async () => {
  const [one, other] = await socketPair();
  const socket = streamTransport({ readable: one, writable: one });
  const child = spawn(process.execPath, ["-e", ""], { stdio: ["pipe", "pipe", "inherit"] });
  expect([childTransport(child).trusted, socket.trusted]).toEqual([true, false]);
  socket.close();
  other.destroy();
});
