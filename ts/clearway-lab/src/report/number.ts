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

export function bytes(count: number): string {
  if (count >= 1 << 20) return `${shown(count / 2 ** 20)} MB`;
  return count >= 1024 ? `${shown(count / 1024)} KB` : `${count} B`;
}

/** Formats a duration: "45 s", "3 min 5 s", "2 min", "2 h 10 min". */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min${seconds % 60 === 0 ? "" : ` ${seconds % 60} s`}`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? "" : ` ${minutes % 60} min`}`;
}
