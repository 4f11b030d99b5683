// SPDX-License-Identifier: MIT OR Apache-2.0
// What the page draws: the strip of the last frames with its labels, and the road.
import type { Frame } from "./frames.js";
import { ms } from "./result.js";

const shownMs = 8_000;
/** The top of the scale, in milliseconds: four frames at 60 Hz. A longer frame fills the height and shows its length as text. */
const topMs = 66.8;
const frameMs = 1000 / 60;
const textEveryMs = 500;
/** The baseline of the labels, in CSS pixels from the top. */
const labelY = 15;

interface DrawnFrame {
  endMs: number;
  lengthMs: number;
}

/** Draws the time between the frames that count as a scrolling strip. Each is a bar whose width and height show its time. */
export class FrameStrip {
  readonly #canvas: SharpCanvas;
  readonly #text: HTMLElement;
  readonly #colours = themeColours(["strip", "strip-line", "good", "warn", "bad", "ink-soft"]);
  readonly #frames: DrawnFrame[] = [];
  #textAtMs = 0;

  constructor(element: HTMLCanvasElement, text: HTMLElement) {
    this.#canvas = new SharpCanvas(element);
    this.#text = text;
  }

  draw({ nowMs, lengthMs, counts }: Frame): void {
    if (counts) this.#frames.push({ endMs: nowMs, lengthMs });
    while (this.#frames[0] && this.#frames[0].endMs < nowMs - shownMs) this.#frames.shift();

    const { context, width, height } = this.#canvas;
    context.fillStyle = this.#colours.strip;
    context.fillRect(0, 0, width, height);
    context.font = "600 12px system-ui, sans-serif";
    const pixelsPerMs = width / shownMs;

    for (const frame of this.#frames) {
      const right = width - (nowMs - frame.endMs) * pixelsPerMs;
      const barWidth = Math.max(1, frame.lengthMs * pixelsPerMs - 0.5);
      const barHeight = Math.min(1, frame.lengthMs / topMs) * (height - 2);
      context.fillStyle = this.#colours[gradeOf(frame.lengthMs)];
      context.fillRect(right - barWidth, height - barHeight, barWidth, barHeight);
    }

    this.#rule(frameMs, "one frame");
    this.#label(nowMs, pixelsPerMs);
    if (nowMs - this.#textAtMs > textEveryMs) this.#say(nowMs);
  }

  /** Writes the lengths of the frames that are too long for the scale. */
  #label(nowMs: number, pixelsPerMs: number): void {
    const { context, width } = this.#canvas;
    const bars = this.#frames
      .filter(({ lengthMs }) => lengthMs >= topMs)
      .map(({ endMs, lengthMs }) => {
        const right = width - (nowMs - endMs) * pixelsPerMs;
        return { left: right - lengthMs * pixelsPerMs, right, weight: lengthMs, text: ms(lengthMs) };
      });
    for (const { text, left, inside } of placeLabels(bars, width, (each) => context.measureText(each).width)) {
      // A label beside its bar has an outline, so that it is readable over other bars.
      if (!inside) this.#outline(text, left, labelY);
      context.fillStyle = inside ? this.#colours.strip : this.#colours.bad;
      context.fillText(text, left, labelY);
    }
  }

  #outline(text: string, x: number, y: number): void {
    const { context } = this.#canvas;
    context.strokeStyle = this.#colours.strip;
    context.lineWidth = 5;
    context.lineJoin = "round";
    context.strokeText(text, x, y);
  }

  #rule(atMs: number, label: string): void {
    const { context, width, height } = this.#canvas;
    const y = Math.round(height - (atMs / topMs) * (height - 2)) - 0.5;
    context.strokeStyle = this.#colours["strip-line"];
    context.lineWidth = 1;
    context.setLineDash([3, 4]);
    context.beginPath();
    context.moveTo(0, y);
    context.lineTo(width, y);
    context.stroke();
    context.setLineDash([]);
    this.#outline(label, 6, y - 5);
    context.fillStyle = this.#colours["ink-soft"];
    context.fillText(label, 6, y - 5);
  }

  #say(nowMs: number): void {
    this.#textAtMs = nowMs;
    const lastSecond = this.#frames.filter((frame) => frame.endMs > nowMs - 1000).length;
    if (this.#frames.length === 0) return;
    const longest = Math.max(...this.#frames.map((frame) => frame.lengthMs));
    this.#text.textContent = `${lastSecond} frame${lastSecond === 1 ? "" : "s"} in the last second; longest of the last 8 s: ${ms(longest)}`;
  }
}

/** Returns "good" below 1.5 frames, "bad" from three frames on, and "warn" between. */
function gradeOf(lengthMs: number): "good" | "warn" | "bad" {
  if (lengthMs < frameMs * 1.5) return "good";
  return lengthMs < frameMs * 3 ? "warn" : "bad";
}

/** A bar that wants a label, in CSS pixels. It may extend beyond the strip. */
export interface Bar {
  readonly left: number;
  readonly right: number;
  /** The bar with the greatest weight gets its label first. */
  readonly weight: number;
  readonly text: string;
}

