// SPDX-License-Identifier: MIT OR Apache-2.0
// The NATS server of the family `remote`: finds it, and starts it on loopback with its files in a folder of its own. Each measurement has a new
// server, so that no earlier one has warmed it up or left messages. Node only.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { packagesMissing } from "../machine/optional-packages.js";

/** Debian installs servers in /usr/sbin, which is not on every user's path. */
const FURTHER_FOLDERS = ["/usr/sbin", "/usr/local/sbin"];
const PROGRAM = "nats-server";
const INSTALL =
  "scripts/setup.sh nats, apt-get install nats-server, or https://docs.nats.io/running-a-nats-service/introduction/installation";

/** Returns the path of the server's program. Undefined if it is not installed. */
export function findServer(searched = process.env["PATH"] ?? ""): string | undefined {
  return [...searched.split(path.delimiter), ...FURTHER_FOLDERS]
    .filter((folder) => folder !== "")
    .map((folder) => path.join(folder, PROGRAM))
    .find((each) => existsSync(each));
}

/** Returns why mechanisms that need the server and these packages cannot run here, and the remedy. Undefined if they can. */
export function remoteProblem(
  packages: readonly string[],
  find: typeof findServer = findServer,
  isThere?: (name: string) => boolean,
): string | undefined {
  const missing = packagesMissing(packages, isThere);
  if (missing !== undefined) return missing;
  if (find() === undefined) return `${PROGRAM} is not installed: ${INSTALL}`;
  return undefined;
}

export interface RunningServer {
  url: string;
  /** Ends the server and deletes its files. */
  close(): Promise<void>;
}

/** Time in which a server must accept connections, in milliseconds. On a busy machine, the first start takes a second. */
const START_MS = 20_000;
/** Time between two reads of the ports file, in milliseconds. */
const POLL_MS = 5;

/** Starts a server. It ends with this process at the latest: an arm also exits when the lab is killed, because its channel then ends. */
export async function startServer(): Promise<RunningServer> {
  const program = findServer();
  if (program === undefined) throw new Error(`${PROGRAM} is not installed`);
  const folder = mkdtempSync(path.join(tmpdir(), `clearway-lab-${PROGRAM}-`));
  // The port -1 is any free port. The server writes it into its ports file.
  const args = ["-a", "127.0.0.1", "-p", "-1", "-js", "-sd", folder, "--ports_file_dir", folder];
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  const remove = (): void => {
    child.kill("SIGKILL");
    // The server may still write while it ends.
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  process.once("exit", remove);
  const close = async (): Promise<void> => {
    await end(child);
    process.off("exit", remove);
    remove();
  };
  try {
    const ports = path.join(folder, `${PROGRAM}_${child.pid}.ports`);
    return { url: await Promise.race([endOf(child), untilStarted(ports)]), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function untilStarted(ports: string): Promise<string> {
  const begin = performance.now();
  for (;;) {
    const found = urlOf(ports);
    if (found !== undefined) return found;
    if (performance.now() - begin > START_MS) throw new Error(`the server did not start within ${START_MS / 1000} s`);
    await sleep(POLL_MS);
  }
}

/** Returns the first address in a ports file. Undefined while the file is missing or incomplete. */
function urlOf(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  try {
    return (JSON.parse(readFileSync(file, "utf8")) as { nats?: string[] }).nats?.[0];
  } catch {
    return undefined;
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

/** Kills a process and waits for its end. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}
