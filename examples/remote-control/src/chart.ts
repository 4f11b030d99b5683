// SPDX-License-Identifier: MIT OR Apache-2.0
import { SharpCanvas, themeColours } from "../../demo/src/page/drawing.js";
import { parts, type RoundTrip } from "./split.js";

const shownMs = 20_000;
/** Minimum range of the scale, in milliseconds. Short times then look short. */
const leastTopMs = 25;

export interface Ping {
  readonly atMs: number;
  readonly roundTripMs: number;
}

/** Draws round trips over time. A command is a bar of stacked parts. The pings of the bare channel are a line. */
export class Chart {
  readonly #canvas: SharpCanvas;
  readonly #colours = themeColours([...parts, "ping", "surface", "line", "ink-soft"]);
  #trips: RoundTrip[] = [];
  #pings: Ping[] = [];

  constructor(element: HTMLCanvasElement) {
    this.#canvas = new SharpCanvas(element);
  }

  add(trip: RoundTrip): void {
    this.#trips.push(trip);
  }

  addPing(ping: Ping): void {
    this.#pings.push(ping);
  }

  draw(nowMs: number): void {
    const { context, width, height } = this.#canvas;
    const sinceMs = nowMs - shownMs;
    this.#trips = this.#trips.filter(({ atMs }) => atMs > sinceMs);
    this.#pings = this.#pings.filter(({ atMs }) => atMs > sinceMs);
    context.fillStyle = this.#colours.surface;
    context.fillRect(0, 0, width, height);
    // Cuts off the tallest one percent of the bars, because a single long one would flatten all others.
    const totals = this.#trips.map(({ totalMs }) => totalMs).sort((a, b) => a - b);
    const tall = totals[Math.floor(totals.length * 0.99)] ?? 0;
    const topMs = Math.max(leastTopMs, tall, ...this.#pings.map(({ roundTripMs }) => roundTripMs)) * 1.15;
    const x = (atMs: number): number => ((atMs - sinceMs) / shownMs) * width;
    const y = (ms: number): number => height - (Math.min(ms, topMs) / topMs) * height;
    for (const trip of this.#trips) {
      let sum = 0;
      for (const part of parts) {
        const ms = trip[`${part}Ms`];
        context.fillStyle = this.#colours[part];
        context.fillRect(x(trip.atMs) - 1, y(sum + ms), 2, Math.max(0.5, y(sum) - y(sum + ms)));
        sum += ms;
      }
    }
    this.#drawPings(x, y);
    this.#drawScale(topMs, y);
  }

  #drawPings(x: (ms: number) => number, y: (ms: number) => number): void {
    const { context } = this.#canvas;
    context.strokeStyle = this.#colours.ping;
    context.lineWidth = 1.5;
    context.beginPath();
    for (const { atMs, roundTripMs } of this.#pings) context.lineTo(x(atMs), y(roundTripMs));
    context.stroke();
  }

  #drawScale(topMs: number, y: (ms: number) => number): void {
    const { context, width } = this.#canvas;
    const step = [5, 10, 20, 50, 100, 200, 500, 1000, 2000].find((each) => topMs / each <= 5) ?? 5000;
    context.font = "600 11px system-ui, sans-serif";
    context.lineWidth = 1;
    for (let ms = step; ms < topMs; ms += step) {
      const level = Math.round(y(ms)) - 0.5;
      context.strokeStyle = this.#colours.line;
      context.beginPath();
      context.moveTo(0, level);
      context.lineTo(width, level);
      context.stroke();
      // A label has an outline, so that it is readable over the bars. Without room above its line, it is below.
      const labelY = level > 16 ? level - 4 : level + 12;
      context.strokeStyle = this.#colours.surface;
      context.lineWidth = 4;
      context.lineJoin = "round";
      context.strokeText(`${ms} ms`, 6, labelY);
      context.lineWidth = 1;
      context.fillStyle = this.#colours["ink-soft"];
      context.fillText(`${ms} ms`, 6, labelY);
    }
  }
}
