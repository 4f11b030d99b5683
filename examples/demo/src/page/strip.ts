// SPDX-License-Identifier: MIT OR Apache-2.0
import { SharpCanvas, themeColours } from "./canvas.js";

const shownMs = 8_000;
/** The top of the scale, in milliseconds: four frames at 60 Hz. A longer frame fills the height and shows its length as text. */
const topMs = 66.8;
const frameMs = 1000 / 60;
const textEveryMs = 500;

interface Frame {
  endMs: number;
  lengthMs: number;
}

/** Draws the time between frames as a scrolling strip. Each frame is a bar whose width and height show its time. */
export class FrameStrip {
  readonly #canvas: SharpCanvas;
  readonly #text: HTMLElement;
  readonly #colours = themeColours(["strip", "strip-line", "good", "warn", "bad", "ink-soft"]);
  readonly #frames: Frame[] = [];
  #textAtMs = 0;

  constructor(element: HTMLCanvasElement, text: HTMLElement) {
    this.#canvas = new SharpCanvas(element);
    this.#text = text;
  }

  draw(nowMs: number, lengthMs: number): void {
    this.#frames.push({ endMs: nowMs, lengthMs });
    while (this.#frames[0]!.endMs < nowMs - shownMs) this.#frames.shift();

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
    for (const frame of this.#frames) {
      if (frame.lengthMs < topMs) continue;
      const text = `${Math.round(frame.lengthMs)} ms`;
      const right = width - (nowMs - frame.endMs) * pixelsPerMs;
      // The text is next to the bar, on the side with enough room.
      const beside = right + 5 + context.measureText(text).width < width;
      context.textAlign = beside ? "left" : "right";
      context.fillStyle = this.#colours.bad;
      context.fillText(text, beside ? right + 5 : right - frame.lengthMs * pixelsPerMs - 5, 15);
    }
    context.textAlign = "left";

    if (nowMs - this.#textAtMs > textEveryMs) this.#say(nowMs);
  }

  #rule(ms: number, label: string): void {
    const { context, width, height } = this.#canvas;
    const y = Math.round(height - (ms / topMs) * (height - 2)) - 0.5;
    context.strokeStyle = this.#colours["strip-line"];
    context.lineWidth = 1;
    context.setLineDash([3, 4]);
    context.beginPath();
    context.moveTo(0, y);
    context.lineTo(width, y);
    context.stroke();
    context.setLineDash([]);
    // The label has an outline, so that it is readable over the bars.
    context.strokeStyle = this.#colours.strip;
    context.lineWidth = 4;
    context.strokeText(label, 6, y - 5);
    context.fillStyle = this.#colours["ink-soft"];
    context.fillText(label, 6, y - 5);
  }

  #say(nowMs: number): void {
    this.#textAtMs = nowMs;
    const lastSecond = this.#frames.filter((frame) => frame.endMs > nowMs - 1000).length;
    const longest = Math.max(...this.#frames.map((frame) => frame.lengthMs));
    this.#text.textContent = `${lastSecond} frames in the last second; longest of the last 8 s: ${Math.round(longest)} ms`;
  }
}

/** Returns "good" below 1.5 frames, "bad" from three frames on, and "warn" between. */
function gradeOf(lengthMs: number): "good" | "warn" | "bad" {
  if (lengthMs < frameMs * 1.5) return "good";
  return lengthMs < frameMs * 3 ? "warn" : "bad";
}
