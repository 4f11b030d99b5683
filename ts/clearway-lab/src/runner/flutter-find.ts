// SPDX-License-Identifier: MIT OR Apache-2.0
import { findFlutter } from "../flutter/install.mjs";
import { packageRoot } from "../machine/package-root.js";

/** Returns why the host `flutter` is not installed here, and the remedy; or undefined. Whether it works, its runner says. */
export function flutterMissing(): string | undefined {
  return findFlutter(packageRoot()).problem;
}
