// SPDX-License-Identifier: MIT OR Apache-2.0
import { SharpCanvas, themeColours } from "./canvas.js";

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
