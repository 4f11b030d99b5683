// SPDX-License-Identifier: MIT OR Apache-2.0
import { expect, test } from "vitest";
import { outputOf } from "../output-of.js";
import { stretchContrast } from "./photo.tasks.js";

test("a photo of 30 MB comes back brightened, without a byte copied", async () => {
  const output = await outputOf("./image/main.js");
  expect(output.slice(0, 3)).toEqual([
    "photo: 3200 x 2400, 30720000 bytes",
    "darkest and brightest: 0 255",
    "copied bytes: 0",
  ]);
});

test("contrast is stretched over all levels, and transparency left alone", () => {
  const rgba = new Uint8Array([100, 110, 120, 7, 130, 140, 150, 9]);
  stretchContrast(rgba);
  expect([...rgba]).toEqual([0, 51, 102, 7, 153, 204, 255, 9]);
});
