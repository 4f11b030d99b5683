// SPDX-License-Identifier: MIT OR Apache-2.0
import type { Shown } from "./split.js";

/** A received frame. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  /** The pixels as RGBA: `width * height * 4` bytes. */
  readonly pixels: Uint8Array;
  /** The commands that are visible in this frame for the first time. */
  readonly shown: readonly Shown[];
  readonly arrivedMs: number;
}

/** Paints the newest received frame in each of the page's own frames. Reports when it was painted. */
export class View {
  readonly #canvas: HTMLCanvasElement;
  readonly #context: CanvasRenderingContext2D;
  readonly #painted: (frames: readonly Frame[], paintedMs: number) => void;
  readonly #after = new MessageChannel();
  /** The frames received since the last painting. Only the last one is painted, but all are reported. */
  #waiting: Frame[] = [];
  #handed: Frame[] = [];

  constructor(canvas: HTMLCanvasElement, painted: (frames: readonly Frame[], paintedMs: number) => void) {
    const context = canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("this browser gives no 2D canvas");
    this.#canvas = canvas;
    this.#context = context;
    this.#painted = painted;
    // If a message is posted while the browser prepares a frame, the browser delivers it after it has painted that frame.
    this.#after.port1.onmessage = () => {
      const frames = this.#handed;
      this.#handed = [];
      this.#painted(frames, performance.now());
    };
  }

  /** Takes ownership of a frame and its pixels. */
  show(frame: Frame): void {
    if (this.#waiting.push(frame) === 1) requestAnimationFrame(() => this.#paint());
  }

  #paint(): void {
    const frames = this.#waiting;
    this.#waiting = [];
    const newest = frames.at(-1);
    if (!newest) return;
    const { width, height, pixels } = newest;
    if (this.#canvas.width !== width || this.#canvas.height !== height) Object.assign(this.#canvas, { width, height });
    const clamped = new Uint8ClampedArray(pixels.buffer as ArrayBuffer, pixels.byteOffset, width * height * 4);
    this.#context.putImageData(new ImageData(clamped, width, height), 0, 0);
    this.#handed.push(...frames);
    this.#after.port2.postMessage(undefined);
  }
}

/** Returns the position of the pointer, in pixels of the remote screen. */
export function remotePoint(canvas: HTMLCanvasElement, event: PointerEvent): { x: number; y: number } {
  const box = canvas.getBoundingClientRect();
  // The picture keeps its aspect ratio inside its box.
  const scale = Math.min(box.width / canvas.width, box.height / canvas.height);
  const left = box.left + (box.width - canvas.width * scale) / 2;
  const top = box.top + (box.height - canvas.height * scale) / 2;
  return { x: Math.round((event.clientX - left) / scale), y: Math.round((event.clientY - top) / scale) };
}
