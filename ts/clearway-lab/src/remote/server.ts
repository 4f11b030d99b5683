// SPDX-License-Identifier: MIT OR Apache-2.0
// Starts the servers of the family `remote`: nats-server and redis-server, on loopback, with their files in a folder of their own. Each
// measurement has a new server, so that no earlier one has warmed it up or left messages. Node only.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findServer, type ServerName } from "./programs.js";

export interface RunningServer {
  url: string;
  /** Ends the server and deletes its files. */
  close(): Promise<void>;
}

/** Time in which a server must accept connections, in milliseconds. On a busy machine, the first start takes a second. */
const START_MS = 20_000;
/** Time between two reads of the ports file, in milliseconds. */
const POLL_MS = 5;
/** Number of attempts to start Redis. Another program may take the free port that was found for it. */
const REDIS_ATTEMPTS = 5;

/** Starts a server. `durable` says whether the jobs of Redis survive its end; NATS's streams always do. */
export async function startServer(name: ServerName, durable: boolean): Promise<RunningServer> {
  const program = findServer(name);
  if (program === undefined) throw new Error(`${name} is not installed`);
  const folder = mkdtempSync(path.join(tmpdir(), `clearway-lab-${name}-`));
  // A runner that ends early must not leave its folder.
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  try {
    const { child, url } =
      name === "nats-server" ? await startNats(program, folder) : await startRedis(program, folder, durable);
    return {
      url,
      close: async () => {
        await end(child);
        process.off("exit", remove);
        remove();
      },
    };
  } catch (error) {
    process.off("exit", remove);
    remove();
    throw error;
  }
}

interface Started {
  child: ChildProcess;
  url: string;
}

async function startNats(program: string, folder: string): Promise<Started> {
  // The port -1 is any free port. The server writes it into its ports file.
  const args = ["-a", "127.0.0.1", "-p", "-1", "-js", "-sd", folder, "--ports_file_dir", folder];
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  const ended = endOf(child);
  const ports = path.join(folder, `nats-server_${child.pid}.ports`);
  const url = await Promise.race([ended, untilStarted(() => natsUrlOf(ports))]).catch(async (error) => {
    await end(child);
    throw error;
  });
  return { child, url };
}

/** Returns the first address in a ports file. Undefined while the file is missing or incomplete. */
function natsUrlOf(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return (JSON.parse(readFileSync(file, "utf8")) as { nats?: string[] }).nats?.[0];
  } catch {
    return undefined;
  }
}

async function startRedis(program: string, folder: string, durable: boolean): Promise<Started> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const persistence = durable ? ["--appendonly", "yes", "--save", ""] : ["--appendonly", "no", "--save", ""];
    const args = ["--bind", "127.0.0.1", "--port", String(port), "--dir", folder, "--maxmemory-policy", "noeviction"];
    const child = spawn(program, [...args, ...persistence], { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-10_000);
    });
    const ready = () => (/ready to accept connections/i.test(said) ? `redis://127.0.0.1:${port}` : undefined);
    try {
      return { child, url: await Promise.race([endOf(child), untilStarted(ready)]) };
    } catch (error) {
      await end(child);
      if (attempt === REDIS_ATTEMPTS || !/address already in use/i.test(said)) throw error;
    }
  }
}

async function untilStarted(find: () => string | undefined): Promise<string> {
  const begin = performance.now();
  for (;;) {
    const found = find();
    if (found !== undefined) return found;
    if (performance.now() - begin > START_MS) throw new Error(`the server did not start within ${START_MS / 1000} s`);
    await sleep(POLL_MS);
  }
}

/** Rejects when the server ends, with the last that it wrote to stderr. */
function endOf(child: ChildProcess): Promise<never> {
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-2000);
  });
  const ended = new Promise<never>((_, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) =>
      reject(
        new Error(`the server ended: code=${code} signal=${signal} ${said.trim().split("\n").slice(-3).join(" | ")}`),
      ),
    );
  });
  // After the start, nothing awaits this promise.
  ended.catch(() => {});
  return ended;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}
