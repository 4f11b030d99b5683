// SPDX-License-Identifier: MIT OR Apache-2.0
// Finds the original place of a place in a bundled script. A source map is read only from where its script came from, within limits of size
// and time. A map that cannot be used is a note, never a failure.
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { FlattenMap, originalPositionFor, sourceContentFor, type TraceMap } from "@jridgewell/trace-mapping";
import { isInside } from "../../../../scripts/local-server.mjs";
import type { Place } from "./cause.js";
import { hasEsbuild, TYPESCRIPT, withoutTypes } from "./typescript.js";

export interface OriginalPlace {
  readonly functionName: string;
  readonly source: string;
  readonly line: number;
  readonly column: number;
  /** The line's text, if the map has the source. */
  readonly code?: string;
}

export interface Located {
  readonly place: Place;
  readonly original?: OriginalPlace;
  /** The text of the line that ran, shortened around the column. */
  readonly code?: string;
  /** Whether the place is a call of `JSON.parse`. A profile does not show the engine's own functions. */
  readonly parsesJson: boolean;
}

export type ReadResult =
  | { readonly text: string; readonly mapUrl?: string | undefined }
  /** The reason, without the address. Undefined if there is nothing to say: the script is no file. */
  | { readonly problem: string | undefined };

export interface SourceReader {
  /** Reads a script that ran. `mapUrl` is the address of its map if a header names one. Never rejects. */
  readScript(url: string): Promise<ReadResult>;
  /** Reads a source map. Refuses addresses that do not belong to the script. Never rejects. */
  readMap(url: string, scriptUrl: string): Promise<ReadResult>;
}

interface LoadedScript {
  readonly lines: readonly string[];
  readonly text: string;
  readonly map: TraceMap | undefined;
}

/** The largest source map that is parsed, in bytes of its text. A map of this size takes about a second. */
export const MAP_BYTES_MAX = 64 << 20;
const SCRIPT_BYTES_MAX = 32 << 20;

/** Maps places of bundles to their sources. Reads each script and each map once, and maps each place once. */
export class SourceMapper {
  readonly #scripts = new Map<string, Promise<LoadedScript | undefined>>();
  readonly #located = new Map<string, Promise<Located>>();
  readonly #notes = new Set<string>();

  constructor(private readonly reader: SourceReader) {}

  /** What could not be used, one sentence each. */
  get notes(): string[] {
    return [...this.#notes];
  }

  /** Returns a place with line and column if its script shows them, and its original place if there is a source map. Never rejects. */
  locate(place: Place): Promise<Located> {
    const key = JSON.stringify(place);
    const located = this.#located.get(key) ?? this.#locate(place);
    this.#located.set(key, located);
    return located;
  }

  async #locate(place: Place): Promise<Located> {
    if (!this.#scripts.has(place.url)) this.#scripts.set(place.url, this.#load(place.url));
    const script = await this.#scripts.get(place.url);
    if (script === undefined) return { place, parsesJson: false };
    const located = place.line === undefined ? withLine(place, script.text) : place;
    if (located.line === undefined) return { place: located, parsesJson: false };
    const text = script.lines[located.line - 1] ?? "";
    const shown = { place: located, parsesJson: callsJsonParse(text, located.column), ...codeOf(text, located.column) };
    if (script.map === undefined) return shown;
    try {
      const original = this.#original(located, script, script.map);
      return original === undefined ? shown : { ...shown, original };
    } catch {
      // The map's mappings are read only now, so only now a malformed one shows.
      this.#notes.add(malformed(place.url));
      return shown;
    }
  }

  #original(place: Place, { lines }: LoadedScript, map: TraceMap): OriginalPlace | undefined {
    const nameAt = beginningOfName(place, lines);
    const declared = nameAt && originalPositionFor(map, nameAt);
    const ran =
      place.column !== undefined || place.functionLine === place.line
        ? originalPositionFor(map, { line: place.line!, column: (place.column ?? place.functionColumn ?? 1) - 1 })
        : firstOnLine(map, place.line!, lines);
    const at = ran.source ? ran : declared;
    // A map may have no name for a source.
    if (at === undefined || !at.source) return undefined;
    const text = sourceContentFor(map, at.source)?.split("\n")[at.line - 1];
    return {
      functionName: declared?.name ?? place.functionName,
      source: at.source,
      line: at.line,
      column: at.column + 1,
      ...(text === undefined ? {} : codeOf(text, at.column + 1)),
    };
  }

