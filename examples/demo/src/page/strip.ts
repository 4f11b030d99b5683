// SPDX-License-Identifier: MIT OR Apache-2.0
import { SharpCanvas, themeColours } from "./canvas.js";
import type { Frame } from "./frames.js";
import { placeLabels } from "./labels.js";
import { ms } from "./result.js";

const shownMs = 8_000;
/** The top of the scale, in milliseconds: four frames at 60 Hz. A longer frame fills the height and shows its length as text. */
const topMs = 66.8;
const frameMs = 1000 / 60;
const textEveryMs = 500;
/** The baseline of the labels, in CSS pixels from the top. */
const labelY = 15;

interface Bar {
  endMs: number;
  lengthMs: number;
}

/** Draws the time between the frames that count as a scrolling strip. Each is a bar whose width and height show its time. */
export class FrameStrip {
  readonly #canvas: SharpCanvas;
  readonly #text: HTMLElement;
  readonly #colours = themeColours(["strip", "strip-line", "good", "warn", "bad", "ink-soft"]);
  readonly #frames: Bar[] = [];
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
