// SPDX-License-Identifier: MIT OR Apache-2.0
// Completes causes with the places of the original sources, and gathers equal causes.
import { type Cause, nameOf, type Place, ranFor } from "./cause.js";
import type { CauseGroup, FoundStall, LocatedCause } from "./record.js";
import type { SourceMapper } from "./source-map.js";

/** The number of calls that lead to a cause and are kept: the innermost ones. */
const CALLERS_MAX = 10;

/** What a page's addresses mean: scripts of other origins are third parties, and files of a local page are named without its server. */
export interface Site {
  readonly origin: string;
  /** Whether the page is a local file. Its server has another port in each run. */
  readonly local: boolean;
}

/** Files of Clearway's packages: installed, in the cache of Vite's server, in Clearway's own repository, or chunks of a bundle. */
const CLEARWAY_FILE =
  /(^|\/)((node_modules|ts)\/clearway(-[a-z]+)?\/dist\/|\.vite\/deps\/clearway|clearway-(core|rest|records|arrow)\b[^/]*\.m?js)/;

/** Finds the original place of a cause. Without a site, the cause is one of a script. */
export async function locateCause(found: Cause, mapper: SourceMapper, site: Site | undefined): Promise<LocatedCause> {
  const cause = await withoutClearway(found, mapper);
  const callers = cause.callers.slice(-CALLERS_MAX).map((caller) => named(caller, site));
  if (cause.place === undefined) return { ...cause, callers, thirdParty: false };
  const { place, original, code, parsesJson } = await mapper.locate(cause.place);
  const isParse = cause.kind === "script" && parsesJson;
  return {
    ...cause,
    place: named(place, site),
    callers,
    ...(isParse
      ? { kind: "parse" as const, builtIn: "JSON.parse", because: `JSON.parse ran for ${cause.ms.toFixed(0)} ms of it` }
      : {}),
    ...(original === undefined ? {} : { original }),
    ...(code === undefined ? {} : { code }),
    thirdParty: site !== undefined && isOther(place, site.origin),
  };
}

/**
 * Leaves out Clearway's own functions, which a developer cannot change: the place is the app's function that called them. A cause without
 * a function of the app has no place.
 */
async function withoutClearway(cause: Cause, mapper: SourceMapper): Promise<Cause> {
  const { place: innermost, callers, ...rest } = cause;
  if (innermost === undefined) return cause;
  // A bundle contains Clearway's functions among others. Only its source map tells them apart.
  const isClearways = async (place: Place): Promise<boolean> => {
    if (CLEARWAY_FILE.test(place.url) || place.url !== innermost.url) return CLEARWAY_FILE.test(place.url);
    const { original } = await mapper.locate(place);
    return original !== undefined && CLEARWAY_FILE.test(original.source);
  };
  const stack = [...callers, innermost];
  const areClearways = await Promise.all(stack.map(isClearways));
  const app = stack.filter((_, at) => !areClearways[at]);
  const place = app.pop();
  if (place === innermost) return { ...cause, callers: app };
  const name = place === undefined ? "Clearway" : nameOf(place);
  const because = cause.kind === "script" ? ranFor(name, cause.ms) : cause.because;
  return { ...rest, callers: app, because, ...(place && { place }) };
}

function named(place: Place, site: Site | undefined): Place {
  const start = `${site?.origin}/`;
  return site?.local && place.url.startsWith(start) ? { ...place, url: place.url.slice(start.length) } : place;
}

function isOther({ url }: Place, origin: string): boolean {
  return /^https?:/.test(url) && URL.canParse(url) && new URL(url).origin !== origin;
}

/** Gathers stalls with the same kind of cause in the same function. Returns the cause with most time first. */
export function groupCauses(stalls: readonly FoundStall[]): CauseGroup[] {
  const groups = new Map<string, { cause: LocatedCause; stalls: FoundStall[] }>();
  for (const stall of stalls) {
    const { kind, place, builtIn } = stall.cause;
    const key = JSON.stringify([
      kind,
      builtIn,
      place?.url,
      place?.functionName,
      place?.functionLine,
      place?.functionColumn,
    ]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { cause: stall.cause, stalls: [stall] });
    else {
      group.stalls.push(stall);
      // The longest stall of the group shows the line.
      if (stall.lengthMs > Math.max(...group.stalls.slice(0, -1).map(({ lengthMs }) => lengthMs)))
        group.cause = stall.cause;
    }
  }
  return [...groups.values()]
    .map(({ cause, stalls: own }) => ({
      cause,
      stalls: own.length,
      totalMs: own.reduce((sum, { lengthMs }) => sum + lengthMs, 0),
      longestMs: Math.max(...own.map(({ lengthMs }) => lengthMs)),
      during: [...new Set(own.map(({ during }) => during).filter((step) => step !== ""))],
    }))
    .sort((a, b) => rank(a) - rank(b) || b.totalMs - a.totalMs);
}

// What the developer can change comes first.
function rank({ cause: { kind } }: { cause: Pick<LocatedCause, "kind"> }): number {
  return kind === "machine" || kind === "unknown" ? 1 : 0;
}
