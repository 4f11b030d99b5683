// SPDX-License-Identifier: MIT OR Apache-2.0
// Removes from a record what would name a person or a machine: absolute paths, the user's name and the machine's. Errors and remarks may
// have any of them.
import os from "node:os";

/** What names this machine and its user. */
export interface OwnNames {
  /** Absolute folders, which are replaced together with the path that follows. */
  folders: readonly string[];
  user: string;
  host: string;
}

/** A text that still names this machine or its user, and where it is, as a JSON pointer. */
export interface Leak {
  field: string;
  what: string;
}

const REMOVED_FOLDER = "...";

/** Names of accounts and machines that say nothing about a person. Some of them occur in the lab's own texts. */
const IMPERSONAL = new Set(
  [
    "admin",
    "administrator",
    "app",
    "build",
    "builder",
    "ci",
    "container",
    "debian",
    "dev",
    "docker",
    "fedora",
    "guest",
  ].concat([
    "host",
    "local",
    "localhost",
    "machine",
    "node",
    "root",
    "runner",
    "server",
    "test",
    "ubuntu",
    "user",
    "vagrant",
    "worker",
  ]),
);

/** A name with fewer characters would be found inside ordinary texts. */
const NAME_CHARACTERS_MIN = 3;

/** The fields that identify a cell or a figure, and the facts about the hardware. A changed one would be another cell or machine. */
const IDENTITY = new Set(
  [
    "family",
    "scenario",
    "mechanism",
    "host",
    "profile",
    "role",
    "unit",
    "metric",
    "subject",
    "reference",
    "compare",
    "name",
  ].concat(["params", "cpu", "arch", "virtual", "governor", "startedAt"]),
);

/** An encoded histogram: Base64 with slashes. */
const OPAQUE = "hdr";

const STOP = "\\s\"'`<>|(){}\\[\\],;";
const SEGMENT = `(?:[^/:${STOP}]|:(?!/))`;
/** The forms of an absolute path. A path in quotes may have spaces. */
const PATHS = [
  /(?<=(["'`]))(?:file:\/\/|\/(?!\/)|[A-Za-z]:[\\/]|\\\\)(?:(?!\1)[^\n])*[\\/](?:(?!\1)[^\n])*(?=\1)/g,
  new RegExp(`file://[^${STOP}]+`, "g"),
  new RegExp(`(?<![A-Za-z0-9])[A-Za-z]:[\\\\/](?!/)[^${STOP}]*`, "g"),
  new RegExp(`\\\\\\\\[^\\\\${STOP}]+\\\\[^${STOP}]*`, "g"),
  // Two segments at least: "10 ms /s" is no path. A colon before a slash begins the next path of a list.
  new RegExp(`(?<![\\w./~])/(?:${SEGMENT}+/)+${SEGMENT}*`, "g"),
];
/** The folder of a user in a path that begins with something else, such as the flag -I. */
const HOMES = /[\\/](?:home|Users)[\\/][^\\/\s"'`<>|()]+/g;

/** Returns the names of this machine. `folders` are more folders to remove, such as that of the run. */
export function ownNames(folders: readonly string[] = []): OwnNames {
  const own = [os.homedir(), os.tmpdir(), process.cwd(), ...folders];
  let user = "";
  try {
    user = os.userInfo().username;
  } catch {
    // The system has no account for this user, so there is no name to remove.
  }
  return { folders: own.filter((folder) => folder.length > 1), user, host: os.hostname() };
}

/** Returns a copy of a JSON value whose texts name neither this machine nor its user, and have no absolute path. */
export function redacted<T>(value: T, own: OwnNames): T {
  return walked(value, (text, key) => {
    if (key === OPAQUE) return text;
    const withoutPaths = withoutFolders(text, own.folders);
    return IDENTITY.has(key) ? withoutPaths : withoutNames(withoutPaths, own);
  }) as T;
}

/** Returns the first text that still names this machine or its user. Texts of `redacted` have none, except in a cell's own names. */
export function leakIn(value: unknown, own: OwnNames): Leak | undefined {
  const folders = own.folders.filter((folder) => folder.length > 1);
  let found: Leak | undefined;
  const look = (text: string, field: string) => {
    const folder = folders.find((each) => text.includes(each));
    const name = namesOf(own).find(({ pattern }) => new RegExp(pattern, "i").test(text));
    const what = folder !== undefined ? "a folder of this machine" : name && `the name of this ${name.of}`;
    if (what !== undefined) found ??= { field, what };
  };
  walked(
    value,
    (text, key, field) => {
      // The hardware's own name may be a machine's, too.
      if (key !== OPAQUE && !["cpu", "arch", "virtual"].includes(key)) look(text, field);
      return text;
    },
    look,
  );
  return found;
}

function withoutFolders(text: string, folders: readonly string[]): string {
  let rest = text;
  // The longest first: the home folder may contain the others.
  for (const folder of [...folders].sort((a, b) => b.length - a.length)) {
    for (const form of [folder, encodeURI(folder)])
      rest = rest.split(`file://${form}`).join(REMOVED_FOLDER).split(form).join(REMOVED_FOLDER);
  }
  for (const pattern of PATHS) rest = rest.replace(pattern, (found) => lastOf(found));
  return rest.replace(HOMES, REMOVED_FOLDER);
}

/** Returns the last segment of a path, behind dots. A user's own folder has none. */
function lastOf(found: string): string {
  if (/^(?:file:\/\/)?(?:[A-Za-z]:)?[\\/]+(?:home|Users)[\\/][^\\/]+[\\/]?$/.test(found)) return REMOVED_FOLDER;
  const last = found.split(/[\\/]+/).findLast((part) => part !== "") ?? "";
  return `${REMOVED_FOLDER}/${last}`;
}

function withoutNames(text: string, own: OwnNames): string {
  return namesOf(own).reduce((rest, { pattern, of }) => rest.replace(new RegExp(pattern, "gi"), `(${of})`), text);
}

function namesOf({ user, host }: OwnNames): { pattern: string; of: "machine" | "user" }[] {
  const short = host.split(".")[0]!;
  const all = [...new Set([host, short])].map((name) => ({ name, of: "machine" as const }));
  return [...all, { name: user, of: "user" as const }]
    .filter(({ name }) => name.length >= NAME_CHARACTERS_MIN && !IMPERSONAL.has(name.toLowerCase()))
    .map(({ name, of }) => ({ pattern: `(?<![A-Za-z0-9])${escaped(name)}(?![A-Za-z0-9])`, of }));
}

function escaped(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}

type OnText = (text: string, key: string, field: string) => string;

/** Returns a copy of a JSON value. `onText` maps each text; the key of an element is its list's. `onKey` sees each field's name. */
function walked(
  value: unknown,
  onText: OnText,
  onKey?: (key: string, field: string) => void,
  key = "",
  field = "",
): unknown {
  if (typeof value === "string") return onText(value, key, field);
  if (Array.isArray(value)) return value.map((each, at) => walked(each, onText, onKey, key, `${field}/${at}`));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      const own = `${field}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      onKey?.(name, own);
      // The entries of `params` are part of a cell's name.
      const kind = key === "params" ? key : name;
      return [name, walked(each, onText, onKey, kind, own)];
    }),
  );
}
