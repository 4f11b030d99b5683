// SPDX-License-Identifier: MIT OR Apache-2.0
// Formats numbers for readers: three significant digits, thin spaces between thousands, and no exponents.

export function shown(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const magnitude = Math.abs(value);
  if (magnitude >= 1000) return group(Math.round(value));
  return String(Number(value.toPrecision(magnitude >= 1 ? 3 : 2)));
}

function group(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
}

/** Returns the form of a unit for a page. results.json and terminals use ASCII only. */
export function unitText(unit: string): string {
  return unit === "us" ? "µs" : unit;
}

/** Replaces the unit `us` after a number in a sentence by `µs`. */
export function withMicroSign(sentence: string): string {
  return sentence.replace(/(\d) us\b/g, "$1 µs");
}

/** Formats a time. A time below a clock step is shown as less than one step. */
export function shownTime(us: number, clockStepUs: number): string {
  return us < clockStepUs ? `<${shown(clockStepUs)}` : shown(us);
}

/** Returns ticks for a logarithmic axis. They lie within the data and leave room for their labels. */
export function logTicks(least: number, most: number): number[] {
  const decades = Math.log10(most / least);
  const steps = decades > 3 ? [1] : decades > 1.2 ? [1, 3] : [1, 2, 5];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(least)); 10 ** power <= most; power++) {
    for (const step of steps) {
      // The tick is parsed from text, because 3 * 10 ** -1 is 0.30000000000000004.
      const tick = Number(`${step}e${power}`);
      if (tick >= least && tick <= most) ticks.push(tick);
    }
  }
  return ticks.length > 1 ? ticks : linearTicks(least, most);
}

/** Returns ticks at equal distances, for an axis with less than two of the numbers 1, 2 and 5 times a power of ten. */
function linearTicks(least: number, most: number): number[] {
  // The step is at most half of the range, so there are at least two ticks; it is more than a fifth of it, so there are at most five.
  const room = ((most - least) / 2) * (1 + 1e-9);
  if (!(room > 0)) return [least];
  const power = Math.floor(Math.log10(room));
  const step = [5, 2, 1].map((each) => Number(`${each}e${power}`)).find((each) => each <= room) ?? room;
  const ticks: number[] = [];
  for (let at = Math.ceil(least / step - 1e-9); at * step <= most * (1 + 1e-9); at++)
    ticks.push(Number((at * step).toPrecision(6)));
  return ticks;
}

export function bytes(count: number): string {
  if (count >= 1 << 20) return `${shown(count / 2 ** 20)} MB`;
  return count >= 1024 ? `${shown(count / 1024)} KB` : `${count} B`;
}

/** Formats a ratio for a sentence: "1/812" or "3.4 times". */
export function times(ratio: number): string {
  return ratio < 1 ? `1/${shown(1 / ratio)}` : `${shown(ratio)} times`;
}

/**
 * Returns the ascending numbers that can be labelled on a logarithmic axis. `share` is the part of the axis that a label needs; the axis goes
 * from `least` to `most`. Keeps the first and the last number.
 */
export function spaced(numbers: readonly number[], share: number, least = numbers[0], most = numbers.at(-1)): number[] {
  const [first, last] = [numbers[0], numbers.at(-1)];
  if (least === undefined || most === undefined || first === undefined || last === undefined) return [];
  if (numbers.length === 1) return [first];
  const apart = Math.log(most / least) * share;
  const kept = [first];
  for (const number of numbers.slice(1, -1)) {
    if (Math.log(number / kept.at(-1)!) >= apart && Math.log(last / number) >= apart) kept.push(number);
  }
  return Math.log(last / kept.at(-1)!) >= apart
    ? [...kept, last]
    : kept.length === 1
      ? [first, last]
      : [...kept.slice(0, -1), last];
}

/** Formats a duration: "45 s", "3 min 5 s", "2 h 10 min". */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}