/** A label. Its text takes the pixels from `left` to `right`. */
export interface Label {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  /** Whether the label is on its own bar. Otherwise it is beside the bar. */
  readonly inside: boolean;
}

/** Minimum distance of a label from its bar's edge, the strip's edge and other labels, in CSS pixels. */
const gap = 5;

/**
 * Places the labels of bars in one line. No two labels overlap, and each is completely on the strip. A bar without room has no label, so
 * that the longest stalls have theirs.
 */
export function placeLabels(bars: readonly Bar[], width: number, widthOf: (text: string) => number): Label[] {
  const placed: Label[] = [];
  for (const { left, right, text } of [...bars].sort((a, b) => b.weight - a.weight)) {
    const room = widthOf(text);
    const [from, to] = [Math.max(0, left), Math.min(width, right)];
    const inside = to - from >= room + 2 * gap;
    const places = inside ? [(from + to - room) / 2] : [right + gap, left - gap - room];
    const at = places.find(
      (start) =>
        start >= gap &&
        start + room <= width - gap &&
        placed.every((other) => start >= other.right + gap || start + room <= other.left - gap),
    );
    if (at !== undefined) placed.push({ text, left: at, right: at + room, inside });
  }
  return placed;
}

/** A canvas with one pixel for each pixel of the screen. Callers draw in CSS pixels. */
export class SharpCanvas {
  readonly context: CanvasRenderingContext2D;
  width = 0;
  height = 0;

  constructor(readonly element: HTMLCanvasElement) {
    const context = element.getContext("2d");
    if (!context) throw new Error("this browser gives no 2D canvas");
    this.context = context;
    new ResizeObserver(() => this.#fit()).observe(element);
    this.#fit();
  }

  #fit(): void {
    this.width = this.element.clientWidth;
    this.height = this.element.clientHeight;
    this.element.width = Math.round(this.width * devicePixelRatio);
    this.element.height = Math.round(this.height * devicePixelRatio);
    this.context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  }
}

/**
 * Returns colours from the style sheet. Reads them again only when the user's colour scheme changes, because reading them in each frame
 * takes too long.
 */
export function themeColours<Name extends string>(names: readonly Name[]): Record<Name, string> {
  const colours = {} as Record<Name, string>;
  const read = () => {
    const style = getComputedStyle(document.documentElement);
    for (const name of names) colours[name] = style.getPropertyValue(`--${name}`).trim();
  };
  read();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", read);
  return colours;
}

const laneCount = 3;
const carLength = 34;
const carWidth = 15;

/** Speed of the cars in each lane, in pixels per second. */
const laneSpeeds = [150, 210, 280];
const carsInLane = [5, 4, 3];

/**
 * Draws cars that drive at constant speed. Their positions depend only on the time, so a blocked main thread is visible: all cars stop, and
 * then they jump. A CSS animation would continue, because the compositor draws it.
 */
export class Road {
  readonly #canvas: SharpCanvas;
  readonly #colours = themeColours(["road", "road-line", "car-1", "car-2", "car-3", "car-glass"]);
  #elapsedMs = 0;
  paused = false;

  constructor(element: HTMLCanvasElement) {
    this.#canvas = new SharpCanvas(element);
  }

  draw(lengthMs: number): void {
    if (!this.paused) this.#elapsedMs += lengthMs;
    const { context, width, height } = this.#canvas;
    const laneHeight = height / laneCount;
    context.fillStyle = this.#colours.road;
    context.fillRect(0, 0, width, height);

    context.strokeStyle = this.#colours["road-line"];
    context.lineWidth = 2;
    context.setLineDash([22, 18]);
    for (let lane = 1; lane < laneCount; lane++) {
      context.beginPath();
      context.moveTo(0, lane * laneHeight);
      context.lineTo(width, lane * laneHeight);
      context.stroke();
    }
    context.setLineDash([]);

    for (let lane = 0; lane < laneCount; lane++) {
      const loop = width + carLength * 2;
      const count = carsInLane[lane]!;
      for (let car = 0; car < count; car++) {
        const along = (this.#elapsedMs / 1000) * laneSpeeds[lane]! + (car * loop) / count + lane * 60 + (car % 2) * 26;
        this.#drawCar((along % loop) - carLength, (laneCount - 1 - lane + 0.5) * laneHeight, (car + lane) % 3);
      }
    }
  }

  #drawCar(x: number, middle: number, colour: number): void {
    const { context } = this.#canvas;
    context.fillStyle = this.#colours[(["car-1", "car-2", "car-3"] as const)[colour]!];
    context.beginPath();
    context.roundRect(x, middle - carWidth / 2, carLength, carWidth, 5);
    context.fill();
    context.fillStyle = this.#colours["car-glass"];
    context.beginPath();
    context.roundRect(x + carLength * 0.6, middle - carWidth / 2 + 2.5, 6, carWidth - 5, 2);
    context.roundRect(x + carLength * 0.16, middle - carWidth / 2 + 3, 4, carWidth - 6, 2);
    context.fill();
  }
}
