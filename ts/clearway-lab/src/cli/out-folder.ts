// SPDX-License-Identifier: MIT OR Apache-2.0
// Opens the output folder before anything is measured, so that no run is lost at its end: the folder can be written, and its
// files are a lab's.
import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  rmdirSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { FailedError, UsageError } from "./print.js";

/** How the files of a run begin. A file of that name with another beginning is not the lab's. */
const BEGINNINGS: Record<string, RegExp> = {
  "results.json": /^\s*\{\s*"version":\s*\d+,\s*"run":/,
  "record.json": /^\s*\{\s*"version":\s*\d+,\s*"profile":/,
  "report.html": /^\s*<!doctype html>[\s\S]*<title>Clearway lab report<\/title>/i,
};

/** Settings of a command whose files are not those of a run. */
export interface OutSettings {
  /** How the command's files begin. Default: the files of a run. */
  readonly beginnings?: Readonly<Record<string, RegExp>>;
  /** The name of the command in a message. */
  readonly writer?: string;
  /** Whether the missing parents of the folder are created. */
  readonly parents?: boolean;
}

export interface OutFolder {
  path: string;
  /** Removes the folder if this run created it and left it empty. May be called several times. */
  close(): void;
}

/**
 * Opens the folder. Throws a UsageError if it is not a folder, has no parent, or holds files that the lab did not write; throws a FailedError
 * if it cannot be written.
 */
export function openOut(folder: string, files: readonly string[], settings: OutSettings = {}): OutFolder {
  const { beginnings = BEGINNINGS, writer = "the lab", parents = false } = settings;
  const full = path.resolve(folder);
  if (parents) makeParents(full, folder);
  const created = makeFolder(full, folder);
  const removeEmpty = (): void => {
    if (!created) return;
    try {
      rmdirSync(full);
    } catch {
      // The run has files.
    }
  };
  try {
    for (const name of files)
      refuseForeign(path.join(full, name), `--out ${folder}: ${name} in it`, beginnings[name], writer);
    accessSync(full, constants.W_OK);
    return { path: full, close: removeEmpty };
  } catch (error) {
    removeEmpty();
    throw readableError(error, folder);
  }
}

/** Creates the folder if it does not exist. Returns whether it did. */
function makeFolder(full: string, folder: string): boolean {
  const found = statSync(full, { throwIfNoEntry: false });
  if (found?.isDirectory()) return false;
  if (found !== undefined) throw new UsageError(`--out ${folder} is a file; name a folder`);
  const parent = path.dirname(full);
  if (statSync(parent, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(`--out ${folder}: the folder ${parent} does not exist; create it with mkdir -p "${parent}"`);
  try {
    mkdirSync(full);
  } catch (error) {
    throw readableError(error, folder);
  }
  return true;
}

function makeParents(full: string, folder: string): void {
  try {
    makeFolders(path.dirname(full));
  } catch (error) {
    throw new UsageError(
      `--out ${folder}: its parent folder cannot be created (${(error as Error).message}); name another folder`,
    );
  }
}

function refuseForeign(file: string, named: string, beginning: RegExp | undefined, writer: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || (found.isFile() && found.size === 0)) return;
  if (found.isFile() && beginning?.test(headOf(file)) === true) return;
  throw new UsageError(
    `${named} was not written by ${writer}, and would be overwritten; choose another folder, or move the file away`,
  );
}

const CAUSES: Record<string, readonly [cause: string, next: string]> = {
  EACCES: ["you have no permission", "change the owner or the mode of the folder, or choose another one with --out"],
  EPERM: ["the system does not allow it", "choose another folder with --out"],
  EROFS: ["the file system is read-only", "choose another folder with --out"],
  ENOSPC: ["the disk is full", "remove files, or choose a folder on another disk with --out"],
  EDQUOT: ["your disk quota is used up", "remove files, or choose a folder on another disk with --out"],
  EFBIG: ["the file would be too large", "raise the limit (ulimit -f), or choose a folder on another disk with --out"],
  ELOOP: ["it is a symbolic link", "remove the link, or choose another folder with --out"],
  EISDIR: ["it is a folder", "move the folder away"],
  ENOENT: ["its folder is gone", "create it again, or choose another folder with --out"],
  ENOTDIR: ["its parent is a file", "choose another folder with --out"],
  EMFILE: ["too many files are open", "raise the limit (ulimit -n)"],
  ENAMETOOLONG: ["the name is too long", "choose a shorter one with --out"],
};

/** Returns an error of the file system as a FailedError that says what to do. Returns other errors unchanged. */
export function readableError(error: unknown, folder: string): unknown {
  if (!(error instanceof Error) || !("syscall" in error)) return error;
  const { code = "", path: file } = error as NodeJS.ErrnoException;
  const [cause, next] = CAUSES[code] ?? [error.message, "choose another folder with --out"];
  return new FailedError(`cannot write ${file ?? folder}: ${cause} (${code})`, next);
}

// Writes a finished run. If its folder cannot be written any more, keeps the run in another folder, because a run may have taken hours.

/**
 * Calls `write` with the folder. If the file system refuses, calls it with a new folder for temporary files and throws a FailedError that
 * names it.
 */
export async function keepRun(folder: string, write: (folder: string) => Promise<void>): Promise<void> {
  try {
    await write(folder);
  } catch (error) {
    const problem = readableError(error, folder);
    if (!(problem instanceof FailedError)) throw error;
    let kept: string;
    try {
      kept = mkdtempSync(path.join(tmpdir(), "clearway-lab-run-"));
      await write(kept);
    } catch {
      throw problem;
    }
    throw new FailedError(`${problem.reason}; the run is kept in ${kept}`, problem.next);
  }
}

// Checks the file to which a command writes a page, before the page is made.

/**
 * Returns the path of a page that may be written. Throws a UsageError if its folder does not exist, or if the file exists and is not a page
 * with this title: no foreign file is overwritten.
 */
export function openPage(file: string, title: string): string {
  const folder = path.dirname(path.resolve(file));
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(`${file}: the folder ${folder} does not exist; create it with mkdir -p "${folder}"`);
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || (found.isFile() && found.size === 0)) return file;
  if (found.isDirectory())
    throw new UsageError(`${file} is a folder; name a file, such as ${path.join(file, "page.html")}`);
  if (found.isFile() && headOf(file).includes(`<title>${title}</title>`)) return file;
  throw new UsageError(
    `${file} was not written by this command, and would be overwritten; name another file with --out, or move it away`,
  );
}

// Reads the beginning of a file, which shows what wrote it.

/** Number of bytes in which every file of Clearway shows that it is one. */
const HEAD_BYTES = 2000;

/** Returns the beginning of a file as text. Throws the file system's errors. */
export function headOf(file: string): string {
  const head = Buffer.alloc(HEAD_BYTES);
  const open = openSync(file, "r");
  try {
    return head.toString("utf8", 0, readSync(open, head));
  } finally {
    closeSync(open);
  }
}

// Creates a folder and its parents.

/**
 * Creates a folder and its missing parents. Throws the system's error if one cannot be created. Node's own recursive `mkdirSync` never
 * returns where the system refuses a folder with "no such file or directory" although its parent exists, as /proc does.
 */
export function makeFolders(folder: string): void {
  const missing: string[] = [];
  for (let at = path.resolve(folder); !exists(at, folder); at = path.dirname(at)) missing.push(at);
  for (const each of missing.reverse()) {
    try {
      mkdirSync(each);
    } catch (error) {
      // Another process may have created it meanwhile.
      if (!exists(each, folder)) throw error;
    }
  }
}

/** Throws the system's error if the path is a file, or below one: Node 24 says of a path below a file that it does not exist. */
function exists(at: string, folder: string): boolean {
  const found = statSync(at, { throwIfNoEntry: false });
  if (found !== undefined && !found.isDirectory()) {
    const code = at === path.resolve(folder) ? "EEXIST" : "ENOTDIR";
    throw Object.assign(new Error(`${code}: ${at} is a file`), { code, syscall: "mkdir", path: folder });
  }
  return found !== undefined;
}