  async #load(url: string): Promise<LoadedScript | undefined> {
    const script = await this.reader.readScript(url);
    if ("problem" in script) {
      if (script.problem !== undefined) this.#notes.add(`${shortUrl(url)}: ${script.problem}`);
      return undefined;
    }
    const loaded = { text: script.text, lines: script.text.split("\n") };
    const named = mapAddress(script.text) ?? script.mapUrl;
    if (named === undefined) {
      if (loaded.text.length > WHOLE_LINE_MAX * loaded.lines.length)
        this.#notes.add(`${shortUrl(url)} has no source map: build with one to see the names and files of its sources`);
      return { ...loaded, map: undefined };
    }
    const text = await this.#mapText(named, url);
    return { ...loaded, map: typeof text === "string" ? this.#parse(text, url) : undefined };
  }

  async #mapText(named: string, scriptUrl: string): Promise<string | undefined> {
    const refuse = (why: string): undefined => {
      this.#notes.add(`the source map of ${shortUrl(scriptUrl)} was not used: ${why}`);
    };
    if (named.startsWith("data:")) {
      if (named.length > MAP_BYTES_MAX) return refuse(`it is larger than ${MAP_BYTES_MAX >> 20} MB`);
      return dataText(named) ?? refuse("its data: address cannot be decoded");
    }
    if (!URL.canParse(named, scriptUrl)) return refuse("its address is malformed");
    const read = await this.reader.readMap(new URL(named, scriptUrl).href, scriptUrl);
    return "problem" in read ? refuse(read.problem ?? "it cannot be read") : read.text;
  }

  #parse(text: string, scriptUrl: string): TraceMap | undefined {
    try {
      // A prefix that some servers send, against inclusion as a script.
      const map = JSON.parse(text.replace(/^\)\]\}'[^\n]*\n/, "")) as ConstructorParameters<typeof TraceMap>[0];
      return new FlattenMap(map as never, null);
    } catch {
      this.#notes.add(malformed(scriptUrl));
      return undefined;
    }
  }
}

function malformed(scriptUrl: string): string {
  return `the source map of ${shortUrl(scriptUrl)} was not used: it is not a valid source map`;
}

const CODE_MAX = 80;

/** Returns the text of a line. A long one is cut around the column, with an ellipsis at each cut. */
function codeOf(text: string, column = 1): { code: string } | undefined {
  const from = text.length <= CODE_MAX ? 0 : Math.max(0, column - 1 - CODE_MAX / 2);
  const code = text
    .slice(from, from + CODE_MAX)
    .replace(/\s+/g, " ")
    .trim();
  if (code === "") return undefined;
  return { code: `${from > 0 ? "…" : ""}${code}${from + CODE_MAX < text.length ? "…" : ""}` };
}

/** A line without a known column counts if it is this short. A longer one is probably the work of a bundler, with many calls. */
const WHOLE_LINE_MAX = 200;

