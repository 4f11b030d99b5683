// SPDX-License-Identifier: MIT OR Apache-2.0
import { Newest, type Part, parts, type RoundTrip, valuesFor } from "./split.js";

const kept = 2_000;
const quantiles = { p50: 0.5, p99: 0.99 };
const rows = ["whole", ...parts, "ping"] as const;
type Row = (typeof rows)[number];
const titles: Record<Row, string> = {
  whole: "command to picture",
  network: "network",
  queue: "queue",
  native: "native",
  paint: "paint",
  ping: "ping of the bare channel",
};

const number = new Intl.NumberFormat("en");

/** Returns a quantile as the table shows it. Without a value, says how many values there are, and how many it needs. */
export function quantileText(value: number | undefined, values: number, needed: number): string {
  if (value === undefined) return `after ${number.format(needed)} values\n(${number.format(values)} so far)`;
  return `${value.toFixed(value < 10 ? 2 : 0)}\u00a0ms`;
}

/** The table: p50 and p99 of the total, of its parts and of the pings. Only the newest values count. */
export class Figures {
  readonly #series = Object.fromEntries(rows.map((row) => [row, new Newest(kept)])) as Record<Row, Newest>;
  readonly #body: HTMLElement;

  constructor(body: HTMLElement) {
    this.#body = body;
    for (const row of rows) {
      const line = body.appendChild(document.createElement("tr"));
      line.dataset["row"] = row;
      if (row === "whole") line.className = "whole";
      const head = line.appendChild(document.createElement("th"));
      head.scope = "row";
      head.append(titles[row]);
      for (const name of Object.keys(quantiles))
        line.appendChild(document.createElement("td")).dataset["quantile"] = name;
    }
  }

  add(trip: RoundTrip): void {
    this.#series.whole.add(trip.totalMs);
    for (const part of parts) this.#series[part].add(trip[`${part}Ms` as `${Part}Ms`]);
  }

  addPing(ms: number): void {
    this.#series.ping.add(ms);
  }

  /** Drops all values. */
  clear(): void {
    for (const row of rows) this.#series[row].clear();
    this.draw();
  }

  draw(): void {
    for (const line of this.#body.querySelectorAll("tr")) {
      const series = this.#series[line.dataset["row"] as Row];
      line.dataset["count"] = String(series.length);
      for (const cell of line.querySelectorAll("td")) {
        const quantile = quantiles[cell.dataset["quantile"] as keyof typeof quantiles];
        const value = series.quantile(quantile);
        cell.dataset["value"] = value === undefined ? "" : String(value);
        cell.className = value === undefined ? "few" : "";
        cell.textContent = quantileText(value, series.length, valuesFor(quantile));
      }
    }
  }
}

/** Counts the frames that arrived, and those that the server dropped for newer ones. It reads no clock: the caller passes the time. */
export class FrameCount {
  #first: number | undefined;
  #newest = 0;
  #shown = 0;
  #arrivedMs: number[] = [];

  /** Counts a frame. `number` is its number: the server also counts the frames that it drops. */
  add(number: number, nowMs: number): void {
    this.#first ??= number;
    this.#newest = number;
    this.#shown++;
    this.#arrivedMs.push(nowMs);
  }

  /** Begins again with the next frame. */
  clear(): void {
    this.#first = undefined;
    this.#shown = 0;
  }

  get shown(): number {
    return this.#shown;
  }

  /** The frames that the server drew, from the first counted one to the newest. */
  get made(): number {
    return this.#first === undefined ? 0 : this.#newest - this.#first + 1;
  }

  get dropped(): number {
    return this.made - this.#shown;
  }

  /** Returns the number of frames in the last second. `clear` does not change it. */
  lastSecond(nowMs: number): number {
    this.#arrivedMs = this.#arrivedMs.filter((arrivedMs) => arrivedMs >= nowMs - 1000);
    return this.#arrivedMs.length;
  }
}
