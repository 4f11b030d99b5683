// SPDX-License-Identifier: MIT OR Apache-2.0
// @ts-nocheck React is not a dependency of the examples: test/runs-with runs this file with it.
// #region use-search
import { useEffect, useState } from "react";
import { search } from "./search.js";

export function useSearch(part) {
  const [found, setFound] = useState();
  useEffect(() => search(part, setFound), [part]); // React calls the returned function before the next effect
  return found;
}
// #endregion use-search
