// SPDX-License-Identifier: MIT OR Apache-2.0
// Decides whether a part has stayed flat: whether its memory, threads and handles stopped growing after the warm-up.

/** Part of the samples that is the warm-up, from the beginning. Caches, compiled code and pools grow in it. */
const warmUp = 0.25;
/** Smallest number of samples after the warm-up that a trend is judged by. */
const samplesMin = 24;

/** What is judged, and the growth over the whole run that is allowed: a share of the median, and at least `least`. */
const limits = {
  rss: { unit: "bytes", share: 0.1, least: 48 << 20 },
  heap: { unit: "bytes", share: 0.1, least: 4 << 20 },
  buffers: { unit: "bytes", share: 0.1, least: 32 << 20 },
  threads: { unit: "", share: 0, least: 4 },
  files: { unit: "", share: 0, least: 6 },
  children: { unit: "", share: 0, least: 3 },
  handles: { unit: "", share: 0, least: 12 },
};

const medianOf = (values) => {
  const sorted = [...values].sort((a, b) => a - b);
  const at = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[at] : (sorted[at - 1] + sorted[at]) / 2;
};

/**
 * Returns the slope of a series with its 95 % interval, by Theil and Sen: the median of the slopes between all pairs of points. A few
 * outliers do not move it. The interval is Sen's, from the variance of Kendall's S (P. K. Sen, J. Am. Stat. Assoc. 63, 1968, 1379-1389).
 * @param {readonly { at: number, value: number }[]} points
 */
export function slopeOf(points) {
  const slopes = [];
  for (let a = 0; a < points.length; a++)
    for (let b = a + 1; b < points.length; b++)
      if (points[b].at > points[a].at) slopes.push((points[b].value - points[a].value) / (points[b].at - points[a].at));
  slopes.sort((a, b) => a - b);
  const n = points.length;
  const spread = 1.96 * Math.sqrt((n * (n - 1) * (2 * n + 5)) / 18);
  const at = (index) => slopes[Math.min(slopes.length - 1, Math.max(0, Math.round(index)))];
  return { slope: medianOf(slopes), low: at((slopes.length - spread) / 2), high: at((slopes.length + spread) / 2) };
}

/**
 * Judges the samples `{ at, rss, heap, … }` of a part, `at` in seconds. Returns one row for each quantity: its median, the growth over the
 * time after the warm-up with its interval, and the verdict. `grows` means that the whole interval is beyond the limit.
 */
export function trendsOf(samples) {
  const rest = samples.slice(Math.floor(samples.length * warmUp));
  return Object.entries(limits).flatMap(([name, { unit, share, least }]) => {
    const points = rest.flatMap((each) => (each[name] === undefined ? [] : [{ at: each.at, value: each[name] }]));
    if (points.length === 0) return [];
    const median = medianOf(points.map(({ value }) => value));
    const most = Math.max(...points.map(({ value }) => value));
    if (points.length < samplesMin) return [{ name, unit, median, most, verdict: "too few samples" }];
    const { slope, low, high } = slopeOf(points);
    const seconds = points[points.length - 1].at - points[0].at;
    const limit = Math.max(share * median, least);
    const verdict = low * seconds > limit ? "grows" : high * seconds <= limit ? "flat" : "undecided";
    return [
      { name, unit, median, most, growth: slope * seconds, low: low * seconds, high: high * seconds, limit, verdict },
    ];
  });
}

/** Returns what went wrong in a part, as sentences. An empty list means that it has passed. */
export function faultsOf({ name, missing, died, report, ended, trends, exited }) {
  if (missing !== undefined) return [];
  const faults = [];
  if (died !== undefined) faults.push(`${name} ended during the run: ${died}`);
  for (const text of report?.unexpected ?? []) faults.push(text);
  const more = (report?.unexpectedCount ?? 0) - (report?.unexpected.length ?? 0);
  if (more > 0) faults.push(`${more} more unexpected errors`);
  if (died === undefined && ended === undefined) faults.push(`${name} did not end: ${openText(report)}`);
  if (ended !== undefined && !exited) faults.push(`${name} left handles that keep its process running`);
  for (const { name: quantity, verdict } of trends) if (verdict === "grows") faults.push(`${quantity} grows`);
  return faults;
}

function openText(report) {
  if (report === undefined) return "its process gave no sign of life";
  const open = report.open.map(({ name, ms }) => `${name} for ${(ms / 1000).toFixed(1)} s`);
  return open.length === 0 ? "no operation is open" : `open are ${open.join(", ")}`;
}