/** The engine places a call of `JSON.parse` at its name or its argument. */
function callsJsonParse(text: string, column: number | undefined): boolean {
  const near = column === undefined ? text : text.slice(Math.max(0, column - 20), column + 12);
  return near.length <= WHOLE_LINE_MAX && /\bJSON\s*\.\s*parse\s*\(/.test(near);
}

/** Returns the address in the script's last `sourceMappingURL` comment. */
function mapAddress(text: string): string | undefined {
  const at = text.lastIndexOf("sourceMappingURL=");
  if (at < 3 || !/^\/[/*][#@][ \t]*$/.test(text.slice(Math.max(0, text.lastIndexOf("/", at - 1) - 1), at)))
    return undefined;
  return /^[^\s'"*]+/.exec(text.slice(at + "sourceMappingURL=".length))?.[0];
}

function dataText(address: string): string | undefined {
  const comma = address.indexOf(",");
  if (comma < 0) return undefined;
  try {
    const body = address.slice(comma + 1);
    return /;base64$/i.test(address.slice(0, comma))
      ? Buffer.from(body, "base64").toString("utf8")
      : decodeURIComponent(body);
  } catch {
    return undefined;
  }
}

/** Computes line and column from the index that a long animation frame names. */
function withLine(place: Place, text: string): Place {
  if (place.charPosition === undefined || place.charPosition > text.length) return place;
  const before = text.slice(0, place.charPosition);
  const line = before.split("\n").length;
  const column = place.charPosition - before.lastIndexOf("\n");
  return { ...place, line, column, functionLine: line, functionColumn: column };
}

/** V8 places a function at the parenthesis after its name. Source maps name the function where the name begins. */
function beginningOfName(place: Place, lines: readonly string[]): { line: number; column: number } | undefined {
  const { functionName, functionLine, functionColumn } = place;
  if (functionLine === undefined || functionColumn === undefined) return undefined;
  const before = (lines[functionLine - 1] ?? "").slice(0, functionColumn - 1);
  const column =
    functionName !== "" && before.endsWith(functionName) ? before.length - functionName.length : before.length;
  return { line: functionLine, column };
}

/** Returns the original position of the first code on a line. A profile knows the line that ran, but not its column. */
function firstOnLine(map: TraceMap, line: number, lines: readonly string[]) {
  const column = Math.max(0, (lines[line - 1] ?? "").search(/\S/));
  return originalPositionFor(map, { line, column });
}

/** Shortens an address for a sentence. */
function shortUrl(url: string): string {
  const short = url.startsWith("data:")
    ? "data:"
    : url.replace(/^http:\/\/127\.0\.0\.1:\d+\/(?=.)/, "").replace(/[?#].*$/, "");
  return short.length > 120 ? `…${short.slice(-119)}` : short;
}

// Reads scripts and source maps: over HTTP for pages, from the disk for Node scripts. Nothing is read that the run did not load, and no map
// from elsewhere than its script.

const READ_MS_MAX = 10_000;

/** Reads what a page loaded. `loaded` has the addresses of its scripts and documents. */
export function httpReader(loaded: ReadonlySet<string>): SourceReader {
  return {
    readScript: async (url) =>
      loaded.has(url) ? fetchText(url, SCRIPT_BYTES_MAX, "the script") : { problem: undefined },
    readMap: async (url, scriptUrl) =>
      new URL(url).origin === new URL(scriptUrl).origin
        ? fetchText(url, MAP_BYTES_MAX, "it")
        : { problem: `it is on another host than its script (${new URL(url).host || new URL(url).protocol})` },
  };
}

async function fetchText(url: string, bytesMax: number, what: string): Promise<ReadResult> {
  if (!/^https?:/.test(url)) return { problem: undefined };
  try {
    // A redirect may lead to another host.
    const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(READ_MS_MAX) });
    if (!response.ok) {
      await response.body?.cancel();
      return { problem: `${what} cannot be read again: status ${response.status}` };
    }
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      bytes += part.byteLength;
      if (bytes > bytesMax) return { problem: `${what} is larger than ${bytesMax >> 20} MB` };
      parts.push(part);
    }
    const mapUrl = response.headers.get("sourcemap") ?? response.headers.get("x-sourcemap") ?? undefined;
    return { text: Buffer.concat(parts).toString("utf8"), mapUrl };
  } catch (error) {
    const { name, cause, message } = error as Error & { cause?: { code?: string; message?: string } };
    const why =
      name === "TimeoutError" ? `no answer in ${READ_MS_MAX / 1000} s` : (cause?.code ?? cause?.message ?? message);
    return { problem: `${what} cannot be read again: ${why}` };
  }
}

/** Reads scripts and maps of the package that `script` belongs to: the nearest folder with a package.json, else the script's own folder. */
export function fileReader(script: string): SourceReader {
  const root = packageFolder(path.dirname(script)) ?? path.dirname(script);
  return {
    readScript: async (url) => {
      const read = readInside(root, url, SCRIPT_BYTES_MAX, false);
      if ("problem" in read || !TYPESCRIPT.test(url) || !hasEsbuild()) return read;
      try {
        return { text: await withoutTypes(read.text, path.basename(fileURLToPath(url))) };
      } catch {
        return { problem: "it is not valid TypeScript" };
      }
    },
    readMap: async (url) => readInside(root, url, MAP_BYTES_MAX, true),
  };
}

function readInside(root: string, url: string, bytesMax: number, isMap: boolean): ReadResult {
  if (!url.startsWith("file:")) return { problem: isMap ? "it is not a file" : undefined };
  try {
    const file = realpathSync(fileURLToPath(url));
    if (!isInside(root, file)) return { problem: isMap ? "it is outside of the script's package" : undefined };
    const stats = statSync(file);
    if (!stats.isFile()) return { problem: isMap ? "it is not a regular file" : undefined };
    if (stats.size > bytesMax) return { problem: `the file is larger than ${bytesMax >> 20} MB` };
    return { text: readFileSync(file, "utf8") };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: isMap ? `it cannot be read: ${code === "ENOENT" ? "there is no such file" : code}` : undefined };
  }
}

function packageFolder(folder: string): string | undefined {
  if (existsSync(path.join(folder, "package.json"))) return folder;
  const parent = path.dirname(folder);
  return parent === folder ? undefined : packageFolder(parent);
}
