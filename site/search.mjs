// SPDX-License-Identifier: MIT OR Apache-2.0
// The browser's part of the search. The build bundles it with the index.
import MiniSearch from "minisearch";
import { index, options } from "./search-options.mjs";

const resultsMax = 12;
const search = MiniSearch.loadJSON(index, options);

/** Returns the best sections for some words, as `{ address, title, page }`. */
globalThis.clearwaySearch = (words) =>
  search
    .search(words, { prefix: true, fuzzy: 0.15, boost: { title: 3, page: 2 }, combineWith: "AND" })
    .slice(0, resultsMax);
