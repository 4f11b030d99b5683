// SPDX-License-Identifier: MIT OR Apache-2.0
// A page whose title is the number of found words.
/// <reference types="vite/client" />
import { search } from "./search.js";

const [input, list] = [document.querySelector("input")!, document.querySelector("ol")!];
let cancel = () => {};
input.oninput = () => {
  cancel(); // the result for the older text is no longer needed
  cancel = search(input.value, (found) => {
    if (found instanceof Error) throw found;
    list.replaceChildren(
      ...found.toObjects({ from: 0, to: 20 }).map(({ text }) => {
        const item = document.createElement("li");
        item.textContent = text;
        return item;
      }),
    );
    document.title = `${found.length} words`;
  });
};

import.meta.hot?.accept();
