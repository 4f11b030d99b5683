// SPDX-License-Identifier: MIT OR Apache-2.0

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
