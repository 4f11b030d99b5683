// SPDX-License-Identifier: MIT OR Apache-2.0
// Completes causes with the places of the original sources, and gathers equal causes.
import type { Cause, Place } from "./cause.js";
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

/** Finds the original place of a cause. Without a site, the cause is one of a script. */
export async function locateCause(cause: Cause, mapper: SourceMapper, site: Site | undefined): Promise<LocatedCause> {
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
