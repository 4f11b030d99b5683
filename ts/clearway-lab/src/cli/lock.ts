// SPDX-License-Identifier: MIT OR Apache-2.0
// The lock of an output folder: DIR/lab.lock names the process that writes there. A lock whose process has ended is taken over.
import { randomBytes } from "node:crypto";
import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import path from "node:path";
import { isRunning, processStart } from "../machine/process-start.js";
import { FailedError } from "./errors.js";

export const LOCK_FILE = "lab.lock";

interface Holder {
  pid: number;
  /** When the process started, as the system counts it. Null if it is unknown. */
  start: string | null;
  machine: string;
  since: string;
}

export interface Lock {
  /** The number of the ended process whose lock was taken over. */
  takenFrom?: number;
  /** Removes the lock. May be called several times. */
  release(): void;
}

/** Locks a folder for this process. Throws a FailedError if another process has it, and the file system's own errors. */
export function lockFolder(folder: string): Lock {
  const file = path.join(folder, LOCK_FILE);
  const self: Holder = {
    pid: process.pid,
    start: processStart(process.pid),
    machine: hostname(),
    since: new Date().toISOString(),
  };
  // Another user of the folder cannot guess the name, and the flag refuses a file or a link that is there all the same.
  const own = `${file}.${randomBytes(12).toString("hex")}`;
  writeFileSync(own, JSON.stringify(self) + "\n", { flag: "wx" });
  try {
    if (created(own, file)) return held(file, self);
    const holder = readHolder(file);
    if (holder !== undefined) refuseRunning(file, folder, holder);
    // Two labs may find the same ended holder. Only one can move its lock away, and looks again at what it has moved.
    const moved = `${own}.old`;
    rename(file, moved);
    const found = readHolder(moved);
    if (found !== undefined && found.since !== holder?.since) {
      created(moved, file);
      unlink(moved);
      refuseRunning(file, folder, found);
    }
    unlink(moved);
    if (!created(own, file)) throw busy(file, folder, readHolder(file));
    return { ...held(file, self), ...(found === undefined ? {} : { takenFrom: found.pid }) };
  } finally {
    unlink(own);
  }
}

function held(file: string, self: Holder): Lock {
  const release = (): void => {
    process.off("exit", release);
    if (readHolder(file)?.since === self.since) unlink(file);
  };
  // A second Ctrl-C ends the lab at once.
  process.on("exit", release);
  return { release };
}

/** Gives a finished file its final name. Returns false if there is such a file. The lock is thus never seen half written. */
function created(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    // Some file systems have no links.
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS") throw error;
  }
  try {
    writeFileSync(to, readFileSync(from), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Returns the holder, or undefined if the file is gone. Throws a FailedError if a lab did not write it. */
function readHolder(file: string): Holder | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    const holder = JSON.parse(text) as Holder;
    if (Number.isSafeInteger(holder.pid) && holder.pid > 0 && typeof holder.machine === "string") return holder;
  } catch {
    // The same answer as for another form.
  }
  throw new FailedError(`${file} is not the lock of a lab`, "move the file away, or choose another folder with --out");
}

function refuseRunning(file: string, folder: string, holder: Holder): void {
  const { pid, start, machine } = holder;
  if (machine !== hostname() || isRunning(pid, start)) throw busy(file, folder, holder);
}

function busy(file: string, folder: string, holder: Holder | undefined): FailedError {
  const who = holder === undefined ? "" : `: pid=${holder.pid} machine=${holder.machine} since=${holder.since}`;
  const elsewhere = holder !== undefined && holder.machine !== hostname();
  const stop = elsewhere ? `remove ${file} if that lab has ended` : `stop it (kill ${holder?.pid ?? "PID"})`;
  return new FailedError(
    `another lab measures into ${folder}${who}`,
    `wait until it ends, ${stop}, or choose another folder with --out (two labs at once disturb each other's figures)`,
  );
}

function rename(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

function unlink(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
