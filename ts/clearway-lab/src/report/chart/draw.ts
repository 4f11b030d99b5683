// SPDX-License-Identifier: MIT OR Apache-2.0
// Draws charts with Observable Plot on a server. Each chart is drawn twice, for a wide and a narrow page, and CSS shows one of
// them.
import * as Plot from "@observablehq/plot";
import { JSDOM } from "jsdom";
import type { Role } from "../../scenario/scenario.js";
import { Html, html } from "../html.js";

export interface Size {
  width: number;
  narrow: boolean;
}

/** The widths of the two drawings. On a phone, the narrow one is hardly reduced, so that its text stays readable. */
const WIDE = 920;
const NARROW = 340;

const { document } = new JSDOM("").window;

/** Colours are CSS variables, so that one SVG fits both the light and the dark page. */
export const ROLE_COLOR: Record<Role, string> = {
  clearway: "var(--clearway)",
  peer: "var(--peer)",
  reference: "var(--reference)",
};

export type Draw = (size: Size) => Plot.PlotOptions;

/** Draws a chart. Screen readers read `label` instead of the picture. */
export function chart(label: string, draw: Draw, narrowWidth = NARROW): Html {
  const sizes: Size[] = [
    { width: WIDE, narrow: false },
    { width: narrowWidth, narrow: true },
  ];
  return html`<div class="chart">${sizes.map((size) => svg(label, size, draw(size)))}</div>`;
}

function svg(label: string, size: Size, options: Plot.PlotOptions): Html {
  const element = Plot.plot({
    document,
    width: size.width,
    style: {
      background: "none",
      fontFamily: "inherit",
      fontSize: size.narrow ? "11.5px" : "12.5px",
      overflow: "visible",
    },
    className: "plot",
    ...options,
  });
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", label);
  element.setAttribute("class", size.narrow ? "plot narrow" : "plot wide");
  // Plot labels its groups of marks by their kind ("bar"). A picture has one name, so these labels would only be noise.
  for (const group of element.querySelectorAll("[aria-label]")) group.removeAttribute("aria-label");
  // Plot adds a style element to every chart. The page's own style sheet already has these rules.
  for (const style of element.querySelectorAll("style")) style.remove();
  return new Html(element.outerHTML);
}
