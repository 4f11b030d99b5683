// SPDX-License-Identifier: MIT OR Apache-2.0
/**
 * Puts the optional package `apache-arrow` into a bundle: `import "clearway/records/arrow"`. Exports nothing. Node needs it only in bundles.
 *
 * @module clearway/records/arrow
 */
import * as arrow from "apache-arrow";
import { registerArrow } from "./records/arrow/arrow.js";

registerArrow(arrow);
