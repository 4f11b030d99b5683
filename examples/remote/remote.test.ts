// SPDX-License-Identifier: MIT OR Apache-2.0
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { noServer, startServer } from "../../ts/clearway-nats/test/server/nats-server.js";
import { outputOf } from "../output-of.js";

const path = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

describe.skipIf(noServer)("the remote pool", () => {
  test("the example compiles, and its callers print what their comments say", async () => {
    await outputOf("../node_modules/typescript/bin/tsc", "-p", path("./tsconfig.json"));
    const { url } = await startServer();
    const env = { ...process.env, NATS_URL: url };
    const worker = spawn(process.execPath, [path("./dist/worker.js")], { env, stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(async () => {
      if (worker.exitCode === null && worker.kill("SIGKILL")) await once(worker, "exit");
    });
    await once(worker.stdout, "data");
    const run = async (file: string): Promise<string[]> => {
      const { stdout } = await promisify(execFile)(process.execPath, [path(file)], { env, timeout: 600_000 });
      return stdout.trimEnd().split("\n");
    };
    expect(await run("./dist/caller.js")).toEqual([
      "25",
      "begun",
      "Uint8Array(2) [ 10, 30 ]",
      "25600",
      "49",
      "no-worker",
      "1 0 1",
      "true",
    ]);
    expect(await run("./dist/durable.js")).toEqual(["15", "photo-17", "Uint8Array(2) [ 1, 3 ]"]);
    worker.kill("SIGTERM");
    expect(await once(worker, "exit")).toEqual([0, null]);
  });
});
