// SPDX-License-Identifier: MIT OR Apache-2.0
// Runs the Swift end of the remote control against the server. Compares times only with the added delay, which is a lower bound on every
// machine.
import { spawn } from "node:child_process";
import { type AddressInfo, createServer } from "node:net";
import { binaryCodec, connect } from "clearway/channel";
import { streamTransport } from "clearway/channel/stdio";
import { expect, test } from "vitest";
import { compile, program, toolchain } from "../../scripts/swift.mjs";
import { serveRemoteControl } from "./server/app.mjs";
import { drawnScreen } from "./server/drawn-screen.mjs";

const addedMs = 60;

interface Line {
  readonly label: string;
  readonly [row: string]: number | string;
}

async function run(...args: string[]): Promise<{ status: number | null; lines: Line[] }> {
  const [path, ...before] = program("RemoteControlExample")!;
  const child = spawn(path, [...before, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (more) => {
    text += more;
  });
  const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
  const lines = text.split("\n").filter((line) => line.startsWith("{"));
  return { status, lines: lines.map((line) => JSON.parse(line) as Line) };
}

test.skipIf(toolchain() === undefined).for(["a plain socket", "a WebSocket"])(
  "the Swift end receives frames over %s, sends commands, and finds the delay that was added to the network",
  async (carrier) => {
    if (!program("RemoteControlExample")) expect(compile("--product", "RemoteControlExample")).toBe(0);
    const served = await serveRemoteControl({ socketPort: 0, windowBytes: 100_000, screen: drawnScreen() }); // each frame waits until the client has taken the one before
    try {
      const { url, token } = served.channel;
      const to = carrier === "a WebSocket" ? ["--url", url, "--token", token] : ["--port", String(served.socketPort)];
      const { status, lines } = await run(...to, "--commands", "12", "--delay-ms", String(addedMs));
      expect(status).toBe(0);
      expect(lines.map(({ label }) => label)).toEqual(["before", "after"]);
      const [, after] = lines;
      // The delay applies to both directions. Each of the two timers may be early by 1 ms.
      for (const row of ["ping", "network", "whole"])
        expect(after?.[row], row).toBeGreaterThanOrEqual(2 * (addedMs - 1));
      for (const line of lines) {
        expect(line["trips"]).toBeGreaterThanOrEqual(12);
        expect(line["frames"]).toBeGreaterThan(0);
        expect(line["bytes"]).toBe(320 * 180 * 4 * Number(line["frames"]));
      }
    } finally {
      await served.close();
    }
  },
);

test.skipIf(toolchain() === undefined)(
  "the Swift end goes on after numbers of a server that are no numbers of commands",
  async () => {
    if (!program("RemoteControlExample")) expect(compile("--product", "RemoteControlExample")).toBe(0);
    const server = createServer(async (socket) => {
      const endpoint = await connect(streamTransport({ readable: socket, writable: socket }));
      let shown = [Number.NaN, 0, 0, Number.POSITIVE_INFINITY, 0, 0, 1e300, 0, 0, 0.5, 0, 0];
      let number = -(2n ** 63n);
      endpoint.methods("remote").handle({ ping: () => null });
      endpoint.messages("remote/command", binaryCodec).handle(() => {
        shown = [1, 2, 1];
        number = 2n ** 63n - 1n;
        return undefined;
      });
      endpoint.events("remote/frames").serve(async function* () {
        for (;;) yield { number, shown: Float64Array.from(shown), pixels: new Uint8Array(1) };
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = server.address() as AddressInfo;
      const { status, lines } = await run("--port", String(port), "--commands", "1");
      expect(status).toBe(0);
      expect(lines[0]).toMatchObject({ trips: 1, native: 1 });
    } finally {
      server.close();
    }
  },
);
