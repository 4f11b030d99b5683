// SPDX-License-Identifier: MIT OR Apache-2.0
import { ways } from "./ways.js";

/** Shows the source of each way. Fetches a source when the user opens it. */
export function listSources(list: HTMLElement): void {
  for (const { id, name, sources } of ways) {
    const details = list.appendChild(document.createElement("details"));
    details.dataset["way"] = id;
    const summary = details.appendChild(document.createElement("summary"));
    summary.innerHTML = '<span class="dot"></span>';
    summary.append(name, " ", Object.assign(document.createElement("small"), { textContent: sources.join(", ") }));
    details.addEventListener("toggle", () => showSources(details, sources), { once: true });
  }
}

async function showSources(details: HTMLElement, sources: readonly string[]): Promise<void> {
  for (const source of sources) {
    const code = document.createElement("code");
    const block = details.appendChild(document.createElement("pre"));
    block.tabIndex = 0;
    block.setAttribute("aria-label", source);
    block.appendChild(code);
    const response = await fetch(`source/${source}`);
    code.textContent = response.ok
      ? (await response.text()).replace(/^.*SPDX.*\n/, "")
      : `${source} could not be fetched`;
  }
}
