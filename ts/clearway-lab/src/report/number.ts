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
